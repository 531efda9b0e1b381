// Two accounts with one address and one token.
import { describe, expect, it } from 'vitest';
import { Secret } from '../../../src/core/secret.ts';
import { accountAt } from './account-at.ts';
import { connect, newSignals } from './loopback.ts';

const ADDRESS = 'http://127.0.0.1:9';

function connected(tokens: Record<string, string>) {
  const connections = connect({}, { token: async ({ name }) => new Secret(tokens[name] ?? '') });
  /** Each run has signals of its own. */
  return async (name: string): Promise<string> =>
    await connections.reader(accountAt(ADDRESS, name), newSignals().signals).then(
      () => 'opened',
      (error: Error) => error.message,
    );
}

describe('two accounts with one token', () => {
  it('are not both opened, and the first one keeps the token', async () => {
    const open = connected({ acme: 'token-of-acme', copy: 'token-of-acme' });
    expect(await open('acme')).toBe('opened');
    expect(await open('copy')).toContain('the token is the same as that of “acme”');
    expect(await open('acme')).toBe('opened');
  });

  it('recover without a restart when swapped tokens are corrected', async () => {
    const tokens = { a: 'token-of-b', b: 'token-of-a' };
    const open = connected(tokens);
    expect([await open('a'), await open('b')]).toEqual(['opened', 'opened']);
    Object.assign(tokens, { a: 'token-of-a', b: 'token-of-b' });
    await open('a');
    await open('b');
    expect([await open('a'), await open('b')]).toEqual(['opened', 'opened']);
  });
});
