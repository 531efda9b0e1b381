// How large the store is after a week of quiet runs: the real use case over the real store, on a clock that is moved,
// with a service that always answers the same. Each account runs every five minutes and is independent of the others,
// so that a few of them show what a thousand need. `npm run bench:week -- --accounts 10`.
import { createHash } from 'node:crypto';
import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';
import { build } from 'rolldown';

const { values } = parseArgs({ options: { accounts: { type: 'string', default: '10' } } });
const ACCOUNTS = Number(values.accounts);
const MINUTE = 60_000;
const DAY = 1440 * MINUTE;
const root = fileURLToPath(new URL('../../', import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'rolecall-bench-week-'));

await build({
  cwd: root,
  input: { reconcile: 'src/app/reconcile.ts', store: 'src/store/store.ts' },
  platform: 'node',
  output: { dir: join(root, 'dist/bench'), format: 'esm' },
  logLevel: 'warn',
});
const load = (name) => import(pathToFileURL(join(root, `dist/bench/${name}.js`)).href);
const [{ reconcile }, { openSqliteStore }] = [await load('reconcile'), await load('store')];

let nowMs = Date.parse('2026-01-05T00:00:00Z');
let runs = 0;
const clock = {
  nowMs: () => nowMs,
  steadyMs: () => nowMs,
  sleep: (_ms, signal) =>
    new Promise((resolve) => {
      if (signal?.aborted) resolve();
      else signal?.addEventListener('abort', () => resolve(), { once: true });
    }),
};
const file = join(folder, 'rolecall.db');
const store = openSqliteStore(file);

function listsOf(account) {
  const entry = (kind, index) => {
    // Ids that do not compress, like those of the service.
    const _id = createHash('md5').update(`${account} ${kind} ${index}`).digest('hex').slice(0, 24);
    const raw = { _id, name: `${kind} ${index}`, createDate: '2026-01-01T00:00:00Z', accountId: account };
    return { id: _id, name: raw.name, raw };
  };
  const skill = Array.from({ length: 160 }, (_, index) => entry('skill', index));
  const role = Array.from({ length: 40 }, (_, index) => entry('role', index));
  const resources = Array.from({ length: 20 }, (_, index) => {
    const raw = {
      _id: `${account}-person-${index}`,
      accountId: account,
      skillsIds: skill.slice(index, index + 5).map(({ id }) => id),
      roleId: role[index].id,
    };
    return { id: raw._id, skillsIds: raw.skillsIds, roleId: raw.roleId, raw };
  });
  return { skill, role, resources };
}

const policy = {
  delete: 'unused',
  ownership: 'all',
  maxDeletes: 10,
  maxDeletesPerDay: 30,
  maxDeletePercent: 30,
  allowEmpty: false,
  allowNoPeople: false,
  protect: [],
  duplicates: 'report',
  unusedForMs: 0,
  freeze: [],
};

function requestOf(account, lists) {
  const named = (entries) => entries.map(({ name }) => ({ name, formerly: [] }));
  return {
    settings: {
      name: account,
      file: `/config/${account}.yaml`,
      baseUrl: 'https://planning.example.com',
      token: { env: 'T' },
      mode: 'apply',
      schedule: '*/5 * * * *',
      timezone: 'Etc/UTC',
      jitterMs: 0,
      policy,
      desired: { skill: named(lists.skill), role: named(lists.role), approvedDeletes: [] },
      configDigest: `sha256:${'c'.repeat(64)}`,
    },
    api: { stalenessMs: 120_000, recheckMs: 2000, settleMs: 35_000, retries: 4, concurrency: 8 },
    commit: {
      sha: 'a'.repeat(40),
      dirty: false,
      committedAt: '2026-01-01T00:00:00Z',
      authoredAt: '2026-01-01T00:00:00Z',
      subject: 'Add a skill',
    },
    configured: new Set(accounts.keys()),
    trigger: 'schedule',
    signals: { stop: new AbortController().signal, kill: new AbortController().signal },
  };
}

const accounts = new Map(
  Array.from({ length: ACCOUNTS }, (_, index) => [`account-${index}`, listsOf(`account-${index}`)]),
);
const readerOf = (lists) => ({
  listEntries: async (kind) => ({ items: lists[kind], warnings: [] }),
  listResources: async () => ({ items: lists.resources, warnings: [] }),
  traffic: () => ({ requests: 3, retries: 0 }),
});
const deps = {
  service: { reader: async (settings) => readerOf(accounts.get(settings.name)) },
  journal: store.journal,
  locks: store.locks,
  clock,
  newRunId() {
    runs += 1;
    const hex = nowMs.toString(16).padStart(12, '0');
    return `${hex.slice(0, 8)}-${hex.slice(8)}-7000-8000-${runs.toString(16).padStart(12, '0')}`;
  },
  sha256: (text) => createHash('sha256').update(text).digest('hex'),
  compareCommits: async () => 'same',
  loadCron: async () => async () => false,
};

const retention = { runsMs: 90 * DAY, snapshotsMs: 90 * DAY, keepAtLeast: 20 };
const startedAt = performance.now();
try {
  for (let minute = 0; minute < 7 * 1440; minute += 5, nowMs += 5 * MINUTE) {
    for (const [account, lists] of accounts) {
      const result = await reconcile(requestOf(account, lists), deps, {
        mode: 'apply',
        approvals: true,
        accept: { shrink: false, olderSource: false, noHistory: false },
        lockTimeoutMs: 0,
      });
      if (result.status !== 'converged') throw new Error(JSON.stringify(result));
    }
    if (minute % 60 === 0) await store.prune(retention, nowMs);
  }
  const tookMs = performance.now() - startedAt;
  await store.close();
  const bytes = statSync(file).size;
  console.log(`${runs} quiet runs of ${ACCOUNTS} accounts with 200 entries in a week of five-minute ticks`);
  console.log(`${(tookMs / runs).toFixed(2)} ms a run, without the service`);
  console.log(
    `store: ${(bytes / 1e6).toFixed(2)} MB; for 1,000 accounts ${(((bytes / ACCOUNTS) * 1000) / 1e6).toFixed(0)} MB`,
  );
} finally {
  rmSync(folder, { recursive: true, force: true });
  rmSync(join(root, 'dist/bench'), { recursive: true, force: true });
}
