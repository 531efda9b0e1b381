// Splits the bytes of a JSON array of objects into its objects as they arrive. So a list is checked and counted object
// by object, and is never in memory as one text.

export interface ItemLimits {
  readonly maxItems: number;
  readonly maxItemBytes: number;
  /** Limit for the nesting of arrays and objects; the object itself counts as one level. */
  readonly maxDepth: number;
}

/** Why the bytes are not an array of objects, or which limit they exceed. `at` is the number of the object, from 1. */
export type ArrayProblem =
  | { readonly type: 'not_json' | 'not_array' | 'cut_off' | 'web_page' | 'too_many' }
  | { readonly type: 'not_object' | 'too_large' | 'too_deep'; readonly at: number };

export class BadArray extends Error {
  override readonly name = 'BadArray';
  readonly problem: ArrayProblem;

  constructor(problem: ArrayProblem) {
    super(problem.type);
    this.problem = problem;
  }
}

/** The bytes of an object, which are valid until the next one, and how many own fields they have, repeated ones included. */
export interface ArrayItem {
  readonly bytes: Uint8Array;
  readonly fields: number;
}

export interface ArraySplitter {
  /** Yields the objects that end in this chunk. Throws BadArray. */
  push(chunk: Uint8Array): Generator<ArrayItem>;
  /** Call after the last chunk. Throws BadArray if the array is incomplete. */
  end(): void;
}

const QUOTE = 0x22;
const COMMA = 0x2c;
const COLON = 0x3a;
const BACKSLASH = 0x5c;
const OPEN_ARRAY = 0x5b;
const CLOSE_ARRAY = 0x5d;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;
const BYTE_ORDER_MARK = [0xef, 0xbb, 0xbf];

/** What may come next outside of objects. */
type Expected = 'array' | 'first' | 'object' | 'comma' | 'nothing';

export function createArraySplitter(limits: ItemLimits): ArraySplitter {
  let expected: Expected = 'array';
  let items = 0;
  let readBytes = 0;
  /** The state within an object: depth, in a string, after a backslash, fields, and its bytes from earlier chunks. */
  let depth = 0;
  let isInString = false;
  let isEscaped = false;
  let fields = 0;
  let earlier: Uint8Array[] = [];
  let earlierBytes = 0;

  function fail(type: 'not_object' | 'too_large' | 'too_deep'): never {
    throw new BadArray({ type, at: items });
  }

  /** Handles a byte outside of objects. */
  function between(byte: number): void {
    if (byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09) return;
    if (expected === 'array') {
      if (readBytes < 3 && byte === BYTE_ORDER_MARK[readBytes]) return;
      if (byte !== OPEN_ARRAY) throw new BadArray({ type: startProblem(byte) });
      expected = 'first';
    } else if (byte === CLOSE_ARRAY && (expected === 'first' || expected === 'comma')) {
      expected = 'nothing';
    } else if (byte === COMMA && expected === 'comma') {
      expected = 'object';
    } else if (byte === OPEN_OBJECT && (expected === 'first' || expected === 'object')) {
      items += 1;
      if (items > limits.maxItems) throw new BadArray({ type: 'too_many' });
      depth = 1;
      fields = 0;
    } else if (expected === 'first' || expected === 'object') {
      items += 1;
      fail('not_object');
    } else {
      throw new BadArray({ type: 'not_json' });
    }
  }

  /** Handles a byte within an object. Returns whether the object ends with it. */
  function within(byte: number): boolean {
    if (isInString) {
      if (isEscaped) isEscaped = false;
      else if (byte === BACKSLASH) isEscaped = true;
      else if (byte === QUOTE) isInString = false;
    } else if (byte === QUOTE) isInString = true;
    // Outside of strings every colon of valid JSON belongs to a field.
    else if (byte === COLON && depth === 1) fields += 1;
    else if (byte === OPEN_OBJECT || byte === OPEN_ARRAY) {
      depth += 1;
      if (depth > limits.maxDepth) fail('too_deep');
    } else if (byte === CLOSE_OBJECT || byte === CLOSE_ARRAY) {
      depth -= 1;
      return depth === 0;
    }
    return false;
  }

  function completed(part: Uint8Array): ArrayItem {
    const bytes = earlier.length === 0 ? part : Buffer.concat([...earlier, part]);
    earlier = [];
    earlierBytes = 0;
    expected = 'comma';
    return { bytes, fields };
  }

  return {
    *push(chunk) {
      let start = 0;
      for (let at = 0; at < chunk.length; at += 1) {
        const byte = chunk[at] ?? 0;
        if (depth === 0) {
          between(byte);
          start = at;
          readBytes += 1;
        } else {
          if (earlierBytes + at - start >= limits.maxItemBytes) fail('too_large');
          if (within(byte)) yield completed(chunk.subarray(start, at + 1));
        }
      }
      if (depth === 0) return;
      // A copy, because the stream may reuse the chunk.
      earlier.push(Uint8Array.from(chunk.subarray(start)));
      earlierBytes += chunk.length - start;
    },
    end() {
      if (expected === 'nothing') return;
      throw new BadArray({ type: expected === 'array' ? 'not_json' : 'cut_off' });
    },
  };
}

function startProblem(byte: number): 'web_page' | 'not_array' | 'not_json' {
  if (byte === 0x3c) return 'web_page';
  const startsValue = byte === OPEN_OBJECT || byte === QUOTE || /[-0-9tfn]/.test(String.fromCharCode(byte));
  return startsValue ? 'not_array' : 'not_json';
}
