// The lists of one account (service document, section 4). Has no way to write.
import type { Kind } from '../core/catalog.ts';
import type { ServiceReader } from '../core/ports.ts';
import { PATHS } from './paths.ts';
import type { Requests } from './requests.ts';
import { serviceErrorOf } from './requests.ts';
import type { TokenGuard } from './shapes.ts';
import { parseEntries, parseResources } from './shapes.ts';

export function createReader(requests: Requests, token: TokenGuard): ServiceReader {
  async function list(path: string): Promise<string | null> {
    try {
      return (await requests.send('GET', path, undefined, () => true)).answer.text;
    } catch (error) {
      throw serviceErrorOf(error);
    }
  }
  return {
    listEntries: async (kind: Kind) => parseEntries(kind, await list(PATHS[kind]), token),
    listResources: async () => parseResources(await list(PATHS.resource), token),
    traffic: () => requests.traffic(),
  };
}
