// A run with 200,000 held changes ends, and its pages and JSON are read: the daemon answers others meanwhile.
import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { expect, onTestFinished, test } from 'vitest';
import { type Daemon, ONCE_A_YEAR, startDaemon } from '../support/daemon.ts';
import { makeWorkspace, until } from '../support/workspace.ts';

async function startService(): Promise<string> {
  const file = fileURLToPath(new URL('../support/hostile-service.mjs', import.meta.url));
  const child = spawn(process.execPath, [file], { stdio: ['ignore', 'pipe', 'inherit'] });
  onTestFinished(() => void child.kill('SIGKILL'));
  return await new Promise((resolve) => {
    child.stdout.setEncoding('utf8').once('data', (line: string) => resolve(line.trim()));
  });
}

/** The longest wait for /healthz during the work, after a first request, in milliseconds. */
async function worstDelay(daemon: Daemon, work: Promise<unknown>): Promise<number> {
  await daemon.get('/healthz');
  let worstMs = 0;
  let isDone = false;
  const done = work.finally(() => (isDone = true));
  while (!isDone) {
    const startedAt = performance.now();
    expect((await daemon.get('/healthz')).status).toBe(200);
    worstMs = Math.max(worstMs, performance.now() - startedAt);
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  await done;
  return Math.round(worstMs);
}

/** Reads a response and returns its length. The text is not stored, so that this process stays fast too. */
async function read(
  daemon: Daemon,
  path: string,
): Promise<{ readonly status: number; readonly bytes: number }> {
  const reply = await fetch(daemon.url + path);
  let bytes = 0;
  for await (const piece of reply.body ?? []) bytes += piece.length;
  return { status: reply.status, bytes };
}

/** Reads the beginning of a response and closes the connection. */
async function leaveEarly(daemon: Daemon, path: string): Promise<void> {
  const leaving = new AbortController();
  const reply = await fetch(daemon.url + path, { signal: leaving.signal });
  await reply.body?.getReader().read();
  leaving.abort();
}

test(
  'a run with 200,000 held changes delays no response of the daemon when it ends, when it is read and after a restart',
  { timeout: 600_000 },
  async () => {
    const url = await startService();
    const workspace = makeWorkspace('token-of-acme');
    const configure = (runOnStart: boolean): void =>
      workspace.write(
        'config/rolecall.yaml',
        [
          'accounts: accounts/*.yaml',
          'store: ../data/rolecall.db',
          'api: { requestsPerSecond: 100, timeout: 60s, settle: 61s, recheck: 100ms, retries: 1 }',
          `defaults: { schedule: ${ONCE_A_YEAR}, jitter: 0s, mode: plan }`,
          `daemon: { runOnStart: ${String(runOnStart)} }`,
          'http: { listen: 127.0.0.1:0 }',
          '',
        ].join('\n'),
      );
    configure(true);
    workspace.write(
      'config/accounts/acme.yaml',
      `baseUrl: ${url}/full-held\ntoken: { env: ACME_TOKEN }\nskills: [Go]\nroles: [Dev]\n`,
    );
    const first = await startDaemon(workspace);
    const delays: Record<string, number> = {};
    delays['run'] = await worstDelay(
      first,
      until('the run has ended', () => first.runsEnded('acme') > 0, 300_000),
    );
    expect(first.runsEnded('acme', 'planned')).toBe(1);
    const id = first.events('run_ended', 'acme')[0]?.runId ?? '';
    const held = [...(await first.metrics())].filter(([name]) => name.startsWith('rolecall_held{'));
    expect(held.reduce((sum, [, count]) => sum + count, 0)).toBeGreaterThanOrEqual(200_000);
    const sizes: Record<string, number> = {};
    const paths = [`/runs/${id}`, '/accounts/acme', `/api/v1/runs/${id}`, '/api/v1/accounts/acme', '/'];
    for (const path of paths) {
      const answer = read(first, path);
      delays[path.replace(id, 'ID')] = await worstDelay(first, answer);
      const { status, bytes } = await answer;
      expect(status).toBe(200);
      sizes[path.replace(id, 'ID')] = bytes;
    }
    delays['left early'] = await worstDelay(first, leaveEarly(first, `/api/v1/runs/${id}`));
    await first.stop();

    configure(false);
    const second = await startDaemon(workspace);
    const shown = async (): Promise<boolean> =>
      [...(await second.metrics()).keys()].some((name) => name.startsWith('rolecall_held{'));
    delays['restart'] = await worstDelay(second, until('the gauges are restored', shown, 60_000));
    expect([...(await second.metrics())].filter(([name]) => name.startsWith('rolecall_held{'))).toEqual(held);
    await second.stop();
    console.log({ delays, sizes });
    expect(sizes['/api/v1/runs/ID']).toBeGreaterThan(50_000_000);
    expect(Math.max(...Object.values(delays))).toBeLessThan(250);
  },
);
