// Reads a JSON body in one piece, whose size the transport has limited, and checks that a list is an array of objects.
import { ServiceError } from '../core/errors.ts';
import { CutOff, UnreadableBody, utf8 } from './body.ts';

/** More values than a list of the most people has. Their number decides how long the parser blocks the process. */
const MOST_VALUES = 3_000_000;

/** A parsed body. */
export interface ParsedBody {
  readonly value: unknown;
  /** Whether a text in it may have a lone surrogate, which only an escape can write. */
  readonly maybeIllFormed: boolean;
}

const SURROGATE_ESCAPE = /\\ud[89a-f]/i;

/**
 * Parses the complete body. Throws ServiceError `malformed`, whose cause is a CutOff if the body may be incomplete. `what` is
 * the name of the body in messages.
 */
export async function readJson(what: string, body: AsyncIterable<Uint8Array>): Promise<ParsedBody> {
  const chunks: Uint8Array[] = [];
  try {
    for await (const chunk of body) chunks.push(chunk);
  } catch (error) {
    if (!(error instanceof UnreadableBody)) throw error;
    throw malformed(`${what} ${error.message}`, error.isCutOff ? new CutOff() : undefined);
  }
  const bytes = Buffer.concat(chunks);
  if (hasTooManyValues(bytes)) throw malformed(`${what} has more than ${MOST_VALUES} values`);
  const text = utf8(bytes);
  if (text === undefined) throw malformed(`${what} is not UTF-8`);
  try {
    return { value: JSON.parse(text), maybeIllFormed: SURROGATE_ESCAPE.test(text) };
  } catch {
    // The parser's own message is dropped, because it quotes the text.
    const start = text.trimStart().at(0) ?? '[';
    if (start === '<')
      throw malformed(`${what} is a web page and not JSON: check the base address and the proxy`);
    if (start !== '[' && start !== '{') throw malformed(`${what} is not JSON`);
    throw malformed(`${what} is cut off, or not JSON`, new CutOff());
  }
}

/** The objects of a list, of which there may be this many. Throws ServiceError `malformed`. */
export function objectsOf(what: string, value: unknown, most: number): readonly unknown[] {
  if (!Array.isArray(value)) throw malformed(`${what} is not an array`);
  if (value.length > most) throw malformed(`${what} has more than ${most} objects`);
  return value;
}

export function malformed(message: string, cause?: CutOff): ServiceError {
  const explained = `${message}; rolecall uses only complete and valid lists`;
  return new ServiceError('malformed', explained, { cause });
}

/** Counts what begins or separates values. In names it counts too much, but no list has so many of these. */
function hasTooManyValues(bytes: Uint8Array): boolean {
  let values = 0;
  for (let at = 0; at < bytes.length; at += 1) {
    const byte = bytes[at];
    if (byte === 0x2c || byte === 0x5b || byte === 0x7b) values += 1;
  }
  return values > MOST_VALUES;
}
