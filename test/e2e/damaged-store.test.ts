// A store that the disk has damaged: every command says so, with the commands that recover it, and they do.
import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { damageTable } from '../support/damage.ts';
import { scene } from '../support/scene.ts';

test('a damaged store is found by doctor and by the daemon, which writes nothing, and a backup recovers it', async () => {
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
  // The shell says that there is no log beside the store; the rest of the line does its work.
  execFileSync('sh', ['-c', commands.replace('BACKUP', backup)], { stdio: 'ignore' });
  expect(existsSync(`${store}.damaged/rolecall.db`)).toBe(true);
  expect((await s.run(['doctor'])).status).toBe(0);
  expect((await s.run(['history'])).stdout).toContain('acme');
});
