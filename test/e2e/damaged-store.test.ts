// A store that the disk has damaged: validate --online reports it, and a backup recovers it.
import { copyFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { damageTable } from '../support/damage.ts';
import { scene } from '../support/scene.ts';

test('validate --online reports a damaged store and writes nothing, and a backup recovers the store', async () => {
  const s = await scene({ file: 'skills: [Go]' });
  await s.apply();
  const [store, backup] = [join(s.folder, 'data/rolecall.db'), join(s.folder, 'backup.db')];
  expect((await s.run(['validate', '--online'])).stdout).toContain('not damaged');
  await s.run(['backup', backup]);
  damageTable(store, 'notices');
  s.configure('skills: [Go, Zig]\nmode: apply');
  s.sandbox.clearRequests();

  const checked = await s.run(['validate', '--online']);
  expect([checked.status, checked.stdout]).toEqual([1, expect.stringContaining('the store is damaged')]);
  expect(s.sandbox.requests().filter(({ method }) => method !== 'GET')).toEqual([]);

  expect(checked.stdout).toContain('copy a backup to its place');
  for (const part of ['', '-wal', '-shm']) rmSync(`${store}${part}`, { force: true });
  copyFileSync(backup, store);
  expect((await s.run(['validate', '--online'])).status).toBe(0);
  expect((await s.run(['history'])).stdout).toContain('acme');
});
