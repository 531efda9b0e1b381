// The error of the sandbox for wrong options, files and control requests.

/**
 * `invalid`: a value is wrong. `file`: a file cannot be read or parsed. `not_found`: no such account, entry or
 * resource. `unavailable`: another process uses the port or the data file.
 */
export type SandboxErrorCode = 'invalid' | 'file' | 'not_found' | 'unavailable';

/** The message names each problem, its place and the fix, one per line. `issues` is the list of these lines. */
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
