// Gives code that only plans an object without a way to write.
import type { ReadableService } from '../core/ports.ts';

/** A service with only the `reader` of `service`. */
export function readOnly(service: ReadableService): ReadableService {
  return { reader: (account, signals) => service.reader(account, signals) };
}
