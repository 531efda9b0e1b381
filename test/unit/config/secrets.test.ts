import path from 'node:path';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { checkSecrets, resolveSecret } from '../../../src/config/secrets.ts';
import { SecretError } from '../../../src/core/errors.ts';
import { ACCOUNT, load, workspace } from './workspace.ts';

afterEach(() => vi.unstubAllEnvs());

describe('a missing secret', () => {
  test('is a warning at the reference to it, and only the source is named', async () => {
    const loaded = await load({
      'rolecall.yaml': 'regions: { eu: "https://eu.example.com" }\nhttp: { token: { env: HTTP } }\n',
      'accounts/a.yaml': ACCOUNT,
      'accounts/b.yaml': 'region: eu\ntoken: { file: ../secret }',
      'accounts/c.yaml': 'region: eu\ntoken: { file: ../good }',
      'accounts/d.yaml': 'region: eu\ntoken: { env: BAD }',
      good: 's3cr3t\n',
    });
    const issues = await checkSecrets(loaded, { HTTP: 'an0ther', A_TOKEN: '', BAD: 's3c\nr3t' });
    expect(
      issues.map(({ file, line, column, severity }) => [path.basename(file), line, column, severity]),
    ).toEqual([
      ['a.yaml', 2, 8, 'warning'],
      ['b.yaml', 2, 8, 'warning'],
      ['d.yaml', 2, 8, 'warning'],
    ]);
    expect(issues[0]?.message).toBe('token of a: the environment variable A_TOKEN is empty');
    expect(issues[1]?.message).toContain('secret does not exist');
    expect(issues.map(({ message }) => message).join()).not.toMatch(/s3c|r3t/u);
    expect(loaded.lines).toEqual([]);
  });
});

test('a private key for SSH can have several lines, and must exist and not be empty', async () => {
  const service = (file: string): string =>
    `source: { git: { url: "git@host:a.git", credentials: { file: ${file} } } }`;
  const key = '-----BEGIN KEY-----\nABC\n-----END KEY-----\n';
  const present = await load({ 'rolecall.yaml': service('key'), key });
  expect(await checkSecrets(present, {})).toEqual([]);
  const empty = await load({ 'rolecall.yaml': service('key'), key: '' });
  expect(await checkSecrets(empty, {})).toMatchObject([{ message: expect.stringContaining('is empty') }]);
  const missing = await load({ 'rolecall.yaml': service('nowhere') });
  expect(await checkSecrets(missing, {})).toMatchObject([
    { message: expect.stringContaining('does not exist') },
  ]);
});

describe('a secret file', () => {
  test('causes a warning when it is larger than any secret', async () => {
    const loaded = await load({
      'accounts/a.yaml': 'region: eu\ntoken: { file: ../large }',
      large: 'x'.repeat(64 * 1024 + 1),
    });
    expect(await checkSecrets(loaded, {})).toMatchObject([{ message: expect.stringContaining('64 KiB') }]);
  });

  test.skipIf(process.platform === 'win32')('that is a device is refused without being read', async () => {
    await expect(resolveSecret({ file: '/dev/zero' }, 'token')).rejects.toThrow(
      'token: the file /dev/zero is not a regular file but a device; write the path of a regular file that contains only the secret',
    );
  });
});

