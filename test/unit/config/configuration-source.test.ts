import type { Configuration } from '../../../src/core/settings.ts';
import { readFileSync, renameSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterEach, describe, expect, test, vi } from 'vitest';
import {
  type ConfigurationSource,
  createConfigurationSource,
} from '../../../src/config/configuration-source.ts';
import { commitAll, git } from '../../support/git.ts';
import { ACCOUNT, SERVICE, workspace } from './workspace.ts';
import { createCommitReader } from '../../../src/git/commit.ts';

afterEach(() => vi.unstubAllEnvs());

interface Scene {
  readonly folder: string;
  readonly source: ConfigurationSource;
  readonly write: (name: string, text: string) => void;
}

function scene(files: Readonly<Record<string, string>>, today = (): string => '2026-06-15'): Scene {
  const folder = workspace({ 'rolecall.yaml': SERVICE, ...files });
  return {
    folder,
    source: createConfigurationSource(
      path.join(folder, 'rolecall.yaml'),
      createCommitReader(() => 0),
      { today },
    ),
    write: (name, text) => writeFileSync(path.join(folder, name), text),
  };
}

function account(token: string, text = ''): string {
  return `${ACCOUNT.replace('A_TOKEN', token)}${text}`;
}

function settings(loaded: Configuration, name: string) {
  return loaded.accounts.find((found) => found.name === name)?.settings;
}

function skills(loaded: Configuration, name: string): readonly string[] | undefined {
  return settings(loaded, name)?.desired.skill?.map((entry) => entry.name);
}

describe('reading the configuration again', () => {
  test('returns the same object while no content changes, even after a file was touched or replaced by an equal one', async () => {
    const { source, folder } = scene({ 'accounts/a.yaml': account('A') });
    const first = await source.read();
    const file = path.join(folder, 'accounts/a.yaml');
    utimesSync(file, 1, 1);
    writeFileSync(`${file}.new`, readFileSync(file));
    renameSync(`${file}.new`, file);
    expect(await source.read()).toBe(first);
    expect(await source.readFor('a')).toBe(first);
  });

  test('notices a change that keeps the size and the time of modification of a file', async () => {
    const { source, write, folder } = scene({ 'accounts/a.yaml': account('A', 'skills: [A]') });
    const file = path.join(folder, 'accounts/a.yaml');
    utimesSync(file, 1, 1);
    for (const name of ['B', 'C', 'D']) {
      await source.read();
      write('accounts/a.yaml', account('A', `skills: [${name}]`));
      utimesSync(file, 1, 1);
      const reading = name === 'C' ? source.readFor('a') : source.read();
      expect(skills(await reading, 'a')).toEqual([name]);
    }
  });

  test('parses only the file that has changed', async () => {
    const { source, write } = scene({
      'accounts/a.yaml': account('A', 'skills: [A]'),
      'accounts/b.yaml': account('B', 'skills: [B]'),
    });
    const before = await source.read();
    write('accounts/a.yaml', account('A', 'skills: [C]'));
    const after = await source.read();
    expect(skills(after, 'a')).toEqual(['C']);
    expect(settings(after, 'b')).toBe(settings(before, 'b'));
  });

  test.each<[string, Readonly<Record<string, string>>, string]>([
    ['the catalog', { 'c.yaml': 'skills: [Another]' }, 'Another'],
    ['the regions', { 'rolecall.yaml': SERVICE.replace('eu.', 'eu2.') }, 'https://eu2.example.com'],
    ['the defaults', { 'rolecall.yaml': `${SERVICE}defaults: { timezone: Europe/Berlin }` }, 'Europe/Berlin'],
    ['the api', { 'rolecall.yaml': `${SERVICE}api: { retries: 7 }` }, '"retries":7'],
  ])('for one account notices a change of %s', async (_title, files, expected) => {
    const { source, write } = scene({
      'accounts/a.yaml': account('A', 'extends: [../c.yaml]'),
      'c.yaml': 'skills: [A]',
    });
    const before = await source.readFor('a');
    expect(JSON.stringify(before)).not.toContain(expected);
    for (const [name, text] of Object.entries(files)) write(name, text);
    const after = await source.readFor('a');
    expect(JSON.stringify([after.service, settings(after, 'a')])).toContain(expected);
  });

  test('for one account reads the files of the others only when its own file has changed', async () => {
    const { source, write } = scene({
      'accounts/a.yaml': account('A', 'skills: [A]'),
      'accounts/b.yaml': account('B', 'skills: [B]'),
    });
    const before = await source.readFor('a');
    write('accounts/b.yaml', account('B', 'skills: [C]'));
    expect(await source.readFor('a')).toBe(before);
    write('accounts/a.yaml', account('A', 'skills: [D]'));
    const after = await source.readFor('a');
    expect([skills(after, 'a'), skills(after, 'b')]).toEqual([['D'], ['C']]);
  });

  test('keeps the valid accounts beside a broken file, and loads that file again when it is fixed', async () => {
    const { source, write, folder } = scene({
      'accounts/a.yaml': account('A'),
      'accounts/b.yaml': account('B'),
    });
    const sound = await source.read();
    write('accounts/a.yaml', 'region: [');
    const broken = await source.readFor('a');
    expect(settings(broken, 'a')).toBeUndefined();
    expect(broken.issues).not.toEqual([]);
    expect(settings(broken, 'b')).toBe(settings(sound, 'b'));
    expect(await source.readFor('a')).toBe(broken);
    rmSync(path.join(folder, 'accounts/a.yaml'));
    expect((await source.readFor('a')).accounts.map(({ name }) => name)).toEqual(['b']);
    write('accounts/a.yaml', account('A'));
    expect((await source.readFor('a')).issues).toEqual([]);
  });

  test('detects two accounts with one token as soon as one of them is read', async () => {
    const { source, write } = scene({ 'accounts/a.yaml': account('A'), 'accounts/b.yaml': account('B') });
    await source.read();
    write('accounts/b.yaml', account('A'));
    const conflicting = await source.readFor('b');
    expect(conflicting.accounts.map((found) => found.settings)).toEqual([undefined, undefined]);
    write('accounts/b.yaml', account('B'));
    expect((await source.readFor('b')).issues).toEqual([]);
  });

  test('notices on a new day that an approval has expired, and parses no other file', async () => {
    let today = '2026-06-15';
    const { source } = scene(
      {
        'accounts/a.yaml': account(
          'A',
          'skills: []\nallowedDeletes: [{ kind: skill, name: Perl, expires: 2026-06-15 }]',
        ),
        'accounts/b.yaml': account('B'),
      },
      () => today,
    );
    const before = await source.readFor('a');
    expect(before.issues).toEqual([]);
    today = '2026-06-16';
    expect(await source.readFor('b')).toBe(before);
    const after = await source.readFor('a');
    expect(after.issues).toMatchObject([
      { severity: 'warning', message: expect.stringContaining('expired') },
    ]);
    expect(settings(after, 'b')).toBe(settings(before, 'b'));
  });

  test('is done once for many callers, and a caller during a reading gets later changes too', async () => {
    const { source, write } = scene({ 'accounts/a.yaml': account('A', 'skills: [A]') });
    const together = await Promise.all(Array.from({ length: 50 }, () => source.readFor('a')));
    expect(new Set(together).size).toBe(1);
    const early = source.read();
    await Promise.resolve();
    await Promise.resolve();
    write('accounts/a.yaml', account('A', 'skills: [B]'));
    const late = await Promise.all([source.readFor('a'), source.read()]);
    await early;
    expect(late.map((loaded) => skills(loaded, 'a'))).toEqual([['B'], ['B']]);
  });
});

