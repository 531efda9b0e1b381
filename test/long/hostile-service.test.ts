// A daemon with healthy accounts beside one account for each large or slow response: its own responses stay fast,
// healthy accounts run in time, and its memory stays below the limit of the shipped unit. ROLECALL_HOSTILE_SECONDS sets
// how long.
import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, onTestFinished, test } from 'vitest';
import { type Daemon, startDaemon } from '../support/daemon.ts';
import { makeMemoryCgroup } from '../support/memory-cgroup.ts';
import { makeWorkspace, type Workspace } from '../support/workspace.ts';

const SECONDS = Number(process.env['ROLECALL_HOSTILE_SECONDS'] ?? 120);
const HEALTHY = 20;
const INTERVAL_S = 10;
const HOSTILE = 'full full-held tiny large bomb repeated deep name endless space drip silent refusal'.split(
  ' ',
);

/** `MemoryMax=` of the shipped unit, in bytes. */
function memoryLimit(): number {
  const unit = readFileSync(new URL('../../config/deploy/systemd/rolecall.service', import.meta.url), 'utf8');
  const megabytes = Number(/^MemoryMax=(\d+)M$/m.exec(unit)?.[1]);
  expect(megabytes).toBeGreaterThan(100);
  return megabytes * 1024 * 1024;
}

async function startService(): Promise<string> {
  const file = fileURLToPath(new URL('../support/hostile-service.mjs', import.meta.url));
  const child = spawn(process.execPath, [file], { stdio: ['ignore', 'pipe', 'inherit'] });
  onTestFinished(() => void child.kill('SIGKILL'));
  return await new Promise((resolve) => {
    child.stdout.setEncoding('utf8').once('data', (line: string) => resolve(line.trim()));
  });
}

function configure(workspace: Workspace, url: string): void {
  workspace.write(
    'config/rolecall.yaml',
    [
      'accounts: accounts/*.yaml',
      'store: ../data/rolecall.db',
      'api: { requestsPerSecond: 100, timeout: 10s, settle: 11s, retries: 1 }',
      `defaults: { schedule: "*/${INTERVAL_S} * * * * *", mode: plan }`,
      'http: { listen: 127.0.0.1:0 }',
      '',
    ].join('\n'),
  );
  const account = (name: string, address: string, lines: string): void =>
    workspace.write(
      `config/accounts/${name}.yaml`,
      [`baseUrl: ${address}/${name}`, 'token: { env: ACME_TOKEN }', lines, ''].join('\n'),
    );
  for (let number = 0; number < HEALTHY; number += 1) account(`healthy-${number}`, url, 'skills: [Go]');
  for (const name of HOSTILE)
    account(name, url.replace('127.0.0.1', 'localhost'), HOSTILE_FILES[name] ?? 'skills: [Go]');
}

/**
 * `full-held` lists none of the entries, so that all deletes are held; `full` manages only the entries that it lists.
 */
const HOSTILE_FILES: Readonly<Record<string, string>> = {
  full: 'skills: [Go]\nroles: [Dev]\npolicy: { ownership: managed }',
  'full-held': 'skills: [Go]\nroles: [Dev]',
};

interface Measured {
  readonly healthz: readonly number[];
  readonly peakMb: number;
}

/** The resident memory of a process and its children at this moment, in MB. */
function memoryOf(pid: number): number {
  try {
    const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim();
    const rss = Number(/^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0);
    return (
      rss / 1000 +
      children
        .split(' ')
        .filter(Boolean)
        .reduce((sum, child) => sum + memoryOf(Number(child)), 0)
    );
  } catch {
    // A child that has ended meanwhile.
    return 0;
  }
}

/** Requests /healthz twenty times a second, and reads the memory once a second. */
async function watch(daemon: Daemon): Promise<Measured> {
  const healthz: number[] = [];
  let peakMb = 0;
  const end = Date.now() + SECONDS * 1000;
  while (Date.now() < end) {
    const startedAt = performance.now();
    expect((await daemon.get('/healthz')).status).toBe(200);
    healthz.push(performance.now() - startedAt);
    if (healthz.length % 20 === 0) {
      peakMb = Math.max(peakMb, memoryOf(daemon.process.pid ?? 0));
    }
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  return { healthz: healthz.toSorted((a, b) => a - b), peakMb };
}

test(
  'hostile responses of services delay neither the responses of the daemon nor healthy accounts',
  { timeout: (SECONDS + 120) * 1000 },
  async () => {
    const workspace = makeWorkspace('token-of-acme');
    configure(workspace, await startService());
    const limit = memoryLimit();
    const cgroup = makeMemoryCgroup(limit);
    if (cgroup === null)
      console.log('no memory control group can be made here, so the limit is only compared');
    const daemon = await startDaemon(workspace);
    cgroup?.add(daemon.process.pid ?? 0);
    const { healthz, peakMb } = await watch(daemon);
    const at = (share: number): number => Math.round(healthz[Math.floor(healthz.length * share)] ?? 0);
    const runs = Array.from({ length: HEALTHY }, (_, number) =>
      daemon.runsEnded(`healthy-${number}`, 'planned'),
    );
    const hostile = Object.fromEntries(
      HOSTILE.map((name) => {
        const ended = daemon.events('run_ended', name) as readonly {
          status?: string;
          code?: string;
          seconds?: number;
        }[];
        const seconds = ended.map((run) => run.seconds ?? 0);
        return [
          name,
          `${ended.length} × ${ended.at(-1)?.status ?? ''} ${ended.at(-1)?.code ?? ''} ${Math.max(0, ...seconds)} s`,
        ];
      }),
    );
    console.log({
      seconds: SECONDS,
      healthz: { p50: at(0.5), p99: at(0.99), worst: at(1 - 1e-9) },
      peakMb,
      cgroup: cgroup && { limit, peak: cgroup.peakBytes(), kills: cgroup.kills() },
      runs,
      hostile,
    });
    expect(at(0.99)).toBeLessThan(100);
    expect(peakMb * 1e6).toBeLessThan(limit);
    if (cgroup !== null) expect(cgroup.kills()).toBe(0);
    // The documented limit of the daemon's own responses, whatever one account does.
    expect(at(1 - 1e-9)).toBeLessThan(250);
    // A run at the start and one for each tick; one may be under way at the end.
    const ticks = Math.floor(SECONDS / INTERVAL_S);
    expect(Math.min(...runs)).toBeGreaterThanOrEqual(ticks - 1);
    await daemon.stop();
  },
);