describe('a token that was pasted in place of a name', () => {
  test.each([
    'ghp_abcdefghijklmnopqrstuvwxyz0123456789',
    'sk_live_51HxAbCdEfGhIjKlMnOpQrStUvWxYz',
    'A1B2C3D4E5F6A7B8C9D0',
    'supersecrettoken',
    'TOKENTOKENTOKENTOKENTOKENTOKEN',
    'xoxb_1234567890_abcdef',
    'eyJhbGciOiJIUzI1NiJ9',
  ])('is not repeated when no variable has the name %s', async (token) => {
    const loaded = await load({ 'accounts/a.yaml': `region: eu\ntoken: { env: ${token} }` });
    const [issue] = await checkSecrets(loaded, {});
    expect(issue).toMatchObject({
      line: 2,
      column: 8,
      message: expect.stringContaining('its name is not shown'),
    });
    expect(JSON.stringify(issue)).not.toContain(token);
    const error: unknown = await resolveSecret({ env: token }, 'token').catch((thrown: unknown) => thrown);
    expect(String(error)).not.toContain(token);
  });

  test.each([
    'ghp_abcdefghijklmnopqrstuvwxyz0123456789',
    'eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N_XgL0n3I9P',
    'abc/dEf0/ghi+jkL9==',
    'supersecrettoken1',
    'x'.repeat(300),
    '3f8a9c1e-7b2d-4e5f-8a9b-0c1d2e3f4a5b',
  ])('is not repeated when there is no file %s', async (token) => {
    const loaded = await load({ 'accounts/a.yaml': `region: eu\ntoken: { file: "${token}" }` });
    const [issue] = await checkSecrets(loaded, {});
    expect(issue?.message).toContain('its name is not shown');
    expect(issue?.message).not.toContain(token.slice(0, 12));
    const { settings } = loaded.accounts[0] ?? {};
    const error: unknown = await resolveSecret(settings?.token ?? { env: 'A' }, 'token').catch(
      (thrown: unknown) => thrown,
    );
    expect(String(error)).not.toContain(token.slice(0, 12));
  });

  test.each(['ACME_EU_TOKEN', 'TOKEN_2', 'K8S_EU_TOKEN', 'A'])(
    'is distinguished from the variable %s',
    async (name) => {
      await expect(resolveSecret({ env: name }, 'token')).rejects.toThrow(
        `the environment variable ${name} is not set`,
      );
    },
  );

  test.each([
    '/run/secrets/rolecall-accounts/acme-eu',
    '/run/credentials/rolecall.service/token_acme-eu',
    '/etc/no/Secret.txt',
  ])('is distinguished from the file %s', async (file) => {
    await expect(resolveSecret({ file }, 'token')).rejects.toThrow(`the file ${file} does not exist`);
  });
});

describe('resolving a secret', () => {
  test('reads the environment', async () => {
    vi.stubEnv('ROLECALL_TEST_TOKEN', 's3cr3t');
    expect((await resolveSecret({ env: 'ROLECALL_TEST_TOKEN' }, 'token')).reveal()).toBe('s3cr3t');
  });

  test('reads a file without its trailing line breaks', async () => {
    const file = path.join(workspace({ token: 's3 cr3t\r\n\n' }), 'token');
    expect((await resolveSecret({ file }, 'token')).reveal()).toBe('s3 cr3t');
  });

  test.each([
    ['', 'is empty'],
    ['s3cr3t\nmore', 'has characters that are not allowed in an HTTP header'],
    ['s3cr3t\u00fc', 'has characters that are not allowed in an HTTP header'],
    [' s3cr3t', 'starts or ends with white space'],
  ])('refuses the file content %j without repeating it', async (content, problem) => {
    const file = path.join(workspace({ token: content }), 'token');
    const error: unknown = await resolveSecret({ file }, 'token of a').catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(SecretError);
    expect(String(error)).toContain(`token of a: the file ${file} ${problem}`);
    expect(String(error)).not.toContain('s3cr3t');
  });

  test('names a missing variable, file and folder', async () => {
    await expect(resolveSecret({ env: 'ROLECALL_NO_SUCH' }, 'token')).rejects.toThrow(
      /ROLECALL_NO_SUCH is not set/u,
    );
    await expect(resolveSecret({ file: '/no/such/file' }, 'token')).rejects.toThrow(
      /\/no\/such\/file does not exist/u,
    );
    await expect(resolveSecret({ file: '/' }, 'token')).rejects.toThrow(/the file \/ is not a regular/u);
  });
});