describe('the commit of a configuration that is read again', () => {
  function committed(): Scene & { readonly config: string; first: string; wait: (ms: number) => void } {
    const folder = workspace({
      'config/rolecall.yaml': SERVICE,
      'config/accounts/a.yaml': account('A'),
      'config/accounts/b.yaml': account('B'),
    });
    let now = 0;
    git(folder, ['init', '-q']);
    const config = path.join(folder, 'config');
    return {
      folder,
      config,
      first: commitAll(folder, 'first'),
      source: createConfigurationSource(
        path.join(config, 'rolecall.yaml'),
        createCommitReader(() => now),
      ),
      wait: (ms) => (now += ms),
      write: (name, text) => writeFileSync(path.join(config, name), text),
    };
  }

  test.each<[string, (folder: string) => void]>([
    ['a commit', (folder) => commitAll(folder, 'second')],
    ['a checkout of another branch', (folder) => git(folder, ['checkout', '-q', 'side'])],
  ])('is the new one within a second after %s', async (_title, change) => {
    const { source, folder, wait } = committed();
    git(folder, ['checkout', '-q', '-b', 'side']);
    commitAll(folder, 'on the side');
    git(folder, ['checkout', '-q', 'main']);
    const before = await source.commit();
    change(folder);
    const head = git(folder, ['rev-parse', 'HEAD']);
    expect(head).not.toBe(before?.sha);
    wait(1000);
    expect((await source.commit())?.sha).toBe(head);
  });

  test('is the new one immediately after a pull, in a worktree too', async () => {
    const { folder, write } = committed();
    const clone = path.join(workspace({}), 'clone');
    git(folder, ['clone', '-q', folder, clone]);
    const tree = path.join(workspace({}), 'tree');
    git(clone, ['worktree', 'add', '-q', '-b', 'work', tree]);
    git(tree, ['branch', '-q', '--set-upstream-to=origin/main']);
    for (const place of [clone, tree]) {
      const source = createConfigurationSource(
        path.join(place, 'config/rolecall.yaml'),
        createCommitReader(() => 0),
      );
      await source.readFor('a');
      expect((await source.commit())?.sha).toBe(git(place, ['rev-parse', 'HEAD']));
      write('accounts/a.yaml', account('A', `skills: [${path.basename(place)}]`));
      const pushed = commitAll(folder, 'more');
      git(place, ['pull', '-q', '--ff-only']);
      expect(skills(await source.readFor('a'), 'a')).toEqual([path.basename(place)]);
      expect(await source.commit()).toMatchObject({ sha: pushed, dirty: false });
    }
  });

  test('names the files of each account that differ from it, its catalogs and the service file included', async () => {
    const { source, write, folder } = committed();
    write('accounts/b.yaml', account('B', 'extends: [../c.yaml]'));
    write('c.yaml', 'skills: [C]');
    commitAll(folder, 'catalog');
    const differing = async (): Promise<unknown> => {
      const { accounts } = await source.read();
      const { changed = new Map<string, string>() } = (await source.commit()) ?? {};
      return accounts.map(({ files = [] }) => files.flatMap((file) => changed.get(file) ?? []));
    };
    expect(await differing()).toEqual([[], []]);
    write('c.yaml', 'skills: [D]');
    write('stray', '');
    expect(await differing()).toEqual([[], ['config/c.yaml']]);
    write('rolecall.yaml', `${SERVICE}defaults: { mode: apply }`);
    expect(await differing()).toEqual([['config/rolecall.yaml'], ['config/rolecall.yaml', 'config/c.yaml']]);
  });
});
