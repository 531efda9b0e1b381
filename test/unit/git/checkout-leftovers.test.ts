import {
  cpSync,
  mkdirSync,
  readdirSync,
  renameSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { readConfigCommit } from '../../../src/git/commit.ts';
import { git } from '../../support/git.ts';
import { someOf, times } from '../../support/thorough.ts';
import { cloneOf, content, folderNames, head, makeOrigin } from './origin.ts';
import { workspace } from '../config/workspace.ts';

afterEach(() => vi.unstubAllEnvs());

/** What git stores about the only commit that is checked out. */
function worktree(clone: string): string {
  const trees = path.join(clone, 'repository.git/worktrees');
  return path.join(trees, readdirSync(trees)[0] ?? '');
}

function leaveLocks(clone: string): void {
  const repository = path.join(clone, 'repository.git');
  for (const name of ['index', 'config', 'HEAD', 'refs/rolecall/fetched', 'packed-refs', 'shallow']) {
    writeFileSync(path.join(repository, `${name}.lock`), '');
  }
  writeFileSync(path.join(worktree(clone), 'index.lock'), '');
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

type Leftover = readonly [string, (clone: string, sha: string) => void];

describe('a checkout that is opened again', () => {
  test.each(
    someOf<Leftover>(
      [
        ['lock files and an incomplete pack', leaveLocks],
        [
          'a part of another commit',
          (clone) => mkdirSync(path.join(clone, 'f'.repeat(40), 'config'), { recursive: true }),
        ],
        [
          'another clone',
          (clone) => mkdirSync(path.join(clone, '../clone-x/repository.git'), { recursive: true }),
        ],
        ['a new link', (clone) => symlinkSync('clone-x/y', path.join(clone, '../current.new'))],
      ],
      2,
    ),
  )('has its commit without the network after it was left with %s', async (_title, leave) => {
    const origin = makeOrigin({ 'config/a.yaml': '1' });
    const sha = head(origin);
    await (await origin.open()).refresh();
    leave(cloneOf(origin), sha);
    renameSync(origin.folder, `${origin.folder}2`);
    const checkout = await origin.open();
    expect([checkout.current()?.sha, content(checkout)]).toEqual([sha, '1']);
    expect(await readConfigCommit(path.join(checkout.link, 'config/a.yaml'), [])).toMatchObject({ sha });
    expect(folderNames(origin)).toEqual([sha]);

    renameSync(`${origin.folder}2`, origin.folder);
    const next = origin.commit({ 'config/a.yaml': '2' });
    expect(await checkout.refresh()).toEqual({ type: 'updated', sha: next });
    expect(content(checkout)).toBe('2');
  });

  test.each(
    someOf<Leftover>(
      [
        ['an empty file', (clone, sha) => truncateSync(path.join(clone, sha, 'config/a.yaml'))],
        ['another file', (clone, sha) => writeFileSync(path.join(clone, sha, 'config/x.ignored.yaml'), '9')],
        ['empty objects', (clone) => emptyObjects(path.join(clone, 'repository.git'))],
        ['a lost folder', (clone, sha) => rmSync(path.join(clone, sha), { recursive: true })],
        [
          'no list of folders',
          (clone) => rmSync(path.join(clone, 'repository.git/worktrees'), { recursive: true }),
        ],
        ['a broken index', (clone) => truncateSync(path.join(worktree(clone), 'index'), 20)],
        ['another place on the disk', (clone) => renameSync(clone, `${clone}x`)],
        ['no objects', (clone) => rmSync(path.join(clone, 'repository.git/objects'), { recursive: true })],
        ['no HEAD', (clone) => rmSync(path.join(clone, 'repository.git/HEAD'))],
        [
          'a broken configuration',
          (clone) => writeFileSync(path.join(clone, 'repository.git/config'), '[[['),
        ],
      ],
      4,
    ),
  )('is cloned again when it has %s, and still refuses a rewritten branch', async (_title, damage) => {
    const origin = makeOrigin({ 'config/a.yaml': '1', '.gitignore': '*.ignored.yaml\n' });
    const first = head(origin);
    const second = origin.commit({ 'config/a.yaml': '2' });
    await (await origin.open()).refresh();
    damage(cloneOf(origin), second);
    git(origin.folder, ['reset', '-q', '--hard', first]);
    expect(await (await origin.open()).refresh()).toMatchObject({ type: 'refused', sha: first });
    const reopened = await origin.open();
    expect(await reopened.refresh()).toMatchObject({ type: 'refused', sha: first });
    git(origin.folder, ['reset', '-q', '--hard', second]);
    expect(await reopened.refresh()).toMatchObject({ sha: second });
    expect(content(reopened)).toBe('2');
    expect(readdirSync(path.join(reopened.link, 'config'))).toEqual(['a.yaml']);
    const file = path.join(reopened.link, 'config/a.yaml');
    expect(await readConfigCommit(file, [])).toMatchObject({ sha: second, dirty: false });
    expect(await (await origin.open()).refresh()).toEqual({ type: 'unchanged', sha: second });
    expect(folderNames(origin)).toEqual([second]);
  });

  test('refuses a branch that was reset, even when it was stopped while it was cloned again', async () => {
    const origin = makeOrigin({ 'config/a.yaml': '1' });
    const first = head(origin);
    origin.commit({ 'config/a.yaml': '2' });
    await (await origin.open()).refresh();
    const checkout = await origin.open();
    rmSync(path.join(cloneOf(origin), 'repository.git/HEAD'));
    origin.commit({ 'config/a.yaml': '3' });
    failCheckouts();
    expect(await checkout.refresh()).toMatchObject({ type: 'failed' });
    vi.unstubAllEnvs();
    git(origin.folder, ['reset', '-q', '--hard', first]);
    expect(content(checkout)).toBe('2');
    expect(await checkout.refresh()).toMatchObject({ type: 'refused', sha: first });
    expect(await (await origin.open()).refresh()).toMatchObject({ type: 'refused', sha: first });
  });

  test('keeps nothing of a commit that could not be checked out, and uses it as soon as it can be', async () => {
    const origin = makeOrigin({ 'config/a.yaml': '1' });
    const first = head(origin);
    const checkout = await origin.open();
    await checkout.refresh();
    const second = origin.commit({ 'config/a.yaml': '2' });
    failCheckouts();
    const reason = expect.stringMatching(/^git failed: .*No space left on device; check .* the disk of /u);
    expect(await checkout.refresh()).toEqual({ type: 'failed', reason });
    expect(await checkout.refresh()).toEqual({ type: 'failed', reason });
    vi.unstubAllEnvs();
    expect([folderNames(origin), content(checkout)]).toEqual([[first], '1']);
    expect(await checkout.refresh()).toEqual({ type: 'updated', sha: second });
    expect(checkout.current()?.folder).toBe(path.join(cloneOf(origin), second));
  });

  test.each(
    someOf(
      [
        ['another', true],
        ['the first', false],
      ] as const,
      1,
    ),
  )(
    'is complete and continues wherever it was killed while it fetched %s commit',
    async (_title, hadOne) => {
      const origin = makeOrigin({ 'config/a.yaml': '1' });
      if (hadOne) await (await origin.open()).refresh();
      else mkdirSync(origin.kept);
      const before = `${origin.kept}-before`;
      cpSync(origin.kept, before, { recursive: true, verbatimSymlinks: true });
      const sha = origin.commit({ 'config/a.yaml': '2' });
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
