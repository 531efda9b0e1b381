// A store that another process is creating: other processes wait, as for every other lock on it.
import { chmodSync, mkdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { SQLite } from '../../src/system/sqlite.ts';
import { expect, onTestFinished, test } from 'vitest';
import { scene } from '../support/scene.ts';

test('a process that opens a store waits while another process creates it', async () => {
  const s = await scene({ file: 'skills: [Go]' });
  const file = join(s.folder, 'data/rolecall.db');
  mkdirSync(join(s.folder, 'data'));
  const maker = new SQLite(file);
  onTestFinished(() => void maker.close());
  maker.exec('begin exclusive');
  chmodSync(file, 0o644);

  const running = s.start(['pause', 'acme']);
  await s.until('it has opened the store', () => (statSync(file).mode & 0o777) === 0o600);
  // For as long as a migration on a slow disk takes.
  await Promise.race([running.ended, new Promise((resolve) => setTimeout(resolve, 500))]);
  maker.exec('rollback');
  maker.close();
  expect(await running.ended).toMatchObject({ status: 0, stderr: '' });
  expect(s.rows('select name, paused from accounts')).toEqual([{ name: 'acme', paused: 1 }]);
});
