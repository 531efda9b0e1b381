// One account of 20,000 entries and 50,000 people among 200: the daemon answers health checks and shows the
// pages of its runs within a second meanwhile.
import { createServer } from 'node:http';
import { Worker } from 'node:worker_threads';
import { expect, onTestFinished, test } from 'vitest';
import { startDaemon } from '../support/daemon.ts';
import { listen } from '../support/loopback.ts';
import { makeWorkspace, until } from '../support/workspace.ts';

const OF_KIND = 10_000;
const PEOPLE = 50_000;
const OTHERS = 199;

const idOf = (prefix: string, number: number): string => `${prefix}${String(number).padStart(23, '0')}`;
const numbers = (count: number): readonly number[] => Array.from({ length: count }, (_, index) => index);

/** A service with the large account; the other accounts are empty. */
async function startService(): Promise<string> {
  const entries = (kind: string): string =>
    JSON.stringify(
      numbers(OF_KIND).map((n) => ({
        _id: idOf(kind.charAt(0), n),
        name: `${kind} number ${n}`,
        accountId: 'big',
      })),
    );
  const people = numbers(PEOPLE).map((n) => ({
    _id: idOf('p', n),
    accountId: 'big',
    roleId: idOf('r', n % OF_KIND),
    skillsIds: numbers(8).map((k) => idOf('s', (n * 7 + k * 131) % OF_KIND)),
    dailyCapacity: 8,
  }));
  const lists: Readonly<Record<string, string>> = {
    skill: entries('skill'),
    role: entries('role'),
    resource: JSON.stringify(people),
  };
  return await listen(
    createServer((request, response) => {
      const isBig = request.headers.authorization === 'Bearer token-big';
      const list = lists[request.url?.split('/').at(-1) ?? ''] ?? '[]';
      response.setHeader('content-type', 'application/json').end(isBig ? list : '[]');
    }),
  );
}

/** Requests /healthz in a thread of its own until it is stopped, since this process makes large lists. */
function startProbe(url: string): { readonly end: () => Promise<number[]> } {
  const program = `
    const { parentPort, workerData } = require('node:worker_threads');
    const delays = [];
    parentPort.once('message', () => { parentPort.postMessage(delays); process.exit(); });
    (async () => {
      for (;;) {
        const startedMs = performance.now();
        await (await fetch(workerData)).text();
        delays.push(performance.now() - startedMs);
        await new Promise((resolve) => setTimeout(resolve, 10));
      }
    })();`;
  const worker = new Worker(program, { eval: true, workerData: `${url}/healthz` });
  return {
    end: async () => {
      const delays = new Promise<number[]>((resolve) => worker.once('message', resolve));
      worker.postMessage('end');
      return await delays;
    },
  };
}

test.each(['unchanged', 'held'] as const)(
  'an account of 20,000 %s entries and 50,000 people delays no answer of the daemon by a second',
  { timeout: 300_000 },
  async (scene) => {
    const url = await startService();
    const workspace = makeWorkspace('unused');
    workspace.write(
      'config/rolecall.yaml',
      [
        'accounts: accounts/*.yaml',
        'store: ../data/rolecall.db',
        'defaults: { mode: apply, schedule: "*/15 * * * * *" }',
        'http: { listen: 127.0.0.1:0 }',
        '',
      ].join('\n'),
    );
    const env: Record<string, string> = { T_BIG: 'token-big' };
    const list = (kind: string): string =>
      `${kind}s: [${numbers(scene === 'held' ? 1 : OF_KIND)
        .map((n) => `${kind} number ${n}`)
        .join(', ')}]\n`;
    const account = (token: string): string => `baseUrl: ${url}\ntoken: { env: ${token} }\n`;
    workspace.write(
      'config/accounts/big.yaml',
      `${account('T_BIG')}policy: { delete: unused }\n${list('skill')}${list('role')}`,
    );
    for (const number of numbers(OTHERS)) {
      env[`T_${number}`] = `token-${number}`;
      workspace.write(`config/accounts/a${number}.yaml`, `${account(`T_${number}`)}skills: []\n`);
    }
    const daemon = await startDaemon(workspace, { env });
    onTestFinished(() => void daemon.process.kill('SIGKILL'));
    const probe = startProbe(daemon.url);
    await until('the account ran three times', () => daemon.runsEnded('big') >= 3, 240_000);
    const runId = daemon.events('run_ended', 'big').at(-1)?.runId ?? '';
    const pages = ['/accounts/big', `/runs/${runId}`, `/runs/${runId}?held=50`, `/api/v1/runs/${runId}`, '/'];
    const median: Record<string, number> = {};
    for (const path of pages) {
      const took: number[] = [];
      // Long enough for several runs of the account.
      for (const _ of numbers(15)) {
        const startedMs = performance.now();
        const response = await fetch(`${daemon.url}${path}`);
        took.push(performance.now() - startedMs);
        expect([path, response.status]).toEqual([path, 200]);
        await response.text();
        await new Promise((resolve) => setTimeout(resolve, 200));
      }
      median[path] = Math.round(took.toSorted((a, b) => a - b)[7] ?? 0);
    }
    console.log({ scene, median });
    for (const path of pages) expect([path, (median[path] ?? Infinity) < 1000]).toEqual([path, true]);
    const most = Math.max(...(await probe.end()));
    console.log({ scene, most });
    expect(most).toBeLessThan(1000);
    await daemon.stop();
  },
);
