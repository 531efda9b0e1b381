// The cost of rolecall: complete processes of the built program, compared with a bare undici loop with the same
// requests. Run `npm run build` first. It measures and never fails on a number. `npm run bench -- 9` makes nine runs of
// each.
import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { cpus, tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const here = (path) => fileURLToPath(new URL(path, import.meta.url));
const PROGRAM = here('../../dist/main.js');
const BARE = here('bare.mjs');
const RUNS = Number(process.argv[2] ?? 5);
const LATENCY_MS = 20;
const folder = mkdtempSync(join(tmpdir(), 'rolecall-bench-'));

// ── processes ──────────────────────────────────────────────────────────────────────────────────────────────────────

/** Runs node to its end, and resolves with its duration in milliseconds. */
function time(args, env = {}) {
  return new Promise((resolve, reject) => {
    const startedAt = performance.now();
    const child = spawn(process.execPath, args, {
      env: { ...process.env, ...env },
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    let errors = '';
    child.stderr.setEncoding('utf8').on('data', (text) => (errors += text));
    child.on('error', reject);
    child.on('close', (status) => {
      const tookMs = performance.now() - startedAt;
      if (status === 0) resolve(tookMs);
      else reject(new Error(`node ${args.join(' ')} ended with ${status}: ${errors}`));
    });
  });
}

/** The sandbox in its own process; resolves when it listens. */
function startSandbox(accounts, latencyMs) {
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

// ── what is measured ───────────────────────────────────────────────────────────────────────────────────────────────

/** A configuration of one account. Only concurrency limits its speed. Returns the arguments for it. */
function configure(name, url, lists) {
  const root = join(folder, name);
  mkdirSync(join(root, 'accounts'), { recursive: true });
  const policy =
    '{ maxDeletes: 100000, maxDeletesPerDay: 100000, maxDeletePercent: 100, allowNoPeople: true }';
  writeFileSync(
    join(root, 'rolecall.yaml'),
    `accounts: accounts/*.yaml\nstore: data/rolecall.db\napi: { concurrency: 8, requestsPerSecond: 10000 }\ndefaults: { policy: ${policy} }\n`,
  );
  const yaml = Object.entries(lists).map(([kind, names]) => `${kind}: ${JSON.stringify(names)}\n`);
  writeFileSync(
    join(root, `accounts/${name}.yaml`),
    `baseUrl: ${url}\ntoken: { env: BENCH_TOKEN }\n${yaml.join('')}`,
  );
  return ['--config', join(root, 'rolecall.yaml')];
}

/**
 * Runs both in turn, so that a slow moment of the machine affects both; the first pair is a warm-up and is not counted.
 */
async function compare(ours, bare) {
  const pairs = [];
  for (let run = 0; run <= RUNS; run += 1) pairs.push({ ours: await ours(run), bare: await bare(run) });
  const counted = pairs.slice(1);
  return {
    ours: median(counted.map((pair) => pair.ours)),
    bare: median(counted.map((pair) => pair.bare)),
    ratio: median(counted.map((pair) => pair.ours / pair.bare)),
    extra: median(counted.map((pair) => pair.ours - pair.bare)),
    spread: counted.map((pair) => pair.bare),
  };
}

function median(values) {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = sorted.length / 2;
  return (sorted[Math.floor(middle)] + sorted[Math.ceil(middle) - 1]) / 2;
}

const numbered = (what, count) => Array.from({ length: count }, (_, index) => `${what} ${index}`);
const tokenOf = (account) => ({ BENCH_TOKEN: `token-${account}` });
const rolecall = (account, config, ...args) => time([PROGRAM, ...config, ...args], tokenOf(account));

/** Real names and numbered ones, ten thousand in total; some people have some of them. */
function bigAccount() {
  const { skills, roles } = JSON.parse(readFileSync(here('../../config/demo/onet-names.json'), 'utf8'));
  const all = [...skills, ...numbered('Extra skill', 10_000 - skills.length - roles.length)];
  const resources = Array.from({ length: 500 }, (_, index) => ({
    role: roles[index],
    skills: all.slice(index * 10, index * 10 + 8),
  }));
  return { name: 'big', token: 'token-big', skills: all, roles, resources };
}

async function measurePlans() {
  const big = bigAccount();
  const sandbox = await startSandbox([big], LATENCY_MS);
  const lists = { skills: big.skills, roles: big.roles };
  const bare = () => time([BARE, sandbox.url, big.token, 'plan']);
  const config = configure('big', sandbox.url, lists);
  const again = await compare(() => rolecall('big', config, 'plan'), bare);
  const first = await compare((run) => {
    const fresh = join(folder, `fresh-${run}`);
    mkdirSync(fresh);
    const text = readFileSync(config[1], 'utf8').replace('store: data', `store: ${fresh}`);
    writeFileSync(join(folder, 'big/first.yaml'), text);
    return rolecall('big', ['--config', join(folder, 'big/first.yaml')], 'plan');
  }, bare);
  const peakFile = join(folder, 'peak');
  const peaks = [];
  for (let run = 0; run < RUNS; run += 1) {
    await time(['--import', here('peak.mjs'), PROGRAM, ...config, 'plan'], {
      ...tokenOf('big'),
      PEAK_FILE: peakFile,
    });
    peaks.push(Number(readFileSync(peakFile, 'utf8')) / 1e6);
  }
  sandbox.stop();
  return { again, first, peak: median(peaks) };
}

/** A thousand writes; each run of each side has its own account. */
async function measureWrites(job) {
  const seeded = job === 'delete' ? [...numbered('Kept', 10), ...numbered('Gone', 1000)] : [];
  const accounts = numbered('n', RUNS + 1).flatMap((_, run) =>
    ['ours', 'bare'].map((side) => ({ name: `${side}${run}`, token: `token-${side}${run}`, skills: seeded })),
  );
  const sandbox = await startSandbox(accounts, LATENCY_MS);
  const skills = job === 'delete' ? numbered('Kept', 10) : numbered('Made', 1000);
  const result = await compare(
    (run) => {
      const name = `ours${run}`;
      rmSync(join(folder, name), { recursive: true, force: true });
      return rolecall(
        name,
        configure(name, sandbox.url, { skills }),
        'apply',
        '--yes',
        '--accept-no-history',
      );
    },
    (run) => time([BARE, sandbox.url, `token-bare${run}`, job, '1000']),
  );
  result.requests = await requestsOf(sandbox, RUNS);
  sandbox.stop();
  return result;
}

/** How many requests each side sent in one run: the comparison is fair if the numbers are equal. */
async function requestsOf(sandbox, run) {
  const log = await (await fetch(`${sandbox.url}/_sandbox/requests`)).json();
  return ['ours', 'bare']
    .map((side) => log.filter(({ account }) => account === `${side}${run}`).length)
    .join(' / ');
}

async function measureStarts() {
  const skills = numbered('Skill', 10);
  const sandbox = await startSandbox([{ name: 'small', token: 'token-small', skills }], 0);
  const config = configure('small', sandbox.url, { skills });
  const bareNode = () => time(['-e', '0']);
  const help = await compare(() => time([PROGRAM, '--help']), bareNode);
  const plan = await compare(() => rolecall('small', config, 'plan'), bareNode);
  sandbox.stop();
  return { help, plan };
}

// ── the table ──────────────────────────────────────────────────────────────────────────────────────────────────────

const ms = (value) => `${Math.round(value)} ms`;

/** Each row: job, rolecall, bare, the compared figure, the goal, whether it was met. */
function row(what, { ours, bare, spread }, figure, aim, met) {
  // A bare loop that sometimes takes longer shows a busy machine, on which no figure is reliable.
  const range = `${Math.round(Math.min(...spread))}–${Math.round(Math.max(...spread))}`;
  return [what, ms(ours), ms(bare), range, figure, aim, met === null ? '' : met ? 'yes' : 'NO'];
}

function print(rows) {
  const widths = rows[0].map((_, column) => Math.max(...rows.map((cells) => cells[column].length)));
  for (const cells of rows)
    console.log(
      cells
        .map((cell, column) => cell.padEnd(widths[column]))
        .join('  ')
        .trimEnd(),
    );
}

try {
  console.log(
    `Node ${process.version}, ${cpus().length} processors, medians of ${RUNS} runs after a warm-up,`,
  );
  console.log(
    `complete processes; a sandbox in its own process that answers after ${LATENCY_MS} ms (0 ms for the starts).\n`,
  );
  const { help, plan } = await measureStarts();
  const { again, first, peak } = await measurePlans();
  const creates = await measureWrites('create');
  const deletes = await measureWrites('delete');
  const times = ({ ratio }) => `${ratio.toFixed(2)}x`;
  const over = ({ extra }) => `+${ms(extra)}`;
  print([
    ['job', 'rolecall', 'bare', 'bare min–max', 'figure', 'aim', 'met'],
    row('1,000 creates', creates, times(creates), '≤ 1.15x', creates.ratio <= 1.15),
    row('1,000 deletes', deletes, times(deletes), '≤ 1.15x', deletes.ratio <= 1.15),
    row('plan of 10,000 unchanged', again, over(again), '≤ +350 ms', again.extra <= 350),
    row('  the same, an empty store', first, over(first), '≤ +350 ms', first.extra <= 350),
    ['  its peak memory', '', '', '', `${peak.toFixed(0)} MB`, '< 140 MB', peak < 140 ? 'yes' : 'NO'],
    row('--help, beside node -e 0', help, over(help), '≤ +25 ms', help.extra <= 25),
    row('plan of 10, beside node -e 0', plan, over(plan), '', null),
  ]);
  console.log(
    `\nRequests of one run, rolecall / bare: creates ${creates.requests}, deletes ${deletes.requests}.`,
  );
} finally {
  rmSync(folder, { recursive: true, force: true });
}
