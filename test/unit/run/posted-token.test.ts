// Whoever posts files must never decide where a token is sent, or which token.
import { describe, expect, it } from 'vitest';
import { POSTED_ROOT, tokenUse } from '../../../src/run/posted-token.ts';
import type { AccountSettings, SecretRef } from '../../../src/core/settings.ts';

const OWN_ADDRESS = 'https://eu.example.com';

// Only the fields that the rule reads.
function account(file: string, token: SecretRef, baseUrl = OWN_ADDRESS): AccountSettings {
  return { name: 'acme', file, token, baseUrl } as AccountSettings;
}

const posted = (token: SecretRef, baseUrl?: string): AccountSettings =>
  account(`${POSTED_ROOT}/accounts/acme.yaml`, token, baseUrl);
const own = (token: SecretRef): AccountSettings => account('/etc/rolecall/accounts/acme.yaml', token);

describe('a posted account', () => {
  it.each<[string, SecretRef, SecretRef]>([
    ['the same variable', { env: 'TOKEN' }, { env: 'TOKEN' }],
    ['the same absolute file', { file: '/run/secrets/acme' }, { file: '/run/secrets/acme' }],
    [
      'the same file below the configuration',
      { file: `${POSTED_ROOT}/accounts/tokens/acme` },
      { file: '/etc/rolecall/accounts/tokens/acme' },
    ],
    ['the same file beside the accounts', { file: `${POSTED_ROOT}/acme` }, { file: '/etc/rolecall/acme' }],
    ['the same file above the configuration', { file: '/posted/a/b/c/d/e/f/acme' }, { file: '/acme' }],
  ])('is planned with the daemon’s own address, token and rules when it names %s', (_, theirs, ours) => {
    const rules = { tokenRules: { files: null, ownFiles: [], own: [], decidedBy: 'x', place: {} } };
    const mine = { ...own(ours), ...rules } as unknown as AccountSettings; // the rules are only passed on
    const settings = { ...posted(theirs), token: ours };
    expect(tokenUse(posted(theirs), mine)).toEqual({ settings: { ...settings, ...rules } });
    // Posted rules name secrets to compare the token with.
    const ruled = { ...posted(theirs), ...rules } as unknown as AccountSettings;
    expect(tokenUse(ruled, own(ours))).toEqual({ settings });
  });

  it('is refused when the daemon does not have it', () => {
    expect(tokenUse(posted({ env: 'TOKEN' }), undefined)).toMatchObject({
      refusal: { code: 'unknown_account' },
    });
  });

  it('is refused when it names another address', () => {
    expect(tokenUse(posted({ env: 'TOKEN' }, 'https://evil.example'), own({ env: 'TOKEN' }))).toMatchObject({
      refusal: { code: 'identity_mismatch', message: expect.stringMatching(/^the address /) },
    });
  });

  it.each<[string, SecretRef, SecretRef]>([
    ['another variable', { env: 'OTHER' }, { env: 'TOKEN' }],
    ['a file in place of a variable', { file: '/run/secrets/acme' }, { env: 'TOKEN' }],
    ['a variable in place of a file', { env: 'TOKEN' }, { file: '/run/secrets/acme' }],
    ['another absolute file', { file: '/run/secrets/beta' }, { file: '/run/secrets/acme' }],
    ['another relative file', { file: `${POSTED_ROOT}/beta` }, { file: '/etc/rolecall/acme' }],
    [
      'an absolute file that only looks like the relative one',
      { file: '/etc/acme' },
      { file: '/etc/rolecall/acme' },
    ],
  ])('is refused when it names %s', (_, theirs, ours) => {
    expect(tokenUse(posted(theirs), own(ours))).toMatchObject({
      refusal: { code: 'identity_mismatch', message: expect.stringMatching(/^the token reference /) },
    });
  });
});
