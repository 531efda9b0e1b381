// What a parsed object no longer shows of its JSON text: the exact digits of a number, because JavaScript rounds ids above
// 9,007,199,254,740,991, and whether a field is repeated.

const WHITE = /\s/;

/** The text of a number in an own field of the object; undefined if the field is missing or not a number. */
export function spelledNumber(objectText: string, field: string): string | undefined {
  let depth = 0;
  let spelled: string | undefined;
  for (let at = 0; at < objectText.length; at += 1) {
    const character = objectText[at] ?? '';
    if ('{['.includes(character)) depth += 1;
    else if ('}]'.includes(character)) depth -= 1;
    else if (character === '"') {
      const end = endOfString(objectText, at);
      const valueAt = depth === 1 ? valueAfterKey(objectText, end) : undefined;
      if (valueAt !== undefined && JSON.parse(objectText.slice(at, end)) === field)
        spelled = /^-?[0-9][-+.0-9eE]*/.exec(objectText.slice(valueAt, valueAt + 1100))?.[0];
      at = end - 1;
    }
  }
  return spelled;
}

/** The index after the closing quote of the string that starts at `start`. */
export function endOfString(text: string, start: number): number {
  let at = start + 1;
  while (at < text.length && text[at] !== '"') at += text[at] === '\\' ? 2 : 1;
  return at + 1;
}

/** The index of the value if the string that ends at `end` is a key, that is, if a colon follows it. */
function valueAfterKey(text: string, end: number): number | undefined {
  let at = end;
  while (WHITE.test(text[at] ?? '')) at += 1;
  if (text[at] !== ':') return undefined;
  at += 1;
  while (WHITE.test(text[at] ?? '')) at += 1;
  return at;
}

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
