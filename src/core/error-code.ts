// The error code of a failed system call.

/** The `code` of a Node.js error, or `unknown`. */
export function errorCode(error: unknown): string {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : 'unknown';
}
