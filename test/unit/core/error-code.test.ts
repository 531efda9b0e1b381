// The codes of failed system calls and subprocesses.
import { expect, it } from 'vitest';
import { errorCode } from '../../../src/core/errors.ts';

function failure(code: unknown): Error {
  return Object.assign(new Error('failed'), { code });
}

it.each([
  ['of a failed system call', failure('ENOENT'), 'ENOENT'],
  ['of a command that failed', failure(128), '128'],
  ['of a command that succeeded', failure(0), '0'],
  ['without a code', new Error('failed'), 'unknown'],
  ['with a code that is neither a text nor a number', failure({ toString: () => 'EVIL' }), 'unknown'],
  ['with the code null', failure(null), 'unknown'],
])('the code of an error %s is a text', (_, error, code) => {
  expect(errorCode(error)).toBe(code);
});

it.each([undefined, null, 'ENOENT', 7, { code: 'ENOENT' }])(
  'the code of %j, which is not an error, is unknown',
  (thrown) => {
    expect(errorCode(thrown)).toBe('unknown');
  },
);
