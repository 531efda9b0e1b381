// The cost of rolecall: complete processes of the built program, beside bare loops that send the same requests in the same
// rounds. Run `npm run build` first. It measures and never fails on a number. README.md describes the options.
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { cpus, loadavg, tmpdir, totalmem } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { BARE, inTurn, measure, PROGRAM, startSandbox, summary } from './processes.mjs';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { json: { type: 'string' }, only: { type: 'string' }, against: { type: 'string' } },
});
/** The built programs that are measured. */
const PROGRAMS = {
  rolecall: PROGRAM,
  ...(values.against === undefined ? {} : { against: resolve(values.against) }),
};
const ROUNDS = Number(positionals[0] ?? 5);
const LATENCY_MS = 20;
const folder = mkdtempSync(join(tmpdir(), 'rolecall-bench-'));

// ── the jobs ───────────────────────────────────────────────────────────────────────────────────────────────────────

const numbered = (what, count) => Array.from({ length: count }, (_, index) => `${what} ${index}`);

/** Real names and numbered ones, `count` in total; some people have some of them. */
function account(count) {
  const onet = new URL('./onet-names.json', import.meta.url);
  const names = JSON.parse(readFileSync(onet, 'utf8'));
  const roles = names.roles.slice(0, count / 10);
  const all = [...names.skills, ...numbered('Extra skill', count)].slice(0, count - roles.length);
  const resources = Array.from({ length: count / 20 }, (_, index) => ({
    role: roles[index % roles.length],
    skills: all.slice(index * 10, index * 10 + 8),
  }));
  return { name: 'planned', token: 'token-planned', skills: all, roles, resources };
}

