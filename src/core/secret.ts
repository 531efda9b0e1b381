// The wrapper that keeps a secret out of every log, error, report and JSON.
import { spellings } from './secret-spellings.ts';

const REDACTED = '[redacted]';

/** So many characters of a secret in a row, in any of its spellings, are taken out of a text like the whole. */
const TELLING = 12;

/** A value that prints as `[redacted]` on every path; only `reveal()` gives it, at the one place that sends it. */
export class Secret {
  readonly #value: string;
  /** Every run of TELLING characters of every spelling; made when it is first needed. */
  #runs: ReadonlySet<string> | undefined;

  constructor(value: string) {
    this.#value = value;
  }

  /** The value itself. Never pass the result to anything but the request that needs it. */
  reveal(): string {
    return this.#value;
  }

  /** Whether the secret, whole and as it is, stands in a text. */
  isIn(text: string): boolean {
    return this.#value !== '' && text.includes(this.#value);
  }

  /**
   * `text` with every occurrence of the secret replaced, for text that a server may have echoed it into: as it is,
   * encoded, and in parts that are long enough to tell it by.
   */
  scrub(text: string): string {
    if (this.#value === '') return text;
    return this.#withoutRuns(text.replaceAll(this.#value, REDACTED));
  }

  toString(): string {
    return REDACTED;
  }

  toJSON(): string {
    return REDACTED;
  }

  [Symbol.for('nodejs.util.inspect.custom')](): string {
    return REDACTED;
  }

  #withoutRuns(text: string): string {
    this.#runs ??= runsOf(spellings(this.#value));
    let clean = '';
    let end = 0;
    for (let at = 0; at + TELLING <= text.length; at += 1) {
      if (!this.#runs.has(text.slice(at, at + TELLING))) continue;
      // Runs that overlap or touch are one.
      if (at > end || end === 0) clean += text.slice(end, at) + REDACTED;
      end = at + TELLING;
    }
    return clean + text.slice(end);
  }
}

function runsOf(texts: readonly string[]): ReadonlySet<string> {
  const runs = new Set<string>();
  for (const text of texts)
    for (let at = 0; at + TELLING <= text.length; at += 1) runs.add(text.slice(at, at + TELLING));
  return runs;
}
