// A store that the disk has damaged: doctor and the daemon report it with the commands that recover it, and these work.
import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { damageTable } from '../support/damage.ts';
import { scene } from '../support/scene.ts';

test('doctor and the daemon report a damaged store, write nothing, and a backup recovers the store', async () => {
  const s = await scene({ file: 'skills: [Go]', service: 'http: { listen: 127.0.0.1:0 }' });
  await s.apply();
  const [store, backup] = [join(s.folder, 'data/rolecall.db'), join(s.folder, 'backup.db')];
  expect((await s.run(['doctor'])).stdout).toContain('not damaged');
  await s.run(['backup', backup]);
  damageTable(store, 'notices');
  s.configure('skills: [Go, Zig]\nmode: apply');
  s.sandbox.clearRequests();

  const doctor = await s.run(['doctor']);
  expect([doctor.status, doctor.stdout]).toEqual([1, expect.stringContaining('the store is damaged')]);
  const serve = await s.run(['serve']);
  expect([serve.status, serve.stderr]).toEqual([1, expect.stringContaining('"event":"store_damaged"')]);
  expect(serve.stderr).toMatch(/^error: .*the store is damaged .* To recover: /m);
  expect(s.sandbox.requests()).toEqual([]);

  const commands = /run `(mkdir .*?)`/.exec(serve.stderr.slice(serve.stderr.indexOf('error: ')))?.[1] ?? '';
  // The shell reports that the store has no write-ahead log; the rest of the line still runs.
  execFileSync('sh', ['-c', commands.replace('BACKUP', backup)], { stdio: 'ignore' });
  expect(existsSync(`${store}.damaged/rolecall.db`)).toBe(true);
  expect((await s.run(['doctor'])).status).toBe(0);
  expect((await s.run(['history'])).stdout).toContain('acme');
});
