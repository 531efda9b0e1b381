// The cost of rolecall: complete processes of the built program, beside the smallest loops that send the same requests in
// the same rounds. Run `npm run build` first. It measures and never fails on a number. README.md describes the options.
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { cpus, loadavg, tmpdir, totalmem } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { BARE, inTurn, measure, PROGRAM, startDaemon, startSandbox, summary } from './processes.mjs';

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
/** The requests of one account at a time, `api.concurrency`. */
const CONCURRENCY = 8;
const GIT_SETTINGS = ['-c', 'user.name=bench', '-c', 'user.email=bench@example.com', '-c', 'gc.auto=0'];
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
  const policy = '{ maxDeletes: 100000, maxDeletePercent: 100, allowNoPeople: true }';
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
const SIDES = [...Object.keys(PROGRAMS), 'limit'];
const limit = (url, inFlight, tokens, ...job) =>
  measure(folder, [BARE, url, String(inFlight), [tokens].flat().join(','), ...job]);

/** The limit requests only one list: no plan can be made sooner. */
async function measurePlan(count) {
  const planned = account(count);
  const sandbox = await startSandbox(folder, [planned], LATENCY_MS);
  const lists = { skills: planned.skills, roles: planned.roles };
  const measures = await inTurn(ROUNDS, {
    ...programs((side) => {
      const config = configure(side, 'planned', sandbox.url, lists);
      return () => rolecall(side, planned.token, config, 'plan');
    }),
    limit: () => limit(sandbox.url, CONCURRENCY, planned.token, 'list'),
  });
  sandbox.stop();
  return { measures };
}

