// PostgreSQL's text holds neither NUL, which names of the service may contain, nor unpaired surrogates, which stores of
// earlier versions contain. Each becomes a mark with its code, and so does the mark itself; the function `json_each` of the
// schema does the same for JSON.

/** A code point that is no character. */
const MARK = '\uFDD0';
// eslint-disable-next-line no-control-regex
const UNSTORABLE = /[\0\uFDD0]|[\uD800-\uDBFF](?![\uDC00-\uDFFF])|(?<![\uD800-\uDBFF])[\uDC00-\uDFFF]/g;
const MARKED = /\uFDD0([0-9a-f]{4})/g;

/** The text as PostgreSQL can store it. */
export function toStorable(text: string): string {
  return text.replaceAll(UNSTORABLE, (unit) => MARK + unit.charCodeAt(0).toString(16).padStart(4, '0'));
}

/** The text that was stored. */
export function fromStorable(text: string): string {
  return text.includes(MARK)
    ? text.replaceAll(MARKED, (_mark, code: string) => String.fromCharCode(Number.parseInt(code, 16)))
    : text;
}
