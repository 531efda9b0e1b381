// A token that somebody pasted into a file is not repeated by any message about that file.
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { loadConfiguration } from '../../../src/config/load-configuration.ts';
import { checkIdentity } from '../../../src/core/identity.ts';
import { workspace } from './workspace.ts';

const TOKENS = [
  'sk_live_51HxAbCdEfGhIjKlMnOpQrStUvWxYz',
  'ghp_a1b2c3d4e5f6g7h8i9j0k1l2m3n4o5p6q7r8',
  'eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5NXgL0n3I9P',
  '0f9e8d7c6b5a4f3e2d1c0b9a8f7e6d5c4b3a2f1e',
  // The slashes leave only pieces that are too short to be tokens.
  'wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLE4K9',
];

const HEAD = 'baseUrl: https://planning.example.com\ntoken: { env: ACME_TOKEN }';
const ACCOUNTS: Readonly<Record<string, (token: string) => string>> = {
  'a duplicate name': (token) => `${HEAD}\nskills: [${token}, ${token}]`,
  'a duplicate name with words': (token) => `${HEAD}\nskills: [my ${token}, my ${token}]`,
  'near names': (token) => `${HEAD}\nskills: [${token}, ${token.toUpperCase()}]`,
  'a former name twice': (token) => `${HEAD}\nskills: [{ name: A, formerly: [${token}, ${token}] }]`,
  'a name that is also a former one': (token) =>
    `${HEAD}\nskills: [${token}, { name: A, formerly: [${token}] }]`,
  'an approval of a desired name': (token) =>
    `${HEAD}\nskills: [${token}]\napprovedDeletes: [{ kind: skill, name: ${token}, expires: 2999-12-31 }]`,
  'an approval twice': (token) =>
    `${HEAD}\nskills: []\napprovedDeletes: [{ kind: skill, name: ${token}, expires: 2999-12-31 }, { kind: skill, name: ${token}, expires: 2999-12-31 }]`,
  'an expired approval': (token) =>
    `${HEAD}\nskills: []\napprovedDeletes: [{ kind: skill, name: ${token}, expires: 2020-01-01 }]`,
  'an unknown key': (token) => `${HEAD}\n${token}: 1`,
  'a duplicate key': (token) => `${HEAD}\n${token}: 1\n${token}: 2`,
  'an unknown key of an entry': (token) => `${HEAD}\nskills: [{ name: A, ${token}: 1 }]`,
  'a schedule': (token) => `${HEAD}\nschedule: ${token}`,
  'a time zone': (token) => `${HEAD}\ntimezone: ${token}`,
  'a jitter': (token) => `${HEAD}\njitter: ${token}`,
  'a mode': (token) => `${HEAD}\nmode: ${token}`,
  'a policy': (token) => `${HEAD}\npolicy: { delete: ${token} }`,
  'a region': (token) => `region: ${token}\ntoken: { env: ACME_TOKEN }`,
  'a missing catalog': (token) => `${HEAD}\nextends: [${token}]`,
  'an account id with a line break': (token) => `${HEAD}\naccountId: [${token}]`,
};

async function messagesOf(account: string, service = ''): Promise<string> {
  const folder = workspace({
    'config/rolecall.yaml': `accounts: accounts/*.yaml\nstore: x.db\n${service}`,
    'config/accounts/acme.yaml': `${account}\n`,
  });
  const { issues } = await loadConfiguration(join(folder, 'config/rolecall.yaml'), { today: '2026-01-01' });
  return issues.map(({ message }) => message).join('\n');
}

describe('a message does not repeat a token that was pasted in place of', () => {
  it.each(Object.entries(ACCOUNTS))('%s', async (_, account) => {
    for (const token of TOKENS) {
      const messages = await messagesOf(account(token));
      expect(messages).not.toBe('');
      expect(messages.toLowerCase()).not.toContain(token.slice(0, 16).toLowerCase());
    }
  });

  it('the name of a region', async () => {
    for (const token of TOKENS) {
      for (const address of ['x', 'https://a.example.com']) {
        const messages = await messagesOf(
          'region: eu\ntoken: { env: ACME_TOKEN }',
          `regions: { ${token.replaceAll('.', '')}: ${address} }`,
        );
        expect(messages).toContain('region');
        expect(messages).not.toContain(token.slice(0, 16));
      }
    }
  });

  it('the account id when the service lists another one', () => {
    for (const pinned of TOKENS) {
      const check = () => checkIdentity('42', { account: 'acme', pinned, remembered: null });
      expect(check).toThrow(/accountId: .*not shown/);
      expect(check).not.toThrow(pinned.slice(0, 16));
    }
  });
});

describe('a message repeats', () => {
  it.each([
    'JavaScript',
    'Certified Kubernetes Administrator (CKA) 2024',
    'AWS-Certified-Solutions-Architect-2024',
    'Donaudampfschifffahrtsgesellschaftskapitän',
    '65a1f0c2e4b0a1b2c3d4e5f6',
    '0193a5c2-7b1e-7c3d-8e4f-5a6b7c8d9e0f',
  ])('the name %s', async (name) => {
    expect(await messagesOf(`${HEAD}\nskills: [${name}, ${name}]`)).toContain(`"${name}"`);
  });

  it('an account id of any usual form', () => {
    for (const pinned of ['4815162342', '65a1f0c2e4b0a1b2c3d4e5f6', 'sandbox-account-1']) {
      expect(() => checkIdentity('42', { account: 'acme', pinned, remembered: null })).toThrow(pinned);
    }
  });
});
