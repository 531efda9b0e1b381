// The code of a failed system call or subprocess.

/** The `code` of a Node.js error (`ENOENT`, the exit status of a command), or `unknown`. */
export function errorCode(error: unknown): string {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  return typeof code === 'string' || typeof code === 'number' ? String(code) : 'unknown';
}
