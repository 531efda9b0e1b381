// How much the costly tests do: a part of their variants in `npm test`, which has three minutes, and all of them in
// `npm run test:long`.
import { expect, test } from 'vitest';

export const isThorough = process.env['ROLECALL_TEST_THOROUGH'] === '1';

/** A test of the long tests only. */
export const costly = test.runIf(isThorough);

/** All variants in the long tests; otherwise the first `count`, so that the most important ones come first. */
export function someOf<T>(variants: readonly T[], count: number): readonly T[] {
  return isThorough ? variants : variants.slice(0, count);
}

/** `full` in the long tests, otherwise `usual`: how often something is tried. */
export function times(usual: number, full: number): number {
  return isThorough ? full : usual;
}

/**
 * Expects that `work` takes less processor time than a limit in milliseconds. Only the long tests do, on a quiet machine:
 * elsewhere, the limit of the test finds what takes minutes.
 */
export async function expectCpuBelow<T>(limitMs: number, work: () => T): Promise<Awaited<T>> {
  const begin = process.cpuUsage();
  const result = await work();
  const { user, system } = process.cpuUsage(begin);
  if (isThorough) expect((user + system) / 1000).toBeLessThan(limitMs);
  return result;
}
