// A store that the disk has damaged: doctor reports it, and a backup recovers it.
import { copyFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { damageTable } from '../support/damage.ts';
import { scene } from '../support/scene.ts';

test('doctor reports a damaged store and writes nothing, and a backup recovers the store', async () => {
  const s = await scene({ file: 'skills: [Go]' });
  await s.apply();
  const [store, backup] = [join(s.folder, 'data/rolecall.db'), join(s.folder, 'backup.db')];
  expect((await s.run(['doctor'])).stdout).toContain('not damaged');
  await s.run(['backup', backup]);
  damageTable(store, 'notices');
  s.configure('skills: [Go, Zig]\nmode: apply');
  s.sandbox.clearRequests();

  const doctor = await s.run(['doctor']);
  expect([doctor.status, doctor.stdout]).toEqual([1, expect.stringContaining('the store is damaged')]);
  expect(s.sandbox.requests().filter(({ method }) => method !== 'GET')).toEqual([]);

  expect(doctor.stdout).toContain('copy a backup to its place');
  for (const part of ['', '-wal', '-shm']) rmSync(`${store}${part}`, { force: true });
  copyFileSync(backup, store);
  expect((await s.run(['doctor'])).status).toBe(0);
  expect((await s.run(['history'])).stdout).toContain('acme');
});
