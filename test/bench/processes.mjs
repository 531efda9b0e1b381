// Runs complete processes for the benchmark and measures them: duration, processor time and peak memory.
import { spawn } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

const here = (path) => fileURLToPath(new URL(path, import.meta.url));
export const PROGRAM = here('../../dist/main.js');
export const BARE = here('bare.mjs');

/** Runs node to its end. Resolves with `{ ms, cpuMs, peakMb }`; rejects when it does not end with status 0. */
export function measure(folder, args, env = {}) {
  const costFile = join(folder, 'cost.json');
  return new Promise((resolve, reject) => {
    const startedAt = performance.now();
    const child = spawn(process.execPath, ['--import', here('cost.mjs'), ...args], {
      env: { ...process.env, ...env, COST_FILE: costFile },
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    let errors = '';
    child.stderr.setEncoding('utf8').on('data', (text) => (errors += text));
    child.on('error', reject);
    child.on('close', (status) => {
      const ms = performance.now() - startedAt;
      if (status === 0) resolve({ ms, ...JSON.parse(readFileSync(costFile, 'utf8')) });
      else reject(new Error(`node ${args.join(' ')} ended with ${status}: ${errors}`));
    });
  });
}

/** The sandbox in its own process; resolves when it listens. */
export function startSandbox(folder, accounts, latencyMs) {
  const seed = join(folder, 'seed.json');
  writeFileSync(seed, JSON.stringify({ accounts, settings: { latencyMs } }));
  const child = spawn(process.execPath, [PROGRAM, 'sandbox', '--port', '0', '--seed', seed], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  process.once('exit', () => child.kill('SIGKILL'));
  return new Promise((resolve, reject) => {
    let output = '';
    child.stdout.setEncoding('utf8').on('data', (text) => {
      output += text;
      const url = /listens at (\S+)/.exec(output)?.[1];
      if (url !== undefined) resolve({ url, stop: () => child.kill('SIGKILL') });
    });
    child.on('exit', (status) => reject(new Error(`the sandbox ended with ${status}`)));
  });
}

/**
 * Starts a daemon. `measureRuns` makes a change, posts to the paths that `change` returns, and
 * resolves with `{ ms, cpuMs, peakMb }` when so many runs have converged since.
 */
export async function startDaemon(args, env) {
  const child = spawn(process.execPath, args, {
    env: { ...process.env, ...env, HTTP_TOKEN },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  process.once('exit', () => child.kill('SIGKILL'));
  let url;
  let waiting;
  const listening = new Promise((resolve) => (waiting = { count: 0, resolve }));
  createInterface(child.stderr).on('line', (line) => {
    const { event, status, url: address } = JSON.parse(line);
    if (event === 'listening') {
      url = address;
      waiting.resolve();
    }
    if (event !== 'run_ended') return;
    if (status !== 'converged') throw new Error(`a run did not converge: ${line}`);
    waiting.count -= 1;
    if (waiting.count === 0) waiting.resolve();
  });
  await listening;
  return {
    async measureRuns(count, change) {
      const ended = new Promise((resolve) => (waiting = { count, resolve }));
      const before = usageOf(child.pid);
      const startedAt = performance.now();
      const headers = { authorization: `Bearer ${HTTP_TOKEN}`, 'content-type': 'application/json' };
      await Promise.all(change().map((path) => fetch(url + path, { method: 'POST', headers })));
      await ended;
      const { cpuMs, peakMb } = usageOf(child.pid);
      return { ms: performance.now() - startedAt, cpuMs: cpuMs - before.cpuMs, peakMb };
    },
    stop: () => child.kill('SIGKILL'),
  };
}

const HTTP_TOKEN = 'a-token-for-the-bench';

/** Processor time and peak memory of a running process, as Linux counts them. */
function usageOf(pid) {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1].split(' ');
  const peak = /VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))[1];
  return { cpuMs: (Number(fields[11]) + Number(fields[12])) * 10, peakMb: (Number(peak) * 1024) / 1e6 };
}

/**
 * Runs all sides in turn, so that a slow moment of the machine affects each; the first round is a warm-up and is not
 * counted. `sides` are functions of the round. Returns the measures of each side by its name, one a round.
 */
export async function inTurn(rounds, sides) {
  const measures = Object.fromEntries(Object.keys(sides).map((side) => [side, []]));
  for (let round = 0; round <= rounds; round += 1)
    for (const [side, run] of Object.entries(sides)) {
      const measured = await run(round);
      if (round > 0) measures[side].push(measured);
    }
  return measures;
}

export function median(values) {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = sorted.length / 2;
  return (sorted[Math.floor(middle)] + sorted[Math.ceil(middle) - 1]) / 2;
}

/** `{ median, min, max }` of numbers. */
export function summary(values) {
  return { median: median(values), min: Math.min(...values), max: Math.max(...values) };
}
