// The error classes, named by who must act. And the code of a failed system call.

/** One problem of the configuration with its position. `line` and `column` start at 1. */
export interface ConfigIssue {
  readonly file: string;
  readonly line: number;
  readonly column: number;
  /** What is wrong, and how to fix it. */
  readonly message: string;
  readonly severity: 'error' | 'warning';
}

/** A problem of a secret that the configuration refers to. */
export interface SecretIssue extends ConfigIssue {
  /** The account that uses the secret; absent for a secret of the service file. */
  readonly account?: string;
}

/** `file:line:column: message`, the position format that editors and tools understand. */
export function formatConfigIssue(issue: ConfigIssue): string {
  return `${issue.file}:${issue.line}:${issue.column}: ${issue.message}`;
}

export function errorsOf(issues: readonly ConfigIssue[]): ConfigIssue[] {
  return issues.filter(({ severity }) => severity === 'error');
}

/** An error that is reported by its code and its message. Any other one is a bug. */
export abstract class KnownError extends Error {
  abstract readonly code: string;
}

/** The configuration is invalid: the person who edits the files must act. Carries every issue at once. */
export class ConfigError extends KnownError {
  override readonly name = 'ConfigError';
  readonly code = 'config_invalid';
  readonly issues: readonly ConfigIssue[];

  constructor(issues: readonly ConfigIssue[]) {
    super(issues.map(formatConfigIssue).join('\n'));
    this.issues = issues;
  }
}

/** A token or another secret is missing or unusable: the person who deploys must act. */
export class SecretError extends KnownError {
  override readonly name = 'SecretError';
  readonly code = 'secret_missing';
}

export type ServiceErrorKind = 'auth' | 'throttled' | 'unavailable' | 'rejected' | 'malformed' | 'identity';

const SERVICE_CODES: Record<ServiceErrorKind, string> = {
  auth: 'unauthorized',
  throttled: 'throttled',
  unavailable: 'unavailable',
  rejected: 'rejected',
  malformed: 'malformed_response',
  identity: 'identity_mismatch',
};

/** A request to the service failed. `kind` is the class of the failure, `code` its stable name. */
export class ServiceError extends KnownError {
  override readonly name = 'ServiceError';
  readonly code: string;
  readonly kind: ServiceErrorKind;
  readonly httpStatus: number | undefined;
  /** The wait that the service asked for, in milliseconds from its answer. */
  readonly retryAfterMs: number | undefined;

  constructor(
    kind: ServiceErrorKind,
    message: string,
    options: { cause?: unknown; httpStatus?: number | undefined; retryAfterMs?: number | undefined } = {},
  ) {
    super(message, options.cause === undefined ? {} : { cause: options.cause });
    this.kind = kind;
    this.code = SERVICE_CODES[kind];
    this.httpStatus = options.httpStatus;
    this.retryAfterMs = options.retryAfterMs;
  }
}

/** The journal cannot be opened, read or written: the operator of this machine must act. */
export class StoreError extends KnownError {
  override readonly name = 'StoreError';
  readonly code: string;

  constructor(code: string, message: string, options: { cause?: unknown } = {}) {
    super(message, options.cause === undefined ? {} : { cause: options.cause });
    this.code = code;
  }
}

/** The HTTP interface cannot listen on its address: the operator of this machine must act. */
export class ListenError extends KnownError {
  override readonly name = 'ListenError';
  readonly code = 'listen_failed';
}

/** The command line was used wrongly. */
export class UsageError extends KnownError {
  override readonly name = 'UsageError';
  readonly code = 'usage';
}

/** The `code` of a Node.js error (`ENOENT`, the exit status of a command), or `unknown`. */
export function errorCode(error: unknown): string {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  return typeof code === 'string' || typeof code === 'number' ? String(code) : 'unknown';
}
