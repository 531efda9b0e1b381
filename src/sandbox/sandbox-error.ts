// The one error of the sandbox: whoever starts or controls it must act.

/**
 * What was asked of the sandbox cannot be: `invalid` (a value), `file` (a file that cannot be read or parsed),
 * `not_found` (an account, entry or resource), `unavailable` (the port or the data file is taken).
 */
export type SandboxErrorCode = 'invalid' | 'file' | 'not_found' | 'unavailable';

/** Says what is wrong, where, and the mend. `issues` holds every problem found, one a line of the message. */
export class SandboxError extends Error {
  override readonly name = 'SandboxError';
  readonly code: SandboxErrorCode;
  readonly issues: readonly string[];

  constructor(code: SandboxErrorCode, issues: string | readonly string[], options: { cause?: unknown } = {}) {
    const all = typeof issues === 'string' ? [issues] : issues;
    super(all.join('\n'), options);
    this.code = code;
    this.issues = all;
  }
}
