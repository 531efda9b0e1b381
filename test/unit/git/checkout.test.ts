import { execFileSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  realpathSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { compareCommits, readConfigCommit } from '../../../src/git/commit.ts';
import { git } from '../../support/git.ts';
import { cloneOf, content, folderNames, forcePush, head, makeOrigin } from './origin.ts';
import { workspace } from '../config/workspace.ts';

afterEach(() => vi.unstubAllEnvs());

describe('the checkout of a daemon', () => {
  test('has nothing before the first refresh, and then the commit in a folder of its own', async () => {
    const origin = makeOrigin({ 'config/a.yaml': '1' });
    const checkout = await origin.open();
    expect(checkout.current()).toBeNull();
    expect(await checkout.refresh()).toEqual({ type: 'updated', sha: head(origin) });
    expect(checkout.current()).toEqual({
      sha: head(origin),
      folder: path.join(cloneOf(origin), head(origin)),
    });
    expect(content(checkout)).toBe('1');
    expect(realpathSync(checkout.link)).toBe(realpathSync(checkout.current()?.folder ?? ''));
    expect(await checkout.refresh()).toEqual({ type: 'unchanged', sha: head(origin) });
    expect(statSync(origin.kept).mode & 0o777).toBe(0o700);
  });

  test('moves to a descendant of the last commit, merges included, and does not change the earlier folder', async () => {
    const origin = makeOrigin({ 'config/a.yaml': '1' });
    const checkout = await origin.open();
    await checkout.refresh();
    const before = checkout.current();
    git(origin.folder, ['checkout', '-q', '-b', 'side']);
    origin.commit({ 'config/b.yaml': 'side' });
    git(origin.folder, ['checkout', '-q', 'main']);
    origin.commit({ 'config/a.yaml': '2' });
    git(origin.folder, ['merge', '-q', '--no-ff', '--no-edit', 'side']);
    expect(await checkout.refresh()).toEqual({ type: 'updated', sha: head(origin) });
    expect([content(checkout), content(checkout, 'config/b.yaml')]).toEqual(['2', 'side']);
    expect(readFileSync(path.join(before?.folder ?? '', 'config/a.yaml'), 'utf8')).toBe('1');
    expect(existsSync(path.join(before?.folder ?? '', 'config/b.yaml'))).toBe(false);
  });

  test('keeps the last commit when the branch was rewritten, and reports both commits and the fix', async () => {
    const origin = makeOrigin({ 'config/a.yaml': '1' });
    const first = head(origin);
    const second = origin.commit({ 'config/a.yaml': '2' });
    const checkout = await origin.open();
    await checkout.refresh();
    const rewritten = forcePush(origin, first, 'config/a.yaml');
    const refused = await checkout.refresh();
    expect(refused).toEqual({ type: 'refused', sha: rewritten, reason: expect.any(String) });
    const { reason } = refused as { reason: string };
    for (const word of [
      rewritten,
      second,
      `delete the folder ${origin.kept} to accept`,
      'push a commit that descends',
    ]) {
      expect(reason).toContain(word);
    }
    expect([checkout.current()?.sha, content(checkout)]).toEqual([second, '2']);

    const reopened = await origin.open();
    expect(reopened.current()?.sha).toBe(second);
    expect(await reopened.refresh()).toEqual(refused);
    git(origin.folder, ['merge', '-q', '-s', 'ours', '--no-edit', second]);
    expect(await reopened.refresh()).toEqual({ type: 'updated', sha: head(origin) });
  });

  test('keeps the last commit when the branch was reset or diverged', async () => {
    const origin = makeOrigin({ 'config/a.yaml': '1' });
    const first = head(origin);
    const second = origin.commit({ 'config/a.yaml': '2' });
    const checkout = await origin.open();
    await checkout.refresh();
    git(origin.folder, ['reset', '-q', '--hard', first]);
    expect(await checkout.refresh()).toMatchObject({ type: 'refused', sha: first });
    git(origin.folder, ['checkout', '-q', '--orphan', 'fresh']);
    const orphan = origin.commit({ 'config/a.yaml': '3' });
    git(origin.folder, ['branch', '-f', 'main', orphan]);
    expect(await checkout.refresh()).toMatchObject({ type: 'refused', sha: orphan });
    expect(checkout.current()?.sha).toBe(second);
  });

  test('accepts the commit of the branch after its folder was deleted, also while it is open', async () => {
    const origin = makeOrigin({ 'config/a.yaml': '1' });
    const first = head(origin);
    origin.commit({ 'config/a.yaml': '2' });
    const checkout = await origin.open();
    await checkout.refresh();
    git(origin.folder, ['reset', '-q', '--hard', first]);
    rmSync(origin.kept, { recursive: true });
    expect(await checkout.refresh()).toEqual({ type: 'updated', sha: first });
    expect(content(checkout)).toBe('1');
  });

  test.each([
    ['is missing', { 'other/b': '' }],
    ['is a file', { config: '' }],
  ])('refuses a commit whose path %s', async (_title, files) => {
    const origin = makeOrigin({ 'config/a.yaml': '1' });
    const first = head(origin);
    const checkout = await origin.open();
    await checkout.refresh();
    git(origin.folder, ['rm', '-q', '-r', 'config']);
    const without = origin.commit(files);
    expect(await checkout.refresh()).toEqual({
      type: 'refused',
      sha: without,
      reason: `${without}, at main of file://${origin.folder}, has no YAML file in the folder config; ${first} stays in use: push another commit, or correct \`path\``,
    });
    expect(checkout.current()?.sha).toBe(first);
  });

  test('writes nothing to the disk but the YAML files and links below its path', async () => {
    const origin = makeOrigin({
      'config/a.yaml': '1',
      'config/deep/b.YML': '2',
      'config/notes.md': '3',
      'config/odd.yaml/x.bin': '3',
      'video.bin': '4',
      'other/c.yaml': '5',
    });
    symlinkSync('deep', path.join(origin.folder, 'config/linked'));
    origin.commit({});
    const checkout = await origin.open();
    expect(await checkout.refresh()).toMatchObject({ type: 'updated' });
    const written = readdirSync(checkout.link, { recursive: true }).map(String);
    expect(written.toSorted()).toEqual([
      '.git',
      'config',
      'config/a.yaml',
      'config/deep',
      'config/deep/b.YML',
      'config/linked',
      'config/linked/b.YML',
    ]);
    expect(content(checkout, 'config/linked/b.YML')).toBe('2');
    expect((await origin.open()).current()?.sha).toBe(head(origin));
  });

  test.each([
    ['has 50001 YAML files', 50_001, '', /50001 YAML files .*at most 50000 .* of at most 256 MiB/],
    ['has YAML files of 257 MiB', 257, 'x'.repeat(1024 * 1024), /257 YAML files .*257 MiB/],
    ['has no YAML file', 0, '', /no YAML file/],
  ])('refuses a commit whose path %s, and writes none of them', async (_title, files, text, reason) => {
    const origin = makeOrigin({ 'config/a.yaml': '1', 'other/big': text });
    const first = head(origin);
    const checkout = await origin.open();
    await checkout.refresh();
    const blob = git(origin.folder, ['rev-parse', 'HEAD:other/big']);
    git(origin.folder, ['rm', '-q', 'config/a.yaml']);
    const entry = (n: number): string => `100644 ${blob}\tconfig/f${n}.yaml\n`;
    const entries = `100644 ${blob}\tconfig/x.md\n${Array.from({ length: files }, (_, n) => entry(n)).join('')}`;
    const index = ['update-index', '--index-info'];
    execFileSync('git', index, { cwd: origin.folder, input: entries });
    git(origin.folder, ['commit', '-q', '-m', 'large']);
    const refused = await checkout.refresh();
    expect(refused).toEqual({ type: 'refused', sha: head(origin), reason: expect.stringMatching(reason) });
    expect('reason' in refused && refused.reason).toContain(`${first} stays in use`);
    expect(folderNames(origin)).toEqual([first]);
  });

  test.each(['.', './config/', 'config/sub/..', 'config/sub'])('finds the path %j', async (spelled) => {
    const origin = makeOrigin({ 'config/sub/a.yaml': '1' });
    const checkout = await origin.open({ path: spelled });
    expect(await checkout.refresh()).toMatchObject({ type: 'updated' });
  });

  test('reports a git that is too old for the settings of rolecall', async () => {
    const origin = makeOrigin({ 'config/a.yaml': '1' });
    const folder = workspace({});
    writeFileSync(path.join(folder, 'git'), '#!/bin/sh\necho git version 2.25.1\n', { mode: 0o755 });
    vi.stubEnv('PATH', `${folder}:${process.env['PATH'] ?? ''}`);
    const checkout = await origin.open();
    expect(await checkout.refresh()).toEqual({
      type: 'failed',
      reason: 'the installed git is too old; install git 2.32 or later',
    });
    vi.unstubAllEnvs();
    expect(await checkout.refresh()).toMatchObject({ type: 'updated' });
  });

  test('stops when its signal aborts', async () => {
    const origin = makeOrigin({ 'config/a.yaml': '1' });
    const checkout = await origin.open();
    expect(await checkout.refresh(AbortSignal.abort())).toEqual({ type: 'failed', reason: 'stopped' });
    expect(await checkout.refresh()).toMatchObject({ type: 'updated' });
  });

  test('removes the folders of all commits but the current and the previous one', async () => {
    const origin = makeOrigin({ 'config/a.yaml': '1' });
    const checkout = await origin.open();
    const shas: string[] = [];
    for (const text of ['1', '2', '3', '4']) {
      shas.push(origin.commit({ 'config/a.yaml': text }));
      await checkout.refresh();
    }
    const [first = '', , third = '', fourth = ''] = shas;
    expect(folderNames(origin)).toEqual([third, fourth].toSorted());
    expect(await checkout.refresh()).toMatchObject({ type: 'unchanged' });
    expect(await compareCommits({ file: path.join(checkout.link, 'config/a.yaml') }, first, fourth)).toBe(
      'ancestor',
    );
  });
});

describe('the checkout of a hostile repository', () => {
  test('runs no hooks or filters, and applies no conversions, submodules or tags', async () => {
    const origin = makeOrigin({
      'config/a.yaml': 'one\r\ntwo $Id$ \u00e9\n',
      '.gitattributes': '* text=auto eol=crlf filter=trap ident working-tree-encoding=ISO-8859-1\n',
      'config/b.yaml': 'plain\n',
    });
    const home = workspace({});
    const trap = path.join(home, 'trap');
    writeFileSync(trap, `#!/bin/sh\ntouch ${home}/sprung\ncat\n`, { mode: 0o755 });
    const hooks = path.join(home, 'hooks');
    mkdirSync(hooks);
    for (const hook of ['post-checkout', 'reference-transaction', 'post-merge']) {
      writeFileSync(path.join(hooks, hook), `#!/bin/sh\ntouch ${home}/sprung\n`, { mode: 0o755 });
    }
    const template = path.join(home, 'template/hooks');
    mkdirSync(template, { recursive: true });
    writeFileSync(path.join(template, 'post-checkout'), `#!/bin/sh\ntouch ${home}/sprung\n`, { mode: 0o755 });
    writeFileSync(
      path.join(home, '.gitconfig'),
      `[core]\n hooksPath = ${hooks}\n fsmonitor = ${trap}\n autocrlf = true\n[filter "trap"]\n smudge = ${trap}\n clean = ${trap}\n required = true\n[init]\n templateDir = ${home}/template\n[credential]\n helper = ${trap}\n`,
    );
    git(origin.folder, ['tag', 'v1']);
    git(origin.folder, [
      '-c',
      'protocol.file.allow=always',
      'submodule',
      '--quiet',
      'add',
      origin.folder,
      'config/sub',
    ]);
    origin.commit({});
    vi.stubEnv('HOME', home);
    vi.stubEnv('GIT_DIR', path.join(home, 'elsewhere'));
    vi.stubEnv('GIT_TEMPLATE_DIR', path.join(home, 'template'));
    vi.stubEnv('GIT_EXEC_PATH', home);
    const checkout = await origin.open();
    expect(await checkout.refresh()).toMatchObject({ type: 'updated' });
    expect(content(checkout)).toBe(git(origin.folder, ['show', 'HEAD:config/a.yaml']) + '\n');
    expect(content(checkout, 'config/b.yaml')).toBe('plain\n');
    expect(existsSync(path.join(checkout.link, 'config/sub'))).toBe(false);
    expect(git(path.join(cloneOf(origin), 'repository.git'), ['tag', '--list'])).toBe('');
    vi.unstubAllEnvs();
    vi.stubEnv('HOME', home);
    expect(await (await origin.open()).refresh()).toMatchObject({ type: 'unchanged' });
    expect(await readConfigCommit(path.join(checkout.link, 'config/a.yaml'), [])).toMatchObject({
      dirty: false,
    });
    expect(existsSync(path.join(home, 'sprung'))).toBe(false);
  });

  test('uses no other protocols', async () => {
    const origin = makeOrigin({ 'config/a.yaml': '1' });
    const helper = workspace({});
    writeFileSync(path.join(helper, 'run'), `#!/bin/sh\ntouch ${helper}/sprung\n`, { mode: 0o755 });
    for (const url of [
      `ext::${helper}/run`,
      'git://127.0.0.1:1/x',
      'http://192.0.2.1/x.git',
      'ftp://127.0.0.1:1/x',
    ]) {
      const checkout = await origin.open({ url });
      expect(await checkout.refresh()).toMatchObject({
        type: 'failed',
        reason: expect.stringMatching(/not allowed|transport|protocol/),
      });
    }
    expect(existsSync(path.join(helper, 'sprung'))).toBe(false);
  });
});
