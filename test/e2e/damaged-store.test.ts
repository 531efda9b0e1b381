// A store that the disk has damaged: validate --online reports it with the commands that recover it, and these work.
import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
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

  const commands = /run `(mkdir .*?)`/.exec(checked.stdout)?.[1] ?? '';
  // The shell reports that the store has no write-ahead log; the rest of the line still runs.
  execFileSync('sh', ['-c', commands.replace('BACKUP', backup)], { stdio: 'ignore' });
  expect(existsSync(`${store}.damaged/rolecall.db`)).toBe(true);
  expect((await s.run(['validate', '--online'])).status).toBe(0);
  expect((await s.run(['history'])).stdout).toContain('acme');
});
