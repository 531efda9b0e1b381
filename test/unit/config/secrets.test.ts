import path from 'node:path';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { checkSecrets, resolveSecret } from '../../../src/config/secrets.ts';
import { SecretError } from '../../../src/core/errors.ts';
import { ACCOUNT, load, workspace } from './workspace.ts';

afterEach(() => vi.unstubAllEnvs());

describe('a missing secret', () => {
  test('is a warning at the place that refers to it, and names the source only', async () => {
    const loaded = await load({
      'rolecall.yaml': 'regions: { eu: "https://eu.example.com" }\nhttp: { token: { env: HTTP } }\n',
      'accounts/a.yaml': ACCOUNT,
      'accounts/b.yaml': 'region: eu\ntoken: { file: ../secret }',
      'accounts/c.yaml': 'region: eu\ntoken: { file: ../good }',
      'accounts/d.yaml': 'region: eu\ntoken: { env: BAD }',
      good: 's3cr3t\n',
    });
    const issues = checkSecrets(loaded, { HTTP: 's3cr3t', A_TOKEN: '', BAD: 's3c\nr3t' });
    expect(
      issues.map(({ file, line, column, severity }) => [path.basename(file), line, column, severity]),
    ).toEqual([
      ['a.yaml', 2, 8, 'warning'],
      ['b.yaml', 2, 8, 'warning'],
      ['d.yaml', 2, 8, 'warning'],
    ]);
    expect(issues[0]?.message).toBe('token of a: the environment variable A_TOKEN is empty');
    expect(issues[1]?.message).toContain('secret is not there');
    expect(issues.map(({ message }) => message).join()).not.toMatch(/s3c|r3t/u);
    expect(loaded.lines).toEqual([]);
  });
});

test('a private key for ssh may have several lines, and has to be there', async () => {
  const service = (file: string): string =>
    `source: { git: { url: "git@host:a.git", credentials: { file: ${file} } } }`;
  const key = '-----BEGIN KEY-----\nABC\n-----END KEY-----\n';
  const there = await load({ 'rolecall.yaml': service('key'), key });
  expect(checkSecrets(there, {})).toEqual([]);
  const empty = await load({ 'rolecall.yaml': service('key'), key: '' });
  expect(checkSecrets(empty, {})).toMatchObject([{ message: expect.stringContaining('is empty') }]);
  const missing = await load({ 'rolecall.yaml': service('nowhere') });
  expect(checkSecrets(missing, {})).toMatchObject([{ message: expect.stringContaining('is not there') }]);
});

describe('a file that is no secret', () => {
  test('is warned about when it is larger than any', async () => {
    const loaded = await load({
      'accounts/a.yaml': 'region: eu\ntoken: { file: ../large }',
      large: 'x'.repeat(64 * 1024 + 1),
    });
    expect(checkSecrets(loaded, {})).toMatchObject([{ message: expect.stringContaining('64 KiB') }]);
  });

  test.skipIf(process.platform === 'win32')('is not read to an end that it does not have', async () => {
    await expect(resolveSecret({ file: '/dev/zero' }, 'token')).rejects.toThrow(
      'token: the file /dev/zero has more than 64 KiB, which no secret has',
    );
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
    ['s3cr3t\nmore', 'holds characters that a header cannot carry'],
    ['s3cr3t\u00fc', 'holds characters that a header cannot carry'],
    [' s3cr3t', 'begins or ends with white space'],
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
      /\/no\/such\/file is not there/u,
    );
    await expect(resolveSecret({ file: '/' }, 'token')).rejects.toThrow(/cannot be read \(EISDIR\)/u);
  });
});
