import {
  cpSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  renameSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { openCheckout } from '../../../src/git/checkout.ts';
import { readConfigCommit } from '../../../src/git/commit.ts';
import { git } from '../../support/git.ts';
import { times } from '../../support/thorough.ts';
import { content, folderNames, head, makeOrigin, removeOrigin } from './origin.ts';
import { workspace } from '../config/workspace.ts';

afterEach(() => vi.unstubAllEnvs());

/** What git stores about the only commit that is checked out. */
function worktree(kept: string): string {
  const trees = path.join(kept, 'repository.git/worktrees');
  return path.join(trees, readdirSync(trees)[0] ?? '');
}

function leaveLocks(kept: string): void {
  const repository = path.join(kept, 'repository.git');
  for (const name of ['index', 'config', 'refs/rolecall/accepted', 'refs/rolecall/fetched', 'packed-refs']) {
    writeFileSync(path.join(repository, `${name}.lock`), '');
  }
  writeFileSync(path.join(worktree(kept), 'index.lock'), '');
  writeFileSync(path.join(repository, 'objects/pack/tmp_pack_x'), 'PACK');
}

function emptyObjects(repository: string): void {
  const objects = readdirSync(path.join(repository, 'objects'), { recursive: true, withFileTypes: true });
  for (const item of objects.filter((found) => found.isFile())) {
    const file = path.join(item.parentPath, item.name);
    rmSync(file);
    writeFileSync(file, '');
  }
}

/** Runs only the first calls of git, as for a process that is killed after them. */
function killGitAfter(calls: number): void {
  const folder = workspace({});
  const search = process.env['PATH'] ?? '';
  const count = `echo x >> '${folder}/calls'; [ "$(wc -l < '${folder}/calls')" -le ${calls} ] || kill -9 $$`;
  const script = `#!/bin/sh\n${count}\nPATH='${search}' exec git "$@"\n`;
  writeFileSync(path.join(folder, 'git'), script, { mode: 0o755 });
  vi.stubEnv('PATH', `${folder}:${search}`);
}

/** Checks out as usual, and then fails as on a full disk. */
function failCheckouts(): void {
  const folder = workspace({});
  const search = process.env['PATH'] ?? '';
  const full = `case "$*" in *'worktree add'*) echo 'fatal: sha1 file: No space left on device' >&2; exit 128; esac`;
  const script = `#!/bin/sh\nPATH='${search}' git "$@" || exit $?\n${full}\n`;
  writeFileSync(path.join(folder, 'git'), script, { mode: 0o755 });
  vi.stubEnv('PATH', `${folder}:${search}`);
}

describe('a checkout that is opened again', () => {
  test('has its commit without the network', async () => {
    const origin = makeOrigin({ 'config/a': '1' });
    const sha = head(origin);
    await (await origin.open()).refresh();
    removeOrigin(origin);
    const checkout = await origin.open();
    expect([checkout.current()?.sha, content(checkout)]).toEqual([sha, '1']);
    expect(await checkout.refresh()).toMatchObject({
      type: 'failed',
      reason: expect.stringContaining('there is no repository at'),
    });
    expect(content(checkout)).toBe('1');
  });

  test('has its commit also after it was moved on the disk', async () => {
    const origin = makeOrigin({ 'config/a': '1' });
    await (await origin.open()).refresh();
    const moved = `${origin.kept}-moved`;
    renameSync(origin.kept, moved);
    const checkout = await openCheckout(origin.settings, moved, async () => undefined);
    expect(content(checkout)).toBe('1');
    expect(checkout.current()?.folder.startsWith(moved)).toBe(true);
    expect(await checkout.refresh()).toMatchObject({ type: 'unchanged' });
  });

  test.each<[string, (kept: string, sha: string) => void]>([
    ['lock files and an incomplete pack', leaveLocks],
    [
      'a part of another commit',
      (kept) => {
        mkdirSync(path.join(kept, 'commits', 'f'.repeat(40)));
        writeFileSync(path.join(kept, 'commits', 'f'.repeat(40), 'config'), '');
      },
    ],
    ['an empty file', (kept, sha) => truncateSync(path.join(kept, 'commits', sha, 'config/a'))],
    ['another file', (kept, sha) => writeFileSync(path.join(kept, 'commits', sha, 'config/x.ignored'), '9')],
    ['a lost folder', (kept, sha) => rmSync(path.join(kept, 'commits', sha), { recursive: true })],
    [
      'no list of folders',
      (kept) => rmSync(path.join(kept, 'repository.git/worktrees'), { recursive: true }),
    ],
    ['a broken index', (kept) => truncateSync(path.join(worktree(kept), 'index'), 20)],
    [
      'links to nowhere',
      (kept) => {
        rmSync(path.join(kept, 'current'));
        symlinkSync('commits/nowhere', path.join(kept, 'current'));
        symlinkSync('commits/nowhere', path.join(kept, 'current.new'));
      },
    ],
    [
      'repositories that were being created',
      (kept) => {
        mkdirSync(path.join(kept, 'repository.new/objects'), { recursive: true });
        mkdirSync(path.join(kept, 'repository.old'));
      },
    ],
    [
      'a repository that was being replaced',
      (kept) => renameSync(path.join(kept, 'repository.git'), path.join(kept, 'repository.old')),
    ],
  ])('is repaired without the network after it was left with %s', async (_title, leave) => {
    const origin = makeOrigin({ 'config/a': '1', '.gitignore': '*.ignored\n' });
    const sha = head(origin);
    await (await origin.open()).refresh();
    leave(origin.kept, sha);
    renameSync(origin.folder, `${origin.folder}2`);
    const checkout = await origin.open();
    const current = checkout.current();
    expect([current?.sha, content(checkout)]).toEqual([sha, '1']);
    expect(readdirSync(path.join(current?.folder ?? '', 'config'))).toEqual(['a']);
    const file = path.join(checkout.link, 'config/a');
    expect(await readConfigCommit(file, [])).toMatchObject({ sha, dirty: false });
    expect(folderNames(origin)).toHaveLength(1);
    expect(readdirSync(origin.kept).toSorted()).toEqual(['commits', 'current', 'repository.git']);

    renameSync(`${origin.folder}2`, origin.folder);
    const next = origin.commit({ 'config/a': '2' });
    expect(await checkout.refresh()).toEqual({ type: 'updated', sha: next });
    expect(content(checkout)).toBe('2');
  });

  test.each<[string, (repository: string) => void]>([
    ['its objects', (repository) => rmSync(path.join(repository, 'objects'), { recursive: true })],
    ['its HEAD', (repository) => rmSync(path.join(repository, 'HEAD'))],
    ['its configuration', (repository) => writeFileSync(path.join(repository, 'config'), '[[[')],
    ['the content of its objects', emptyObjects],
  ])(
    'is created again when its repository has lost %s, and still refuses a rewritten branch',
    async (_title, damage) => {
      const origin = makeOrigin({ 'config/a': '1' });
      const first = head(origin);
      const second = origin.commit({ 'config/a': '2' });
      await (await origin.open()).refresh();
      damage(path.join(origin.kept, 'repository.git'));
      git(origin.folder, ['reset', '-q', '--hard', first]);
      expect(await (await origin.open()).refresh()).toMatchObject({ type: 'refused', sha: first });
      const reopened = await origin.open();
      expect(await reopened.refresh()).toMatchObject({ type: 'refused', sha: first });
      git(origin.folder, ['reset', '-q', '--hard', second]);
      expect(await reopened.refresh()).toEqual({ type: 'updated', sha: second });
      expect(content(reopened)).toBe('2');
      const file = path.join(reopened.link, 'config/a');
      expect(await readConfigCommit(file, [])).toMatchObject({ sha: second });
      expect(await (await origin.open()).refresh()).toEqual({ type: 'unchanged', sha: second });
    },
  );

  test('refuses a branch that was reset, even when it was stopped while it was created again', async () => {
    const origin = makeOrigin({ 'config/a': '1' });
    const first = head(origin);
    origin.commit({ 'config/a': '2' });
    await (await origin.open()).refresh();
    rmSync(path.join(origin.kept, 'repository.git/HEAD'));
    origin.commit({ 'config/a': '3' });
    failCheckouts();
    expect(await (await origin.open()).refresh()).toMatchObject({ type: 'failed' });
    vi.unstubAllEnvs();
    git(origin.folder, ['reset', '-q', '--hard', first]);
    const checkout = await origin.open();
    expect(content(checkout)).toBe('2');
    expect(await checkout.refresh()).toMatchObject({ type: 'refused', sha: first });
  });

  test('is created again also while it is open, and its reader keeps the folder', async () => {
    const origin = makeOrigin({ 'config/a': '1' });
    const checkout = await origin.open();
    await checkout.refresh();
    const before = checkout.current();
    rmSync(path.join(origin.kept, 'repository.git/HEAD'));
    expect(await checkout.refresh()).toEqual({ type: 'updated', sha: head(origin) });
    expect(readFileSync(path.join(before?.folder ?? '', 'config/a'), 'utf8')).toBe('1');
    expect(checkout.current()?.folder).not.toBe(before?.folder);
    const file = path.join(checkout.link, 'config/a');
    expect(await readConfigCommit(file, [])).toMatchObject({ sha: head(origin) });
    expect(await checkout.refresh()).toMatchObject({ type: 'unchanged' });
  });

  test('reports why it cannot use a folder', async () => {
    const origin = makeOrigin({ 'config/a': '1' });
    writeFileSync(origin.kept, 'a file');
    const checkout = await origin.open();
    expect(checkout.current()).toBeNull();
    expect(await checkout.refresh()).toEqual({
      type: 'failed',
      reason: `${origin.kept} cannot be used for the checkout (EEXIST); check its path, owner and permissions`,
    });
  });

  test('keeps nothing of a commit that could not be checked out, and uses it as soon as it can be', async () => {
    const origin = makeOrigin({ 'config/a': '1' });
    const first = head(origin);
    const checkout = await origin.open();
    await checkout.refresh();
    const second = origin.commit({ 'config/a': '2' });
    failCheckouts();
    const reason = `the disk of ${origin.kept} is full; free some space on it`;
    expect(await checkout.refresh()).toEqual({ type: 'failed', reason });
    expect(await checkout.refresh()).toEqual({ type: 'failed', reason });
    vi.unstubAllEnvs();
    expect([folderNames(origin), content(checkout)]).toEqual([[first], '1']);
    expect(await checkout.refresh()).toEqual({ type: 'updated', sha: second });
    expect(checkout.current()?.folder).toBe(path.join(origin.kept, 'commits', second));
  });

  test.each([
    ['the first', false],
    ['another', true],
  ])(
    'is complete and continues wherever it was killed while it fetched %s commit',
    async (_title, hadOne) => {
      const origin = makeOrigin({ 'config/a': '1' });
      if (hadOne) await (await origin.open()).refresh();
      else mkdirSync(origin.kept);
      const before = `${origin.kept}-before`;
      cpSync(origin.kept, before, { recursive: true, verbatimSymlinks: true });
      const sha = origin.commit({ 'config/a': '2' });
      const outcomes = new Set<string>();
      // A refresh calls git some thirty times.
      for (let calls = 0; !outcomes.has('updated'); calls += times(4, 1)) {
        rmSync(origin.kept, { recursive: true });
        cpSync(before, origin.kept, { recursive: true, verbatimSymlinks: true });
        const killed = await origin.open();
        killGitAfter(calls);
        outcomes.add((await killed.refresh()).type);
        vi.unstubAllEnvs();

        const checkout = await origin.open();
        const current = checkout.current();
        if (hadOne) expect(current).not.toBeNull();
        if (current !== null) expect(content(checkout)).toBe(current.sha === sha ? '2' : '1');
        expect(await checkout.refresh()).toMatchObject({ sha });
        expect(content(checkout)).toBe('2');
      }
      expect([...outcomes]).toEqual(['failed', 'updated']);
    },
    120_000,
  );
});
