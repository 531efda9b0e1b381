// The cost of a daemon with many accounts: `rolecall serve` as a process, against a sandbox in another one, with 20 ms
// of latency. Run `npm run build` first. `npm run bench:daemon -- --accounts 1000 --minutes 5 --windows 2`. `--json
// FILE` writes the figures that test/long/node-versions.mjs compares; `--heap MB` limits the heap of the daemon.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { Worker } from 'node:worker_threads';
import { SQLite } from '../../dist/sqlite.js';

const PROGRAM = fileURLToPath(new URL('../../dist/main.js', import.meta.url));
const { values } = parseArgs({
  options: {
    accounts: { type: 'string', default: '1000' },
    entries: { type: 'string', default: '200' },
    minutes: { type: 'string', default: '5' },
    windows: { type: 'string', default: '2' },
    json: { type: 'string' },
    heap: { type: 'string' },
  },
});
const [ACCOUNTS, ENTRIES, MINUTES, WINDOWS] = [
  values.accounts,
  values.entries,
  values.minutes,
  values.windows,
].map(Number);
const LATENCY_MS = 20;
const JITTER_MS = Math.min(30_000, MINUTES * 6000);
const folder = mkdtempSync(join(tmpdir(), 'rolecall-bench-daemon-'));

const names = (prefix, count) => Array.from({ length: count }, (_, index) => `${prefix} ${index}`);
const skills = names('Skill', Math.round(ENTRIES * 0.8));
const roles = names('Role', ENTRIES - skills.length);

function start(args, env, ready) {
  const limit =
    values.heap === undefined || args[0] === 'sandbox' ? [] : [`--max-old-space-size=${values.heap}`];
  const child = spawn(process.execPath, [...limit, PROGRAM, ...args], {
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  process.once('exit', () => child.kill('SIGKILL'));
  const output = { text: '', errors: 0 };
  return new Promise((resolve, reject) => {
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding('utf8').on('data', (text) => {
        if (output.text.length < 1e6) output.text += text;
        output.errors += text.match(/"level":[56]0/g)?.length ?? 0;
        const match = ready.exec(output.text);
        if (match !== null) resolve({ child, url: match[1], output });
      });
    }
    child.on('exit', (status) =>
      reject(new Error(`${args[0]} ended with ${status}: ${output.text.slice(-2000)}`)),
    );
  });
}

/** CPU seconds and resident bytes of a process, as Linux counts them. */
function usageOf(pid) {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1].split(' ');
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  return {
    cpuSeconds: (Number(fields[11]) + Number(fields[12])) / 100,
    peakBytes: Number(/VmHWM:\s+(\d+)/.exec(status)[1]) * 1024,
    bytes: Number(/VmRSS:\s+(\d+)/.exec(status)[1]) * 1024,
  };
}

function yamlList(key, list) {
  return `${key}:\n${list.map((name) => `  - ${name}\n`).join('')}`;
}

function configure(url) {
  mkdirSync(join(folder, 'config/accounts'), { recursive: true });
  writeFileSync(
    join(folder, 'config/rolecall.yaml'),
    [
      'accounts: accounts/*.yaml',
      'store: ../data/rolecall.db',
      `defaults: { mode: apply, schedule: "*/${MINUTES} * * * *" }`,
      'http: { listen: 127.0.0.1:0 }',
      '',
    ].join('\n'),
  );
  for (let account = 0; account < ACCOUNTS; account += 1) {
    writeFileSync(
      join(folder, `config/accounts/account-${account}.yaml`),
      [
        `baseUrl: ${url}`,
        `token: { env: TOKEN_${account} }`,
        yamlList('skills', skills),
        yamlList('roles', roles),
      ].join('\n'),
    );
  }
}

const tokens = Object.fromEntries(
  Array.from({ length: ACCOUNTS }, (_, account) => [`TOKEN_${account}`, `token-${account}`]),
);

function quantile(sorted, part) {
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))];
}

/** The paths that clients request, with the seconds between two requests: probes, an open page, Prometheus, a script. */
const REQUESTS = {
  '/healthz': 0.4,
  '/readyz': 0.4,
  '/api/v1/accounts/account-0': 0.4,
  '/metrics': 15,
  '/api/v1/accounts': 60,
};

/** Requests each path until `until`; resolves with the times of the responses, by path. */
async function requestStatus(url, until) {
  const requestRepeatedly = async ([path, seconds]) => {
    const client = new Worker(new URL('repeat-requests.mjs', import.meta.url), {
      workerData: { address: url + path, seconds, until },
    });
    const [took] = await once(client, 'message');
    return [path, took];
  };
  return Object.fromEntries(await Promise.all(Object.entries(REQUESTS).map(requestRepeatedly)));
}

