// Accounts whose secrets are named pipes, beside a valid account: they fail with the path of the pipe and block
// nothing.
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { EVERY_SECOND, startDaemon, WITH_TOKEN } from '../support/daemon.ts';
import { scene, TOKEN, tokenVariable } from '../support/scene.ts';
import { until } from '../support/workspace.ts';

test('six accounts whose token files are pipes block neither the daemon’s other account nor its shutdown', async () => {
  const s = await scene({
    file: 'mode: apply\nskills: [Go]',
    service: `defaults: { schedule: ${EVERY_SECOND}, jitter: 0s }\n${WITH_TOKEN}`,
  });
  for (const name of ['a', 'b', 'c', 'd', 'e', 'f']) {
    execFileSync('mkfifo', [join(s.folder, `pipe-${name}`)]);
    s.write(
      `config/accounts/${name}.yaml`,
      `baseUrl: ${s.sandbox.url}\ntoken: { file: ../../pipe-${name} }\nskills: [Go]\n`,
    );
  }
  const daemon = await startDaemon(s, { env: { [tokenVariable('acme')]: TOKEN } });
  await until('every pipe failed, and the other account ran again after that', () => {
    const failed = ['a', 'b', 'c', 'd', 'e', 'f'].every((name) => daemon.runsEnded(name, 'failed') > 0);
    return failed && daemon.runsEnded('acme', 'converged') > 2;
  });
  expect(daemon.output().stderr).toMatch(
    /the token of account a: the file [^"]*pipe-a is not a regular file but a named pipe \(FIFO\); write the path/u,
  );
  await daemon.stop();
});

test('a plan whose token file or api.caFile is a pipe fails', async () => {
  const s = await scene({ file: 'skills: [Go]' });
  execFileSync('mkfifo', [join(s.folder, 'pipe')]);
  s.write(
    'config/accounts/acme.yaml',
    `baseUrl: ${s.sandbox.url}\ntoken: { file: ../../pipe }\nskills: [Go]\n`,
  );
  const token = await s.run(['plan']);
  expect(token.status).toBe(1);
  expect(token.stdout + token.stderr).toContain('is not a regular file');
  const warned = await s.run(['validate']);
  expect(warned).toMatchObject({ status: 0, stdout: expect.stringContaining('is not a regular file') });
  expect((await s.run(['validate', '--require-secrets'])).status).toBe(4);
  s.configure('skills: [Go]');
  s.write('config/rolecall.yaml', 'store: ../data/rolecall.db\napi: { caFile: ../pipe }\n');
  const authorities = await s.run(['plan'], { env: { [tokenVariable('acme')]: TOKEN } });
  expect(authorities.stdout + authorities.stderr).toContain('api.caFile cannot be read (irregular)');
});
