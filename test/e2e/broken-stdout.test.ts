// A stdout that cannot be written: the run continues to its end, and the exit status reports the incomplete output.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { scene, TOKEN, tokenVariable, QUICK } from '../support/scene.ts';

const PROGRAM = fileURLToPath(new URL('../../dist/main.js', import.meta.url));

test.each<[string, string, number, string]>([
  ['is full', '>/dev/full', 1, 'error: cannot write to stdout (ENOSPC); the output is incomplete'],
  ['is a closed pipe', '| true; exit ${PIPESTATUS[0]}', 0, ''],
])('an apply whose stdout %s writes to the service and is journaled', async (_, to, status, error) => {
  const s = await scene({ api: QUICK, file: 'skills: [Go, Rust]' });
  const command = `${process.execPath} ${PROGRAM} --config ${join(s.folder, 'config/rolecall.yaml')} apply --yes ${to}`;
  const env = { PATH: process.env['PATH'] ?? '', [tokenVariable('acme')]: TOKEN };
  const shell = spawn('bash', ['-c', command], { env, stdio: ['ignore', 'ignore', 'pipe'] });
  let stderr = '';
  shell.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text));
  const [exit] = (await once(shell, 'close')) as [number];
  expect([exit, stderr.trim()]).toEqual([status, error]);
  expect(s.names().skills).toEqual(['Go', 'Rust']);
  expect(s.rows('select status, created from runs')).toEqual([{ status: 'converged', created: 2 }]);
});
