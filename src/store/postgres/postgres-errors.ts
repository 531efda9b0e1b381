// Classifies errors of PostgreSQL and of the connection to it, and explains them.
import { StoreError } from '../../core/errors.ts';
import { errorCode } from '../../core/error-code.ts';
import { nameOf, type PostgresLocation } from './location.ts';

/** The server refused the connection or is starting or stopping, so nothing was done. */
const UNREACHABLE = /^(ECONNREFUSED|EAI_AGAIN|ENOTFOUND|EHOSTUNREACH|ENETUNREACH|57P03|53300)$/;
/** Serialization failures, deadlocks, waits for locks, and rows that a pruning deleted meanwhile. */
const CONFLICT = /^(40001|40P01|55P03|23503)$/;
const LOST = /^(ECONNRESET|EPIPE|ETIMEDOUT|08...|57P01|57P02|25P03|25P04)$/;
/** What pg throws without a code. */
const LOST_TEXT =
  /^(Connection terminated|Client has encountered a connection error|Query read timeout|timeout exceeded when trying to connect|Client was closed|The client is closed)/i;

/** Whether the work had no effect and may succeed when it is repeated. */
export function isRepeatable(error: unknown): boolean {
  return isUnreachable(error) || CONFLICT.test(errorCode(error));
}

function isUnreachable(error: unknown): boolean {
  // The socket of a server that does not run; a missing certificate has the same code.
  const isNoSocket = error instanceof Error && 'syscall' in error && error.syscall === 'connect';
  return UNREACHABLE.test(errorCode(error)) || (errorCode(error) === 'ENOENT' && isNoSocket);
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

const EXPLANATIONS: readonly (readonly [RegExp, string, string])[] = [
  [/^53100$/, 'store_full', 'the disk of the database is full; free some space'],
  [
    /^(25006|42501|3F000)$/,
    'store_readonly',
    'the database cannot be written by this user; check its role and its grants',
  ],
  [/^28...$/, 'store_unopenable', 'the database refused the user or the password; check `store:`'],
  [/^3D000$/, 'store_unopenable', 'the database does not exist; create it, or check `store:`'],
  [/^54000$/, 'store_failed', 'an id of the service is longer than an index of PostgreSQL can hold'],
  [/^(XX001|XX002|Z_.*)$/, 'store_corrupt', 'the database is damaged; restore a backup'],
  [
    /^(40001|40P01|55P03|53300)$/,
    'store_busy',
    'other programs keep the database busy; try again in a moment',
  ],
];

const TLS = /^(SELF_SIGNED_CERT|DEPTH_ZERO_SELF_SIGNED_CERT|UNABLE_TO_|CERT_|ERR_TLS_|ERR_SSL_|EPROTO)/;

/** Why a TLS connection was not made; undefined for any other error. */
function tlsProblem(error: Error): string | undefined {
  const code = errorCode(error);
  if ('syscall' in error && error.syscall === 'open') {
    return `a certificate file in its address cannot be read (${code}); check sslrootcert, sslcert and sslkey`;
  }
  if (TLS.test(code))
    return `its certificate was not accepted (${code}); check sslmode, sslrootcert and the host`;
  if (/does not support SSL/.test(error.message)) {
    return 'the server does not offer TLS; turn it on there, or remove sslmode from the address';
  }
  return undefined;
}

/** Converts an error of PostgreSQL to a StoreError. Returns any other error unchanged: it is a bug. */
export function toStoreError(error: unknown, location: PostgresLocation): unknown {
  if (!(error instanceof Error) || error instanceof StoreError) return error;
  const name = nameOf(location);
  const code = errorCode(error);
  const explanation = EXPLANATIONS.find(([pattern]) => pattern.test(code));
  if (explanation !== undefined) {
    const [, kind, words] = explanation;
    return new StoreError(kind, `${name}: ${words} (${code})`, { cause: error });
  }
  const problem = tlsProblem(error);
  if (problem !== undefined) {
    return new StoreError('store_unopenable', `${name}: ${problem}`, { cause: error });
  }
  if (isUnreachable(error) || isConnectionLost(error)) {
    const reason = code === 'unknown' ? error.message : code;
    return new StoreError(
      'store_unavailable',
      `${name}: the database is not available (${reason}); check that it runs and that \`store:\` is right`,
      { cause: error },
    );
  }
  return /^[0-9A-Z]{5}$/.test(code)
    ? new StoreError('store_failed', `${name}: ${error.message} (${code})`, { cause: error })
    : error;
}