/** Many writes; each round of each side has its own account. */
async function measureWrites(job, count) {
  const seeded = job === 'delete' ? [...numbered('Kept', 10), ...numbered('Gone', count)] : [];
  const accounts = numbered('n', ROUNDS + 1).flatMap((_, round) =>
    SIDES.map((side) => ({ name: `${side}${round}`, token: `token-${side}${round}`, skills: seeded })),
  );
  const sandbox = await startSandbox(folder, accounts, LATENCY_MS);
  const skills = job === 'delete' ? numbered('Kept', 10) : numbered('Made', count);
  const measures = await inTurn(ROUNDS, {
    ...programs((side) => async (round) => {
      const name = `${side}${round}`;
      const config = configure(side, name, sandbox.url, { skills });
      // Without history, lists are read twice with a pause before the first create.
      await rolecall(side, `token-${name}`, config, 'plan');
      return rolecall(side, `token-${name}`, config, 'apply', '--yes');
    }),
    limit: (round) => limit(sandbox.url, CONCURRENCY, `token-limit${round}`, job, String(count)),
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

// ── a fleet ────────────────────────────────────────────────────────────────────────────────────────────────────────

const FLEET = 300;
const FLEET_SKILLS = numbered('Skill', 50);
const HOST_CONCURRENCY = 32;
const fleetTokens = (side) => numbered(`token-${side}`, FLEET).map((token) => token.replace(' ', '-'));
const fleetEnv = (side) =>
  Object.fromEntries(fleetTokens(side).map((token, index) => [`TOKEN_${index}`, token]));

/** A sandbox with a fleet for each side. */
function startFleets() {
  const accounts = SIDES.flatMap(fleetTokens).map((token) => ({ name: token, token, skills: FLEET_SKILLS }));
  return startSandbox(folder, accounts, LATENCY_MS);
}

/** Writes the account files of a fleet, and `rolecall.yaml` with the lines. Returns the arguments. */
function configureFleet(side, url, skills, ...lines) {
  const root = join(folder, side, 'fleet');
  mkdirSync(join(root, 'accounts'), { recursive: true });
  const yaml = skills.map((skill) => `  - ${skill}\n`).join('');
  for (let index = 0; index < FLEET; index += 1)
    writeFileSync(
      join(root, `accounts/account-${index}.yaml`),
      `baseUrl: ${url}\ntoken: { env: TOKEN_${index} }\nskills:\n${yaml}`,
    );
  const service = ['accounts: accounts/*.yaml', 'store: data/rolecall.db', ...lines, ''];
  writeFileSync(join(root, 'rolecall.yaml'), service.join('\n'));
  return ['--config', join(root, 'rolecall.yaml')];
}

/** A name more in each round. */
const grown = (round) => [...FLEET_SKILLS, ...numbered('Made', round + 1)];

/** The plan of a fleet in which nothing changed, or one create in each account. */
async function measureFleet(job) {
  const sandbox = await startFleets();
  const args = job === 'plan' ? ['plan'] : ['apply', '--all', '--yes'];
  const measures = await inTurn(ROUNDS, {
    ...programs((side) => (round) => {
      const config = configureFleet(side, sandbox.url, job === 'plan' ? FLEET_SKILLS : grown(round));
      return measure(folder, [PROGRAMS[side], ...config, ...args], fleetEnv(side));
    }),
    limit: () => limit(sandbox.url, HOST_CONCURRENCY, fleetTokens('limit'), job),
  });
  sandbox.stop();
  return { measures };
}

/** A commit that adds a name to each account of a daemon, which is requested to run all: from the change to the last run. */
async function measureDaemon() {
  const sandbox = await startFleets();
  const lines = [
    'defaults: { mode: apply, schedule: "0 0 1 1 *" }',
    `http: { listen: 127.0.0.1:0, token: { env: HTTP_TOKEN } }`,
  ];
  const daemons = {};
  for (const side of Object.keys(PROGRAMS)) {
    const config = configureFleet(side, sandbox.url, FLEET_SKILLS, ...lines);
    const git = (...args) =>
      execFileSync('git', ['-C', join(folder, side, 'fleet'), ...GIT_SETTINGS, ...args]);
    git('init', '--quiet');
    writeFileSync(join(folder, side, 'fleet/.gitignore'), 'data/\n');
    const commit = () => [git('add', '.'), git('commit', '--quiet', '--message', 'Change all accounts')];
    commit();
    daemons[side] = {
      commit,
      ...(await startDaemon([PROGRAMS[side], ...config, 'serve'], fleetEnv(side))),
    };
  }
  const measures = await inTurn(ROUNDS, {
    ...programs((side) => (round) => {
      const { commit, measureRuns } = daemons[side];
      return measureRuns(FLEET, () => {
        configureFleet(side, sandbox.url, grown(round), ...lines);
        commit();
        return numbered('account', FLEET).map((name) => `/api/v1/accounts/${name.replace(' ', '-')}/sync`);
      });
    }),
    limit: () => limit(sandbox.url, HOST_CONCURRENCY, fleetTokens('limit'), 'apply'),
  });
  for (const { stop } of Object.values(daemons)) stop();
  sandbox.stop();
  return { measures };
}

const JOBS = {
  'fleet-plan': ['plan of 300 accounts of 50 skills', () => measureFleet('plan')],
  'fleet-apply': ['one create in each of 300 accounts', () => measureFleet('apply')],
  'fleet-daemon': ['daemon: a commit that changes 300 accounts', measureDaemon],
  'plan-1000': ['plan of 1,000 unchanged entries, beside one list', () => measurePlan(1000)],
  'plan-10000': ['plan of 10,000 unchanged entries, beside one list', () => measurePlan(10_000)],
  'create-1000': ['1,000 creates', () => measureWrites('create', 1000)],
  'delete-1000': ['1,000 deletes', () => measureWrites('delete', 1000)],
  help: ['rolecall --help, beside node -e 0', () => measureStart(['--help'])],
  'plan-10': ['plan of 10 entries, beside node -e 0', () => measureStart(['plan'])],
  'create-10000': ['10,000 creates', () => measureWrites('create', 10_000)],
};
/** This job takes several minutes and is measured only by its name. */
const DEFAULT_JOBS = Object.keys(JOBS).filter((name) => name !== 'create-10000');

// ── the table ──────────────────────────────────────────────────────────────────────────────────────────────────────

/** The medians and ranges of each side. Ratios are of one round each: to the limit, or to bare Node.js. */
function summarise({ measures }) {
  const yardstick = measures.limit ?? measures.node;
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
  const only = values.only?.split(',') ?? DEFAULT_JOBS;
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