/** A configuration of one account, with a store for each side. Only concurrency limits its speed. Returns the arguments. */
function configure(side, name, url, lists) {
  const root = join(folder, side, name);
  rmSync(root, { recursive: true, force: true });
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

const rolecall = (side, token, config, ...args) =>
  measure(folder, [PROGRAMS[side], ...config, ...args], { BENCH_TOKEN: token });
/** A side for each program. */
const programs = (run) => Object.fromEntries(Object.keys(PROGRAMS).map((side) => [side, run(side)]));
const bareLoop = (client, url, token, ...job) => measure(folder, [BARE, client, url, token, ...job]);

async function measurePlan(count) {
  const planned = account(count);
  const sandbox = await startSandbox(folder, [planned], LATENCY_MS);
  const lists = { skills: planned.skills, roles: planned.roles };
  const measures = await inTurn(ROUNDS, {
    ...programs((side) => {
      const config = configure(side, 'planned', sandbox.url, lists);
      return () => rolecall(side, planned.token, config, 'plan');
    }),
    http: () => bareLoop('http', sandbox.url, planned.token, 'plan'),
    undici: () => bareLoop('undici', sandbox.url, planned.token, 'plan'),
  });
  sandbox.stop();
  return { measures };
}

/** Many writes; each round of each side has its own account. */
async function measureWrites(job, count) {
  const seeded = job === 'delete' ? [...numbered('Kept', 10), ...numbered('Gone', count)] : [];
  const sides = [...Object.keys(PROGRAMS), 'http', 'undici'];
  const accounts = numbered('n', ROUNDS + 1).flatMap((_, round) =>
    sides.map((side) => ({ name: `${side}${round}`, token: `token-${side}${round}`, skills: seeded })),
  );
  const sandbox = await startSandbox(folder, accounts, LATENCY_MS);
  const skills = job === 'delete' ? numbered('Kept', 10) : numbered('Made', count);
  const apply = ['apply', '--yes', '--accept-no-history'];
  const measures = await inTurn(ROUNDS, {
    ...programs((side) => (round) => {
      const name = `${side}${round}`;
      return rolecall(side, `token-${name}`, configure(side, name, sandbox.url, { skills }), ...apply);
    }),
    http: (round) => bareLoop('http', sandbox.url, `token-http${round}`, job, String(count)),
    undici: (round) => bareLoop('undici', sandbox.url, `token-undici${round}`, job, String(count)),
  });
  sandbox.stop();
  return { measures };
}

async function measureStart(args) {
  const skills = numbered('Skill', 10);
  const sandbox = await startSandbox(folder, [{ name: 'small', token: 'token-small', skills }], 0);
  const measures = await inTurn(ROUNDS, {
    ...programs((side) => {
      const config = args.includes('--help') ? [] : configure(side, 'small', sandbox.url, { skills });
      return () => rolecall(side, 'token-small', config, ...args);
    }),
    node: () => measure(folder, ['-e', '0']),
  });
  sandbox.stop();
  return { measures };
}

const JOBS = {
  help: ['rolecall --help, beside node -e 0', () => measureStart(['--help'])],
  'plan-10': ['plan of 10 entries, beside node -e 0', () => measureStart(['plan'])],
  'plan-1000': ['plan of 1,000 unchanged entries', () => measurePlan(1000)],
  'plan-10000': ['plan of 10,000 unchanged entries', () => measurePlan(10_000)],
  'create-1000': ['1,000 creates', () => measureWrites('create', 1000)],
  'delete-1000': ['1,000 deletes', () => measureWrites('delete', 1000)],
  'create-10000': ['10,000 creates', () => measureWrites('create', 10_000)],
};

// ── the table ──────────────────────────────────────────────────────────────────────────────────────────────────────

/** The medians and ranges of each side. Ratios are of one round each: to the loop of node:http, or to bare Node.js. */
function summarise({ measures }) {
  const yardstick = measures.http ?? measures.node;
  const sides = Object.entries(measures).map(([side, rounds]) => [
    side,
    {
      ms: summary(rounds.map(({ ms }) => ms)),
      cpuMs: summary(rounds.map(({ cpuMs }) => cpuMs)),
      peakMb: summary(rounds.map(({ peakMb }) => peakMb)),
      ratio: summary(rounds.map(({ ms }, round) => ms / yardstick[round].ms)),
    },
  ]);
  return Object.fromEntries(sides);
}

const range = ({ median, min, max }, digits) =>
  `${median.toFixed(digits)} (${min.toFixed(digits)}–${max.toFixed(digits)})`;

function rowsOf(title, sides) {
  return Object.entries(sides).map(([side, { ms, ratio, cpuMs, peakMb }], index) => [
    index === 0 ? title : '',
    side,
    range(ms, 0),
    range(ratio, 2),
    range(cpuMs, 0),
    range(peakMb, 0),
  ]);
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
  const only = values.only?.split(',') ?? Object.keys(JOBS);
  const unknown = only.filter((name) => !Object.hasOwn(JOBS, name));
  if (unknown.length > 0) {
    console.error(`--only has no job ${unknown.join(', ')}; the jobs are ${Object.keys(JOBS).join(', ')}`);
    process.exit(64);
  }
  const machine = {
    node: process.version,
    processors: cpus().length,
    model: cpus()[0]?.model ?? 'unknown',
    memoryGb: Math.round(totalmem() / 2 ** 30),
    load: Number(loadavg()[0].toFixed(1)),
  };
  console.log(
    `Node.js ${machine.node}, ${machine.processors} processors (${machine.model}), ${machine.memoryGb} GB, load ${machine.load}; medians (ranges) of ${ROUNDS} rounds after a warm-up; complete processes; the sandbox answers after ${LATENCY_MS} ms (0 ms beside node -e 0).\n`,
  );
  const jobs = {};
  const rows = [['job', 'side', 'ms', 'ratio', 'CPU ms', 'peak MB']];
  for (const name of only) {
    const [title, run] = JOBS[name];
    jobs[name] = summarise(await run());
    rows.push(...rowsOf(title, jobs[name]));
  }
  print(rows);
  if (values.json !== undefined)
    writeFileSync(
      values.json,
      `${JSON.stringify({ machine, rounds: ROUNDS, latencyMs: LATENCY_MS, jobs }, null, 2)}\n`,
    );
} finally {
  rmSync(folder, { recursive: true, force: true });
}
