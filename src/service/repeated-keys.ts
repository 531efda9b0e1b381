// Detects an object with a repeated key. Parsers disagree on which value is used, so the object can't be trusted.
import { endOfString } from './exact-number.ts';

/** Whether the JSON of the object has one of its own keys more than once. Nested objects are not checked. */
export function hasRepeatedKey(object: object, objectText: string): boolean {
  return countKeys(objectText) !== Object.keys(object).length;
}

/** Outside of strings every colon of valid JSON belongs to a key. */
function countKeys(objectText: string): number {
  let depth = 0;
  let keys = 0;
  for (let at = 0; at < objectText.length; at += 1) {
    const character = objectText[at] ?? '';
    if (character === '"') at = endOfString(objectText, at) - 1;
    else if (character === '{' || character === '[') depth += 1;
    else if (character === '}' || character === ']') depth -= 1;
    else if (character === ':' && depth === 1) keys += 1;
  }
  return keys;
}
