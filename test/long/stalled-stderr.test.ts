// The daemon when the reader of its stderr stalls, like a log collector that hangs.
import { spawn } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import { startSandbox } from '../../src/sandbox/sandbox.ts';
import { samplesOf } from '../support/daemon.ts';
import { freePort } from '../support/loopback.ts';
import { makeWorkspace, PROGRAM, QUICK_API, TOKEN_VARIABLE, until } from '../support/workspace.ts';

test('a stalled reader of stderr blocks neither runs, responses nor the shutdown', async () => {
  const sandbox = await startSandbox({ seed: { accounts: [{ name: 'acme', token: 'token-of-acme' }] } });
  onTestFinished(() => sandbox.close());
  const workspace = makeWorkspace('token-of-acme');
  const port = await freePort();
  workspace.write(
    'config/rolecall.yaml',
    [
      'accounts: accounts/*.yaml',
      'store: ../data/rolecall.db',
      `api: ${QUICK_API}`,
      'defaults: { mode: plan, schedule: "* * * * * *" }',
      `http: { listen: "127.0.0.1:${port}" }`,
      'log: debug',
      '',
    ].join('\n'),
  );
  // Each reload logs a long line about each of these broken files once they change; each error names the file.
  const breakAll = (round: number): void => {
    for (let file = 0; file < 120; file += 1) {
      const name = `broken-${file}-${'x'.repeat(180)}`;
      workspace.write(`config/accounts/${name}.yaml`, `bad${round}: 1\n${'x: 1\n'.repeat(60)}`);
    }
  };
  workspace.write(
    'config/accounts/acme.yaml',
    `baseUrl: ${sandbox.url}\ntoken: { env: ${TOKEN_VARIABLE} }\nskills: [Go]\n`,
  );
  breakAll(0);
  const child = spawn(
    process.execPath,
    [PROGRAM, '--config', `${workspace.folder}/config/rolecall.yaml`, 'serve'],
    {
      env: { PATH: process.env['PATH'] ?? '', [TOKEN_VARIABLE]: 'token-of-acme' },
      stdio: ['ignore', 'ignore', 'pipe'],
    },
  );
  onTestFinished(() => void child.kill('SIGKILL'));
  const ended = new Promise((resolve) => child.once('exit', (status, signal) => resolve([status, signal])));
  const ask = async (path: string): Promise<string> =>
    await (await fetch(`http://127.0.0.1:${port}${path}`, { signal: AbortSignal.timeout(2000) })).text();
  const runsOf = async (): Promise<number> =>
    samplesOf(await ask('/metrics')).get('rolecall_runs_total{account="acme",status="converged"}') ??
    samplesOf(await ask('/metrics')).get('rolecall_runs_total{account="acme",status="planned"}') ??
    0;
  await until('the daemon answers', () =>
    ask('/healthz').then(
      () => true,
      () => false,
    ),
  );

  // Nobody reads stderr: the pipe of 64 KiB fills up. The daemon reads files that have not changed for two seconds.
  for (let round = 1; round <= 4; round += 1) {
    breakAll(round);
    await sleep(2500);
  }
  const startedMs = performance.now();
  expect(await ask('/healthz')).toBe('ok\n');
  expect(performance.now() - startedMs).toBeLessThan(250);
  const runs = await runsOf();
  await until('runs continue', async () => (await runsOf()) > runs);

  const stoppedMs = performance.now();
  child.kill('SIGTERM');
  expect(await ended).toEqual([0, null]);
  expect(performance.now() - stoppedMs).toBeLessThan(10_000);
});
