// Files that block a reader, such as pipes: one must not delay the others.
import { execFileSync, spawn } from 'node:child_process';
import { openSync, symlinkSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { readAuthorities, checkSecrets, resolveSecret } from '../../../src/config/secrets.ts';
import { loadConfiguration } from '../../../src/config/load-configuration.ts';
import { readRegularFile } from '../../../src/system/regular-file.ts';
import { ACCOUNT, SERVICE, load, workspace } from '../config/workspace.ts';

function pipe(folder: string, name: string): string {
  const file = path.join(folder, name);
  execFileSync('mkfifo', [file]);
  return file;
}

describe('a pipe or a device', () => {
  test('is refused at once as a secret, however many there are', async () => {
    const folder = workspace({ good: 's3cr3t' });
    const pipes = Array.from({ length: 12 }, (_, index) => pipe(folder, `pipe${index}`));
    symlinkSync(pipes[0] ?? '', path.join(folder, 'link'));
    const irregular = [...pipes, path.join(folder, 'link'), '/dev/zero', '/dev/tty', '/dev/null', folder];
    for (const file of irregular) {
      await expect(resolveSecret({ file }, 'token of a')).rejects.toThrow(
        `token of a: the file ${file} is not a regular file; write the path of a regular file that contains only the secret`,
      );
    }
    expect((await resolveSecret({ file: path.join(folder, 'good') }, 'token')).reveal()).toBe('s3cr3t');
  });

  test('causes a warning in validate', async () => {
    const folder = workspace({});
    const loaded = await load({ 'accounts/a.yaml': `region: eu\ntoken: { file: ${pipe(folder, 'pipe')} }` });
    expect(await checkSecrets(loaded, {})).toMatchObject([
      { account: 'a', line: 2, column: 8, message: expect.stringContaining('is not a regular file') },
    ]);
  });

  test('in place of an account file or a catalog fails only that account', async () => {
    const folder = workspace({
      'rolecall.yaml': SERVICE,
      'accounts/b.yaml': ACCOUNT,
      'accounts/c.yaml': 'region: eu\ntoken: { env: C }\nextends: [../catalog.yaml]',
    });
    pipe(folder, 'accounts/a.yaml');
    pipe(folder, 'catalog.yaml');
    const { accounts } = await loadConfiguration(path.join(folder, 'rolecall.yaml'));
    expect(accounts.map(({ name, settings }) => [name, settings !== undefined])).toEqual([
      ['a', false],
      ['b', true],
      ['c', false],
    ]);
    expect(accounts[0]?.issues[0]?.message).toContain('not a regular file');
    expect(accounts[2]?.issues[0]?.message).toContain('not a regular file');
  });

  test('is not accepted as a certificate authority', async () => {
    const folder = workspace({});
    await expect(readAuthorities(pipe(folder, 'pipe'))).rejects.toThrow(
      /api\.caFile cannot be read \(irregular\)/u,
    );
  });

  test('that replaces a file between the check and the opening does not block', async () => {
    const folder = workspace({ token: 'x' });
    const file = pipe(folder, 'pipe');
    // Its other end is open and never written to: a reader would wait forever.
    const writer = spawn('sleep', ['60'], { stdio: ['ignore', openSync(file, 'r+'), 'ignore'] });
    onTestFinished(() => void writer.kill());
    expect(() => readRegularFile(file, 100)).toThrow(expect.objectContaining({ code: 'irregular' }));
  });
});

test('a regular file is read up to the byte limit, with its real path', () => {
  const folder = workspace({ 'real/a': 'x'.repeat(100), 'real/b': 'x'.repeat(101) });
  symlinkSync('real', path.join(folder, 'link'));
  expect(readRegularFile(path.join(folder, 'link/a'), 100)).toMatchObject({
    realPath: path.join(folder, 'real/a'),
  });
  const refused = (name: string, code: string): void =>
    expect(() => readRegularFile(path.join(folder, name), 100)).toThrow(expect.objectContaining({ code }));
  refused('link/b', 'too_large');
  refused('no', 'ENOENT');
});
