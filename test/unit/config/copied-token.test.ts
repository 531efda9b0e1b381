// The token of an account that somebody wrote into the account's own file: it is never repeated and never sent as a name.
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { checkSecrets, resolveToken } from '../../../src/config/secrets.ts';
import { type Loaded, load, loadAccount } from './workspace.ts';

const TOKEN = 'tok_SECRETsecret+/=77aaBBcc';

beforeEach(() => void vi.stubEnv('A_TOKEN', TOKEN));
afterEach(() => vi.unstubAllEnvs());

/** Why the token cannot be used, as the commands that plan report it. */
async function refusal({ accounts }: Loaded): Promise<string> {
  const [settings] = accounts.flatMap((account) => account.settings ?? []);
  if (settings === undefined) return 'the file is invalid';
  return await resolveToken(settings).then(
    () => 'none',
    (error: Error) => error.message,
  );
}

const WRITTEN: Readonly<Record<string, string>> = {
  'a name': `skills:\n  - ${TOKEN}`,
  'part of a name': `roles:\n  - my ${TOKEN} x`,
  'a name with escapes': `skills:\n  - "\\x74ok_SECRETsecret+/=77aaBBcc"`,
  'a former name': `skills:\n  - { name: A, formerly: [${TOKEN}] }`,
  'an approval': `skills: []\nallowedDeletes:\n  - { kind: skill, name: ${TOKEN}, expires: 2999-12-31 }`,
  'a protected name': `policy: { protect: [${TOKEN}] }`,
  'a comment': `skills: [A] # ${TOKEN}`,
};

test.each(Object.entries(WRITTEN))('a file with the token as %s fails its account', async (_, text) => {
  const loaded = await loadAccount(text);
  const messages = [
    await refusal(loaded),
    ...(await checkSecrets(loaded, process.env)).map((issue) => issue.message),
  ];
  expect(messages).toEqual([
    expect.stringMatching(/a\.yaml:\d+:\d+: the token itself is in this file.*remove it.*renew the token/u),
    expect.stringContaining('the token itself is in this file'),
  ]);
  expect(messages.join()).not.toContain('SECRETsecret');
});

test('the error is at the position of the token', async () => {
  const loaded = await loadAccount(`skills:\n  - A\n  - ${TOKEN}\n`);
  const [issue] = await checkSecrets(loaded, process.env);
  expect(issue).toMatchObject({ account: 'a', line: 5, column: 5, severity: 'error' });
});

test('a token in a shared catalog fails the accounts that extend the catalog', async () => {
  const loaded = await loadAccount('extends: [../shared.yaml]', { 'shared.yaml': `skills: [${TOKEN}]` });
  expect(await refusal(loaded)).toContain('or in a catalog that it extends');
});

test.each([
  ['an unknown key', `${TOKEN}: 3`],
  ['an unknown key of an entry', `skills: [{ name: A, ${TOKEN}: 1 }]`],
  ['a duplicate name', `skills: [${TOKEN}, ${TOKEN}]`],
  ['a mode', `mode: ${TOKEN}`],
])('no message repeats the token as %s', async (_, text) => {
  const inVariable = await loadAccount(text);
  const header = 'region: eu\ntoken: { file: ../token }\n';
  const inFile = await load({ 'accounts/a.yaml': header + text, token: TOKEN });
  for (const { lines, accounts } of [inVariable, inFile]) {
    expect(accounts[0]?.issues).not.toEqual([]);
    expect(`${lines.join()} ${JSON.stringify(accounts)}`).not.toContain('SECRETsecret');
  }
});

test('a file that gets the token after it was loaded fails its account', async () => {
  const loaded = await loadAccount('skills: [A]');
  expect(await refusal(loaded)).toBe('none');
  writeFileSync(path.join(loaded.folder, 'accounts/a.yaml'), `# ${TOKEN}`);
  expect(await refusal(loaded)).toContain('a.yaml:1:3');
});
