import { execFileSync } from 'node:child_process';
import { rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { compareCommits, readConfigCommit, remoteOrigin } from '../../../src/git/commit.ts';
import { workspace } from '../config/workspace.ts';

function git(folder: string, ...args: string[]): string {
  const env = {
    PATH: process.env['PATH'],
    HOME: folder,
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_COMMITTER_DATE: '2026-01-02T03:04:05Z',
    GIT_AUTHOR_DATE: '2026-01-01T00:00:00Z',
  };
  const identity = ['-c', 'user.name=a', '-c', 'user.email=a@example.com'];
  return execFileSync('git', [...identity, ...args], {
    cwd: folder,
    env,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'ignore'],
  }).trim();
}

function repository(): { folder: string; file: string; first: string } {
  const folder = workspace({ 'config/rolecall.yaml': 'x', 'config/accounts/a.yaml': 'y', 'other/z': 'z' });
  git(folder, 'init', '-q', '-b', 'main');
  git(folder, 'add', '.');
  git(folder, 'commit', '-q', '-m', 'First "subject"');
  return { folder, file: path.join(folder, 'config/rolecall.yaml'), first: git(folder, 'rev-parse', 'HEAD') };
}

describe('the commit of a configuration', () => {
  test('is read with its dates and its subject', async () => {
    const { file, folder, first } = repository();
    writeFileSync(path.join(folder, 'other/new'), '');
    expect(await readConfigCommit(file, [path.join(folder, 'config/accounts/a.yaml')])).toEqual({
      sha: first,
      dirty: false,
      changed: new Map(),
      committedAt: '2026-01-02T03:04:05.000Z',
      authoredAt: '2026-01-01T00:00:00.000Z',
      author: 'a',
      subject: 'First "subject"',
    });
  });

  test('is that of the account files where the service file is outside of git, and compares newer ones there', async () => {
    const { folder, first } = repository();
    const [outside, account] = [
      path.join(workspace({ s: '' }), 's'),
      path.join(folder, 'config/accounts/a.yaml'),
    ];
    expect(await readConfigCommit(outside, [outside, account])).toMatchObject({ sha: first, dirty: false });
    writeFileSync(account, 'changed');
    expect((await readConfigCommit(outside, [outside, account]))?.changed).toEqual(
      new Map([[account, 'config/accounts/a.yaml']]),
    );
    git(folder, 'commit', '-qam', 'Second');
    const second = git(folder, 'rev-parse', 'HEAD');
    expect(await compareCommits({ file: outside, others: [outside, account] }, first, second)).toBe(
      'ancestor',
    );
  });

  test('is undefined outside of git, in an empty repository, for an untracked file and for a broken repository', async () => {
    expect(await readConfigCommit(path.join(workspace({ a: '' }), 'a'), [])).toBeUndefined();
    const empty = workspace({ a: '' });
    git(empty, 'init', '-q');
    expect(await readConfigCommit(path.join(empty, 'a'), [])).toBeUndefined();
    const { folder } = repository();
    writeFileSync(path.join(folder, 'config/untracked.yaml'), '');
    expect(await readConfigCommit(path.join(folder, 'config/untracked.yaml'), [])).toBeUndefined();
    const broken = workspace({ a: '', '.git': 'gitdir: /no/such/folder' });
    expect(await readConfigCommit(path.join(broken, 'a'), [])).toBeUndefined();
  });
});

test('the remote of a repository is that of its own settings, as written', async () => {
  const { folder, file } = repository();
  expect(await remoteOrigin(file)).toBeUndefined();
  git(folder, 'remote', 'add', 'origin', 'git@github.com:acme/catalog.git');
  git(folder, 'config', 'url.https://other.example/.insteadOf', 'git@github.com:');
  expect(await remoteOrigin(file)).toBe('git@github.com:acme/catalog.git');
  expect(await remoteOrigin(path.join(workspace({}), 'rolecall.yaml'))).toBeUndefined();
});

describe('two commits', () => {
  test('are the same, one before the other, or diverged', async () => {
    const { folder, file, first } = repository();
    git(folder, 'commit', '-q', '--allow-empty', '-m', 'second');
    const second = git(folder, 'rev-parse', 'HEAD');
    git(folder, 'checkout', '-q', '-b', 'side', first);
    git(folder, 'commit', '-q', '--allow-empty', '-m', 'side');
    const side = git(folder, 'rev-parse', 'HEAD');
    expect(await compareCommits({ file }, first, first)).toBe('same');
    expect(await compareCommits({ file }, first, second)).toBe('ancestor');
    expect(await compareCommits({ file }, second, first)).toBe('descendant');
    expect(await compareCommits({ file }, second, side)).toBe('diverged');
    expect(await compareCommits({ file }, first, 'f'.repeat(40))).toBe('unknown');
    expect(await compareCommits({ file }, '--all', first)).toBe('unknown');
  });

  test('cannot be compared in a shallow clone, and git is asked once about those that can', async () => {
    const { folder, first } = repository();
    git(folder, 'commit', '-q', '--allow-empty', '-m', 'second');
    const clone = path.join(workspace({}), 'clone');
    git(folder, 'clone', '-q', '--depth', '1', `file://${folder}`, clone);
    const file = path.join(clone, 'config/rolecall.yaml');
    const head = git(clone, 'rev-parse', 'HEAD');
    expect(await compareCommits({ file }, first, head)).toBe('unknown');
    git(clone, 'fetch', '-q', '--depth', '1', 'origin', first);
    expect(await compareCommits({ file }, first, head)).toBe('unknown');
    expect((await readConfigCommit(file, []))?.sha).toBe(head);
    git(clone, 'fetch', '-q', '--unshallow');
    expect(await compareCommits({ file }, first, head)).toBe('ancestor');
    rmSync(path.join(clone, '.git'), { recursive: true });
    expect(await compareCommits({ file }, first, head)).toBe('ancestor');
    expect(await compareCommits({ file }, head, first)).toBe('unknown');
  });
});
