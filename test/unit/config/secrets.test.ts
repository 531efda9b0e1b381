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
      'token: the file /dev/zero is not a regular file; write the path of a regular file that contains only the secret',
    );
  });
});

describe('resolving a secret', () => {
  test('reads the environment without trailing line breaks', async () => {
    vi.stubEnv('ROLECALL_TEST_TOKEN', 's3cr3t\r\n');
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