const sandboxSeed = join(folder, 'seed.json');
writeFileSync(
  sandboxSeed,
  JSON.stringify({
    accounts: Array.from({ length: ACCOUNTS }, (_, account) => ({
      name: `a${account}`,
      token: `token-${account}`,
      skills,
      roles,
      resources: names('', 20).map((_, index) => ({
        role: roles[index],
        skills: skills.slice(index, index + 5),
      })),
    })),
    settings: { latencyMs: LATENCY_MS },
  }),
);

try {
  const sandbox = await start(
    ['sandbox', '--port', '0', '--seed', sandboxSeed],
    {},
    /listens at (\S+?\d+)\s/,
  );
  configure(sandbox.url);
  const loadedAt = performance.now();
  const daemon = await start(
    ['--config', join(folder, 'config/rolecall.yaml'), 'serve'],
    tokens,
    /"event":"listening","url":"([^"]+)"/,
  );
  console.log(
    `${ACCOUNTS} accounts of ${ENTRIES} entries every ${MINUTES} min, jitter ${JITTER_MS / 1000} s`,
  );
  console.log(`listens after ${Math.round(performance.now() - loadedAt)} ms`);
  const everyMs = MINUTES * 60_000;
  const firstTick = Math.ceil(Date.now() / everyMs) * everyMs;
  await new Promise((resolve) => setTimeout(resolve, firstTick - Date.now() - 200));
  const before = usageOf(daemon.child.pid);
  let afterFirst = before;
  setTimeout(() => (afterFirst = usageOf(daemon.child.pid)), everyMs);
  const took = await requestStatus(daemon.url, firstTick + WINDOWS * everyMs - 1000);
  const after = usageOf(daemon.child.pid);

  const total = { runs: 0, converged: 0 };
  const db = new SQLite(join(folder, 'data/rolecall.db'), { readonly: true });
  for (let window = 0; window < WINDOWS; window += 1) {
    const tick = firstTick + window * everyMs;
    const rows = db
      .prepare('select account, status, started_at from runs where started_at >= ? and started_at < ?')
      .all(new Date(tick).toISOString(), new Date(tick + everyMs).toISOString());
    const late = rows.map((row) => Date.parse(row.started_at) - tick).toSorted((a, b) => a - b);
    const converged = rows.filter((row) => row.status === 'converged').length;
    total.runs += rows.length;
    total.converged += converged;
    console.log(
      `window ${window + 1}: ${rows.length} runs of ${new Set(rows.map((row) => row.account)).size} accounts, ` +
        `${converged} converged; the last started ${(late.at(-1) / 1000).toFixed(2)} s after the tick`,
    );
  }
  const seconds = (WINDOWS * everyMs - 800) / 1000;
  console.log(
    `CPU: ${(((after.cpuSeconds - before.cpuSeconds) / seconds) * 100).toFixed(1)} % of a core on average`,
  );
  const [megabytesAfterFirst, megabytesAtEnd, megabytesAtPeak] = [
    afterFirst.bytes,
    after.bytes,
    after.peakBytes,
  ].map((bytes) => Math.round(bytes / 1e6));
  console.log(
    `memory: ${megabytesAfterFirst} MB after the first window, ${megabytesAtEnd} MB at the end, ${megabytesAtPeak} MB at its peak`,
  );
  console.log(`errors in its log: ${daemon.output.errors}`);
  console.log(`store: ${(statSync(join(folder, 'data/rolecall.db')).size / 1e6).toFixed(1)} MB`);
  for (const [path, times] of Object.entries(took)) {
    const sorted = times.toSorted((a, b) => a - b);
    console.log(
      `GET ${path}: median ${quantile(sorted, 0.5).toFixed(1)} ms, p99 ${quantile(sorted, 0.99).toFixed(1)} ms (${sorted.length})`,
    );
  }
  daemon.child.kill('SIGTERM');
  const [status] =
    daemon.child.exitCode === null ? await once(daemon.child, 'exit') : [daemon.child.exitCode];
  console.log(`ended with status ${status}`);
  if (values.json !== undefined) {
    const figures = { ...total, megabytesAfterFirst, megabytesAtEnd, errors: daemon.output.errors, status };
    writeFileSync(values.json, JSON.stringify(figures));
  }
  sandbox.child.kill('SIGKILL');
} finally {
  rmSync(folder, { recursive: true, force: true });
}
process.exit(0);
