// A backup of a store in use.
import { spawn } from 'node:child_process';
import { createRequire } from 'node:module';
import { copyFileSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { DRIVER, SQLite } from '../../../src/system/sqlite.ts';
import { describe, expect, it, onTestFinished } from 'vitest';
import { backupStore } from '../../../src/store/backup.ts';
import { sqliteFixture, newFolder } from './fixture.ts';

/** A process that commits to a store without pause, until the test ends. Resolves after its first commit. */
async function startWriter(file: string): Promise<void> {
  const program = `
    const db = new (require(process.argv[1]))(process.argv[2], { timeout: 5000 });
    db.pragma('synchronous = OFF');
    const write = db.prepare("insert or replace into accounts (name) values ('writer-' || abs(random() % 9))");
    write.run();
    process.stdout.write('ready');
    for (;;) write.run();`;
  const child = spawn(
    process.execPath,
    ['--eval', program, createRequire(import.meta.url).resolve(DRIVER), file],
    {
      stdio: ['ignore', 'pipe', 'inherit'],
    },
  );
  onTestFinished(() => void child.kill('SIGKILL'));
  await new Promise((resolve, reject) => {
    child.stdout.once('data', resolve);
    child.once('exit', reject);
  });
}

describe('a backup', () => {
  it('completes while another process commits without pause, and contains one moment of the store', async () => {
    const store = sqliteFixture();
    await store.begin(1);
    store.execute(
      "with recursive n(i) as (select 1 union all select i + 1 from n where i < 6000) insert into snapshot_bodies select 'd' || i, randomblob(4000) from n",
    );
    await startWriter(store.file);
    const target = join(newFolder(), 'copy.db');
    const { runs, bytes } = await backupStore(store.location, target);
    expect([runs, bytes > 20_000_000]).toEqual([1, true]);
    const copy = new SQLite(target, { readonly: true });
    onTestFinished(() => void copy.close());
    expect(copy.pragma('integrity_check', { simple: true })).toBe('ok');
    expect(copy.pragma('application_id', { simple: true })).toBe(0x726f6c65);
    expect(statSync(target).mode & 0o777).toBe(0o600);
  });

  it('replaces an earlier backup, but neither the store itself nor a store in use', async () => {
    const [store, other] = [sqliteFixture(), sqliteFixture()];
    const target = join(newFolder(), 'copy.db');
    await backupStore(store.location, target);
    await store.begin(1);
    expect((await backupStore(store.location, target)).runs).toBe(1);
    for (const file of [store.file, other.file, `${target}-wal`, `${target}-journal`])
      await expect(backupStore(store.location, file)).rejects.toMatchObject({ code: 'backup_refused' });
  });

  it('does not replace a store that was copied by hand, which may be the only one', async () => {
    const store = sqliteFixture();
    const file = join(newFolder(), 'x.db');
    copyFileSync(store.file, file);
    const before = readFileSync(file, 'latin1');
    await expect(backupStore(store.location, file)).rejects.toMatchObject({ code: 'backup_refused' });
    expect(readFileSync(file, 'latin1') === before).toBe(true);
  });
});
