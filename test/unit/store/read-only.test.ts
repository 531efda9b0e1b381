// A store on a read-only medium.
import { execFileSync } from 'node:child_process';
import { copyFileSync, mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { openSqliteStore } from '../../../src/store/sqlite/open-sqlite-store.ts';
import { failure, sqliteFixture, newFolder } from './fixture.ts';

/** The same folder, mounted where nothing can be written; null where mounting is not permitted. */
function readOnlyView(file: string): string | null {
  const view = join(newFolder(), 'view');
  mkdirSync(view);
  try {
    execFileSync('mount', ['--bind', dirname(file), view], { stdio: 'ignore' });
    onTestFinished(() => void execFileSync('umount', ['-l', view]));
    execFileSync('mount', ['-o', 'remount,ro,bind', view], { stdio: 'ignore' });
  } catch {
    return null;
  }
  return join(view, basename(file));
}

const filesOf = (file: string) =>
  readdirSync(dirname(file)).map((name) => [name, readFileSync(join(dirname(file), name)).toString('hex')]);
const copies = () => readdirSync(tmpdir()).filter((name) => /^rolecall-\w{6}$/.test(name));

async function runIds(file: string): Promise<string[]> {
  const store = openSqliteStore(file, { readOnly: true });
  onTestFinished(() => store.close());
  return (await store.reader.runs({ limit: 9 })).map(({ id }) => id);
}

describe('a store on a read-only medium', () => {
  it('is read after its process has closed it', async (context) => {
    const file = join(newFolder(), 'x.db');
    const store = openSqliteStore(file);
    await store.journal.beginRun({ ...RUN, id: '01900000-0000-7000-8000-000000000001' });
    await store.close();
    const view = readOnlyView(file);
    if (view === null) return context.skip('nothing can be mounted here');
    const before = filesOf(file);
    expect(await runIds(view)).toEqual(['01900000-0000-7000-8000-000000000001']);
    expect(filesOf(file)).toEqual(before);
    expect(copies()).toEqual([]);
  });

  it('is read including the log of a killed process', async (context) => {
    const store = sqliteFixture();
    const id = await store.begin(1);
    const file = join(newFolder(), 'x.db');
    for (const part of ['', '-wal']) copyFileSync(`${store.file}${part}`, `${file}${part}`);
    const view = readOnlyView(file);
    if (view === null) return context.skip('nothing can be mounted here');
    const before = filesOf(file);
    expect(await runIds(view)).toEqual([id]);
    expect(filesOf(file)).toEqual(before);
  });

  it('is read while another process writes it elsewhere', async (context) => {
    const store = sqliteFixture();
    const view = readOnlyView(store.file);
    if (view === null) return context.skip('nothing can be mounted here');
    const one = await store.begin(1);
    expect(await runIds(view)).toEqual([one]);
    const two = await store.begin(2);
    expect(await runIds(view)).toEqual([two, one]);
  });

  it('is not opened for writing, and the error code is store_readonly', async (context) => {
    const view = readOnlyView(sqliteFixture().file);
    if (view === null) return context.skip('nothing can be mounted here');
    expect(failure(() => openSqliteStore(view)).code).toBe('store_readonly');
  });
});

describe('a store that is opened for reading', () => {
  it('returns values that only a newer version defines', async () => {
    const store = sqliteFixture();
    const id = await store.begin(1);
    await store.end(id);
    store.execute("update runs set status = 'postponed', trigger = 'moon', mode = 'dream'");
    expect((await store.reader.runs({ limit: 1 }))[0]).toMatchObject({ id, status: 'postponed' });
  });
});

const RUN = {
  account: 'acme',
  trigger: 'cli',
  mode: 'apply',
  startedAtMs: 0,
  configDigest: null,
  configCommit: null,
} as const;
