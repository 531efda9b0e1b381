// Which errors of PostgreSQL and of a connection allow a repetition: only those after which the work certainly had no effect.
import { describe, expect, it } from 'vitest';
import { isConnectionLost, isRepeatable } from '../../../../src/store/postgres/postgres-errors.ts';

const failed = (code: string, syscall?: string): Error =>
  Object.assign(new Error(code), { code, ...(syscall === undefined ? {} : { syscall }) });

/** What Linux reports of a network that is gone, before and after a connection was made. */
const NETWORK = ['EHOSTUNREACH', 'ENETUNREACH', 'ETIMEDOUT', 'ECONNRESET', 'EPIPE', 'ECONNABORTED'];

describe('an error of the network', () => {
  it.each(NETWORK)('%s of a new connection allows a repetition', (code) => {
    expect(isRepeatable(failed(code, 'connect'))).toBe(true);
  });

  it.each(NETWORK)(
    '%s of an open connection allows none, since the statement may have been executed',
    (code) => {
      for (const error of [failed(code, 'read'), failed(code, 'write'), failed(code)]) {
        expect(isRepeatable(error)).toBe(false);
        expect(isConnectionLost(error)).toBe(true);
      }
    },
  );

  it.each([
    'timeout exceeded when trying to connect',
    'Connection terminated due to connection timeout',
    'timeout expired',
  ])('"%s" allows a repetition, since nothing was sent', (message) => {
    expect(isRepeatable(new Error(message))).toBe(true);
  });

  it.each(['Connection terminated unexpectedly', 'Query read timeout'])(
    '"%s" allows none, since the statement may have been executed',
    (message) => {
      expect(isRepeatable(new Error(message))).toBe(false);
      expect(isConnectionLost(new Error(message))).toBe(true);
    },
  );
});

describe('an error of the server', () => {
  it.each(['40001', '40P01', '55P03', '23503', '53300', '57P03'])('%s allows a repetition', (code) => {
    expect(isRepeatable(failed(code))).toBe(true);
  });

  it.each(['57P01', '57P02', '08006', '08P01', '25P03', '25P04', '57014', '53100', '23505', '25006'])(
    '%s allows none',
    (code) => {
      expect(isRepeatable(failed(code))).toBe(false);
    },
  );
});
