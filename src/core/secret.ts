// The wrapper that keeps a secret out of every log, error, report and JSON.

const REDACTED = '[redacted]';

/** A value that prints as `[redacted]` on every path; only `reveal()` gives it, at the one place that sends it. */
export class Secret {
  readonly #value: string;

  constructor(value: string) {
    this.#value = value;
  }

  /** The value itself. Never pass the result to anything but the request that needs it. */
  reveal(): string {
    return this.#value;
  }

  /** `text` with every occurrence of the secret replaced, for text that a server may have echoed it into. */
  scrub(text: string): string {
    return this.#value === '' ? text : text.replaceAll(this.#value, REDACTED);
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
}
