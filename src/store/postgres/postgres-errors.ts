// Classifies errors of PostgreSQL and of the connection to it, and explains them.
import { StoreError, errorCode } from '../../core/errors.ts';
import type { OpenLocation } from '../../core/settings.ts';
import { shownDatabase } from '../../system/postgres-address.ts';

export type PostgresLocation = Exclude<OpenLocation, { readonly file: string }>;

/** The name of the store in messages, without user and password. */
export function nameOf({ url, schema }: Pick<PostgresLocation, 'url' | 'schema'>): string {
  return `PostgreSQL ${shownDatabase(url)}, schema ${schema}`;
}

/** The server refused the connection or is starting or stopping, so nothing was done. */
const REFUSED = /^(ECONNREFUSED|EAI_AGAIN|ENOTFOUND|57P03|53300)$/;
/** Serialization failures, deadlocks, waits for locks, and rows that a pruning deleted meanwhile. */
const CONFLICT = /^(40001|40P01|55P03|23503)$/;
const LOST =
  /^(ECONNRESET|ECONNABORTED|EPIPE|ETIMEDOUT|EHOSTUNREACH|ENETUNREACH|08...|57P01|57P02|57P05|25P0[34])$/;
/** What pg throws without a code: before it has a connection, and when one breaks. */
const NOT_CONNECTED =
  /^(Connection terminated due to connection timeout|timeout expired|timeout exceeded when trying to connect)$/;
const LOST_TEXT =
  /^(Connection terminated|Client has encountered a connection error|Query read timeout|Client was closed|The client is closed)/i;

/** Whether the work had no effect and may succeed when it is repeated. */
export function isRepeatable(error: unknown): boolean {
  return isUnreachable(error) || CONFLICT.test(errorCode(error));
}

/** Whether no connection was made. On an open connection, the same codes say nothing about the statement that was sent. */
function isUnreachable(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  if (REFUSED.test(errorCode(error)) || NOT_CONNECTED.test(error.message)) return true;
  // ENOENT is the socket of a server that does not run; a missing certificate has the same code.
  return (
    'syscall' in error &&
    error.syscall === 'connect' &&
    (LOST.test(errorCode(error)) || errorCode(error) === 'ENOENT')
  );
}

/** Whether the connection broke: a statement that was sent may have been executed. */
export function isConnectionLost(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  return LOST.test(errorCode(error)) || LOST_TEXT.test(error.message);
}

/** Whether pg refused to send a statement, because the connection had broken before. */
export function isUnsent(error: unknown): boolean {
  return error instanceof Error && /^Client .* and is not queryable$/.test(error.message);
}

/** The codes of an error, the code of its StoreError, and what to do. */
const ADVICE: readonly (readonly [RegExp, string, string])[] = [
  [/^53100$/, 'store_full', 'free some space on the disk of the database'],
  [/^25006$/, 'store_readonly', 'name the primary, or reset `default_transaction_read_only`'],
  [/^(42501|3F000|42P01)$/, 'store_readonly', 'check the tables and the grants of the user'],
  [/^(28...|3D000)$/, 'store_unopenable', 'check `store:` and the database'],
  [/^(XX001|XX002|Z_.*)$/, 'store_corrupt', 'the database is damaged; restore a backup'],
  [/^53300$/, 'store_busy', 'end other programs, or raise max_connections'],
  [/^(40001|40P01|55P03|57014)$/, 'store_busy', 'try again in a moment'],
];

/** Why a connection was not made although the server answered, or was not asked: TLS and passwords. */
const NOT_ACCEPTED =
  /^(SELF_SIGNED_CERT|DEPTH_ZERO_SELF_SIGNED_CERT|UNABLE_TO_|CERT_|ERR_TLS_|ERR_SSL_|EPROTO)|does not support SSL|^SASL: .*password must be/;

/** Converts an error of PostgreSQL to a StoreError. Returns any other error unchanged: it is a bug. */
export function toStoreError(error: unknown, location: PostgresLocation): unknown {
  if (!(error instanceof Error) || error instanceof StoreError) return error;
  const code = errorCode(error);
  const [kind, words] = explain(error, code) ?? [];
  if (kind === undefined || words === undefined) return error;
  return new StoreError(kind, `${nameOf(location)}: ${words}`, { cause: error });
}

function explain(error: Error, code: string): readonly [kind: string, words: string] | undefined {
  const advised = ADVICE.find(([pattern]) => pattern.test(code));
  // The server names the table, the user or the host, but never a password.
  const described = `${error.message} (${code})`;
  if (advised !== undefined) return [advised[1], `${described}; ${advised[2]}`];
  const isOfFile = 'syscall' in error && error.syscall === 'open';
  if (isOfFile || NOT_ACCEPTED.test(code) || NOT_ACCEPTED.test(error.message)) {
    const reason = code === 'unknown' ? error.message : code;
    return ['store_unopenable', `check the password, sslmode and the certificates of \`store:\` (${reason})`];
  }
  if (isUnreachable(error) || isConnectionLost(error)) {
    const reason = code === 'unknown' ? error.message : code;
    return [
      'store_unavailable',
      `the database is not available (${reason}); check that it runs and that \`store:\` is right`,
    ];
  }
  return /^[0-9A-Z]{5}$/.test(code) ? ['store_failed', described] : undefined;
}
