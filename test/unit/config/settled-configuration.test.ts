// Which content the daemon uses while the files of its configuration change.
import { renameSync, utimesSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { createConfigurationSource, settledConfiguration } from '../../../src/config/configuration-source.ts';
import type { Configuration } from '../../../src/core/settings.ts';
import { createCommitReader } from '../../../src/git/commit.ts';
import { commitAll, git } from '../../support/git.ts';
import { ACCOUNT, SERVICE, workspace } from './workspace.ts';

const QUIET_MS = 300;

const FILES = {
  'rolecall.yaml': SERVICE,
  'accounts/a.yaml': `${ACCOUNT}extends: [../c.yaml]`,
  'c.yaml': 'skills: [A, B]',
};

/** A configuration that is in use. */
async function scene(today = (): string => '2026-06-15', quietMs = QUIET_MS) {
  const folder = workspace(FILES);
  const stop = new AbortController();
  const raw = createConfigurationSource(path.join(folder, 'rolecall.yaml'), createCommitReader(), { today });
  const source = settledConfiguration(raw, stop.signal, quietMs);
  const file = (name: string): string => path.join(folder, name);
  return {
    raw,
    source,
    stop,
    folder,
    file,
    write: (name: string, text: string) => writeFileSync(file(name), text),
    skills: async () => skills(await source.readFor('a')),
  };
}

function skills({ accounts }: Configuration): readonly string[] {
  return accounts.flatMap(({ settings }) => settings?.desired.skill?.map(({ name }) => name) ?? []);
}

/** Makes changes, closer to each other than the quiet time, until `ms` have passed, and checks after each. */
async function whileChanging(
  ms: number,
  change: (n: number) => void,
  check: () => Promise<void>,
): Promise<void> {
  const end = performance.now() + ms;
  for (let n = 0; performance.now() < end; n += 1) {
    change(n);
    await check();
    await new Promise((resolve) => setTimeout(resolve, QUIET_MS / 4));
    await check();
  }
}

describe('new content', () => {
  test('is used when no file has changed for a while, and listeners are called then', async () => {
    const { source, write, skills: used } = await scene();
    expect(await used()).toEqual(['A', 'B']);
    let changes = 0;
    source.onChange(() => (changes += 1));
    const changedAt = performance.now();
    write('c.yaml', 'skills: [A, B, C]');
    expect(await used()).toEqual(['A', 'B']);
    await vi.waitFor(() => expect(changes).toBe(1), 60_000);
    expect(performance.now() - changedAt).toBeGreaterThan(QUIET_MS);
    expect(await used()).toEqual(['A', 'B', 'C']);
  });

  test('is waited for by who asks for it, for a limited time', async () => {
    const { source, file, write, skills: used } = await scene();
    expect(await used()).toEqual(['A', 'B']);
    write('c.yaml', 'skills: [A, B, C]');
    expect(skills(await source.readFor('a', 60_000))).toEqual(['A', 'B', 'C']);
    const timer = setInterval(() => writeFileSync(file('c.yaml'), `skills: [A]\n# ${performance.now()}`), 20);
    onTestFinished(() => clearInterval(timer));
    await vi.waitFor(async () => expect(skills(await source.latestFor('a'))).toEqual(['A']), 60_000);
    expect(skills(await source.readFor('a', QUIET_MS))).toEqual(['A', 'B', 'C']);
  });

  test.each<[string, (n: number, file: (name: string) => string) => void]>([
    ['the same file grows', (n, file) => writeFileSync(file('c.yaml'), `skills: [A]${'\n'.repeat(n)}`)],
    [
      'another file changes between two contents',
      (n, file) => {
        if (n === 0) writeFileSync(file('c.yaml'), 'skills: [A]');
        writeFileSync(file('accounts/a.yaml'), `${FILES['accounts/a.yaml']}${n % 2 === 0 ? '' : '\n'}`);
      },
    ],
    [
      'another file is touched',
      (n, file) => {
        if (n === 0) writeFileSync(file('c.yaml'), 'skills: [A]');
        utimesSync(file('rolecall.yaml'), 1, 1);
      },
    ],
    [
      'a file vanishes and appears again',
      (n, file) => {
        if (n % 2 === 0) renameSync(file('accounts/a.yaml'), file('away'));
        else renameSync(file('away'), file('accounts/a.yaml'));
      },
    ],
    [
      'files appear',
      (n, file) => {
        if (n === 0) writeFileSync(file('c.yaml'), 'skills: [A]');
        writeFileSync(file(`accounts/b${n}.yaml`), ACCOUNT);
      },
    ],
  ])('is not used while %s', async (_, change) => {
    const { file, source } = await scene();
    const before = await source.readFor('a');
    await whileChanging(
      3 * QUIET_MS,
      (n) => change(n, file),
      async () => {
        expect(await source.readFor('a')).toBe(before);
        expect(await source.read()).toBe(before);
      },
    );
  });

  test('is waited for when there is no earlier one', async () => {
    const { file, source } = await scene();
    writeFileSync(file('c.yaml'), 'skills: [A]');
    const first = source.read();
    setTimeout(() => writeFileSync(file('c.yaml'), 'skills: [A, B]'), QUIET_MS / 2);
    expect(skills(await first)).toEqual(['A', 'B']);
  });

  test('is read once when there is no earlier one and the last change is longer ago', async () => {
    const { raw, stop } = await scene();
    await new Promise((resolve) => setTimeout(resolve, QUIET_MS + 50));
    let reads = 0;
    const counted = {
      ...raw,
      read() {
        reads += 1;
        return raw.read();
      },
    };
    expect(skills(await settledConfiguration(counted, stop.signal, QUIET_MS).read())).toEqual(['A', 'B']);
    // The call, and the check that the files are quiet.
    expect(reads).toBe(2);
  });

  test('that the stop keeps from being used calls no listener', async () => {
    const { source, stop, write, skills: used } = await scene();
    await used();
    let changes = 0;
    source.onChange(() => (changes += 1));
    write('c.yaml', 'skills: [A]');
    expect(await used()).toEqual(['A', 'B']);
    stop.abort();
    for (let n = 0; n < 5; n += 1) await source.read();
    expect(changes).toBe(0);
  });

  test('is not waited for after the stop', async () => {
    const { source, stop, write, skills: used } = await scene();
    await used();
    write('c.yaml', 'skills: []');
    await used();
    stop.abort();
    expect(await used()).toEqual(['A', 'B']);
    expect(skills(await source.read())).toEqual(['A', 'B']);
  });

  test('is reported once as not used while files change for long, until they are quiet', async () => {
    const { source, write, skills: used } = await scene(undefined, 50);
    expect(await used()).toEqual(['A', 'B']);
    let n = 0;
    const timer = setInterval(() => write('c.yaml', `skills: [A]\n# ${(n += 1)}`), 10);
    onTestFinished(() => clearInterval(timer));
    await vi.waitFor(async () => expect(n > 0 && (await used()).length).toBe(2), 60_000);
    expect(source.problem()).toBeNull();
    await vi.waitFor(() => expect(source.problem()).toContain('keep changing'), 60_000);
    clearInterval(timer);
    await vi.waitFor(() => expect(source.problem()).toBeNull(), 60_000);
    expect(await used()).toEqual(['A']);
  });

  test('is used at once where only the day has changed', async () => {
    let day = '2026-06-15';
    const { source, write } = await scene(() => day);
    const approval = 'allowedDeletes: [{ kind: skill, name: Old, expires: 2026-06-15 }]';
    write('accounts/a.yaml', `${ACCOUNT}skills: [A]\n${approval}`);
    expect((await source.readFor('a')).issues).toEqual([]);
    day = '2026-06-16';
    expect((await source.readFor('a')).issues).not.toEqual([]);
  });
});

test('the commit is that of the content that is used, while a pull changes the files', async () => {
  const { source, folder, write } = await scene();
  git(folder, ['init', '-q']);
  commitAll(folder, 'first');
  const before = await source.readFor('a');
  const first = await source.commit(before);
  write('c.yaml', 'skills: [A]');
  commitAll(folder, 'second');
  expect(await source.readFor('a')).toBe(before);
  expect((await source.commit(before))?.sha).toBe(first?.sha);
  await vi.waitFor(async () => {
    const now = await source.readFor('a');
    expect(skills(now)).toEqual(['A']);
    expect((await source.commit(now))?.subject).toBe('second');
  }, 60_000);
});

test('a commit of other content does not become that of the content that is used, however it is asked for', async () => {
  const folder = workspace(FILES);
  git(folder, ['init', '-q']);
  commitAll(folder, 'first');
  let nowMs = 0;
  // So far apart that the reader remembers nothing.
  const reader = createCommitReader(() => (nowMs += 60_000));
  const raw = createConfigurationSource(path.join(folder, 'rolecall.yaml'), reader);
  const source = settledConfiguration(raw, new AbortController().signal, QUIET_MS);
  const before = await source.read();
  expect(await source.commit(before)).toMatchObject({ subject: 'first', dirty: false });
  commitAll(folder, 'without a change');
  expect(await source.commit(before)).toMatchObject({ subject: 'without a change', dirty: false });
  writeFileSync(path.join(folder, 'c.yaml'), 'skills: [A]');
  commitAll(folder, 'second');
  expect(await source.commit(before)).toMatchObject({ subject: 'without a change', dirty: false });
  expect(await source.commit()).toMatchObject({ subject: 'without a change' });

  // Content whose commit was not known before its files changed.
  const unknown = settledConfiguration(raw, new AbortController().signal, QUIET_MS);
  const first = await unknown.read();
  writeFileSync(path.join(folder, 'c.yaml'), 'skills: [B]');
  commitAll(folder, 'third');
  expect(await unknown.commit(first)).not.toMatchObject({ subject: 'third', dirty: false });
});

test('content that is not committed stays so while its files change, and while git fails', async () => {
  const { source, folder, file, write } = await scene();
  git(folder, ['init', '-q']);
  commitAll(folder, 'first');
  write('c.yaml', 'skills: [A]');
  const edited = await source.read();
  const changed = async () => [...((await source.commit(edited))?.changed?.values() ?? [])];
  expect(await changed()).toEqual(['c.yaml']);
  write('c.yaml', FILES['c.yaml']);
  write('accounts/a.yaml', `${ACCOUNT}skills: [Z]`);
  expect(await changed()).toEqual(['c.yaml']);
  renameSync(file('.git'), file('away'));
  expect(await changed()).toEqual(['c.yaml']);
});
