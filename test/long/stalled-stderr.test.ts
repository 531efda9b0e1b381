// The daemon when the reader of its stderr stalls, like a log collector that hangs.
import { spawn } from 'node:child_process';
import { expect, onTestFinished, test } from 'vitest';
import { startSandbox } from '../../src/sandbox/sandbox.ts';
import { samplesOf } from '../support/daemon.ts';
import { freePort } from '../support/loopback.ts';
import { makeWorkspace, PROGRAM, QUICK_API, TOKEN_VARIABLE, until } from '../support/workspace.ts';

const DROPPED = 'rolecall_log_lines_dropped_total';

test('a stalled reader of stderr blocks neither responses nor the shutdown, and the log reports dropped lines', async () => {
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
      'defaults: { mode: plan, jitter: 0s, schedule: "* * * * * *" }',
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
  await until('the daemon answers', () =>
    ask('/healthz').then(
      () => true,
      () => false,
    ),
  );

  // Nobody reads stderr: the pipe of 64 KiB and the buffer of 1 MiB fill up.
  let round = 0;
  let brokenAt = -Infinity;
  /** Breaks all files again after a pause, since the daemon reads files that have not changed for two seconds. */
  const breakAgain = (): void => {
    if (performance.now() - brokenAt < 2500) return;
    breakAll((round += 1));
    brokenAt = performance.now();
  };
  await until(
    'lines are dropped',
    async () => {
      breakAgain();
      return (samplesOf(await ask('/metrics')).get(DROPPED) ?? 0) > 0;
    },
    25_000,
  );
  const startedMs = performance.now();
  expect(await ask('/healthz')).toBe('ok\n');
  expect(performance.now() - startedMs).toBeLessThan(250);

  let text = '';
  const read = (chunk: Buffer): void => void (text += chunk.toString());
  child.stderr.on('data', read);
  await until('the daemon reports how many', () => text.includes('"event":"log_dropped"'));
  const report = text.split('\n').find((line) => line.includes('"event":"log_dropped"')) ?? '';
  expect(JSON.parse(report)).toMatchObject({ level: 40, event: 'log_dropped', lines: expect.any(Number) });

  child.stderr.off('data', read).pause();
  const before = samplesOf(await ask('/metrics')).get(DROPPED) ?? 0;
  await until(
    'the reader has stalled again',
    async () => {
      breakAgain();
      return (samplesOf(await ask('/metrics')).get(DROPPED) ?? 0) > before;
    },
    25_000,
  );
  const stoppedMs = performance.now();
  child.kill('SIGTERM');
  expect(await ended).toEqual([0, null]);
  expect(performance.now() - stoppedMs).toBeLessThan(10_000);
});
