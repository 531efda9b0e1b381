// Reads a list as a stream: splits it into objects and converts each of them. A broken limit ends the read immediately.
import { ServiceError } from '../core/errors.ts';
import type { Listing } from '../core/ports/service.ts';
import { type ArrayItem, type ArrayProblem, BadArray, createArraySplitter } from './array-items.ts';
import { CutOff, UnreadableBody, utf8 } from './body.ts';

/** Largest object of a list as JSON; a person with very many skill ids is the largest. */
const LONGEST_OBJECT_BYTES = 256 * 1024;

/** Deeper nesting has no use, except to exhaust the reader. */
const DEEPEST_OBJECT = 32;

/** An object of a list: its parsed value, its JSON, and how many own fields that has. */
export interface ListedObject extends Pick<ArrayItem, 'fields'> {
  readonly object: unknown;
  readonly text: string;
}

/** Collects the objects of a list. Its methods throw ServiceError `malformed`. */
export interface ListBuilder<T> {
  /** The name of the list in messages, such as `the list of skills`. */
  readonly what: string;
  /** Adds the next object. */
  add(listed: ListedObject): void;
  listing(): Promise<Listing<T>>;
}

/**
 * Throws ServiceError `malformed` unless the body is a complete array of objects within the limits. The cause is a
 * CutOff if the body is incomplete.
 */
export async function readList<T>(
  body: AsyncIterable<Uint8Array>,
  list: ListBuilder<T>,
  maxEntries: number,
): Promise<Listing<T>> {
  const splitter = createArraySplitter({
    maxItems: maxEntries,
    maxItemBytes: LONGEST_OBJECT_BYTES,
    maxDepth: DEEPEST_OBJECT,
  });
  let isEmpty = true;
  try {
    for await (const chunk of body) {
      isEmpty = false;
      for (const item of splitter.push(chunk)) addItem(list, item);
    }
    splitter.end();
    return await list.listing();
  } catch (error) {
    if (error instanceof UnreadableBody)
      throw malformed(`${list.what} ${error.message}`, error.isCutOff ? new CutOff() : undefined);
    if (error instanceof BadArray) {
      const isCutOff = isEmpty || error.problem.type === 'cut_off';
      throw malformed(describe(list.what, error.problem, maxEntries), isCutOff ? new CutOff() : undefined);
    }
    throw error;
  }
}

export function malformed(message: string, cause?: CutOff): ServiceError {
  const explained = `${message}; rolecall uses only complete and valid lists`;
  return new ServiceError('malformed', explained, { cause });
}

function addItem<T>(list: ListBuilder<T>, { bytes, fields }: ArrayItem): void {
  const text = utf8(bytes);
  if (text === undefined) throw malformed(`${list.what} is not UTF-8`);
  list.add({ object: parsed(list.what, text), text, fields });
}

/** The parser's own message is dropped, because it quotes the text. */
function parsed(what: string, text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw malformed(`${what} is not JSON`);
  }
}

function describe(what: string, problem: ArrayProblem, maxEntries: number): string {
  switch (problem.type) {
    case 'not_json':
      return `${what} is not JSON`;
    case 'web_page':
      return `${what} is a web page and not JSON: check the base address and the proxy`;
    case 'not_array':
      return `${what} is not an array`;
    case 'cut_off':
      return `${what} is cut off`;
    case 'not_object':
      return `${what}: item number ${problem.at} is not an object`;
    case 'too_many':
      return `${what} has more than ${maxEntries} objects; raise api.maxEntries if the account may have that many`;
    case 'too_large':
      return `${what}: object number ${problem.at} is larger than ${LONGEST_OBJECT_BYTES / 1024} KiB`;
    case 'too_deep':
      return `${what}: object number ${problem.at} is nested more than ${DEEPEST_OBJECT} levels deep`;
    default:
      return problem satisfies never;
  }
}
