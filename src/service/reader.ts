// The lists of one account (service document, section 4). Has no way to write.
import type { Kind } from '../core/catalog.ts';
import type { ServiceReader } from '../core/ports.ts';
import { partialReason } from './partial-answer.ts';
import { PATHS } from './paths.ts';
import type { Requests } from './requests.ts';
import { serviceErrorOf } from './requests.ts';
import type { TokenGuard } from './shapes.ts';
import { parseEntries, parseResources } from './shapes.ts';
import { subject } from './refusal-words.ts';
import { ServiceError } from '../core/errors.ts';

export function createReader(requests: Requests, token: TokenGuard): ServiceReader {
  async function list(path: string): Promise<string | null> {
    try {
      const { answer } = await requests.send('GET', path, undefined, () => true);
      const part = partialReason(answer.status, answer.headers);
      if (part !== null) throw partialList(path, part);
      return answer.text;
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

function partialList(path: string, part: string): ServiceError {
  return new ServiceError(
    'malformed',
    `${subject('GET', path)} is only a part of it (${part}); rolecall reads complete lists only, since it would create again what the other parts list. Check what answers at the base address`,
  );
}
