// How large the store is after a week of quiet runs: the real use case over the real store, on a clock that is moved,
// with a service that always answers the same. Accounts are independent of each other, so that a few of them show what
// thousands need. `npm run bench:week -- --accounts 10 --minutes 5` (the interval of the schedule).
import { settingsDigest } from '../../src/run/changes-during-run.ts';
import { createHash } from 'node:crypto';
import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { reconcile } from '../../src/run/reconcile.ts';
import { ACCEPT_NOTHING, type AccountRequest, type ApplyDeps } from '../../src/run/request.ts';
import { mergePolicies } from '../../src/config/inherited-settings.ts';
import type { Entry, Kind, ObservedCatalog } from '../../src/core/catalog.ts';
import type { Clock } from '../../src/core/ports/clock.ts';
import type { ServiceReader } from '../../src/core/ports/service.ts';
import { createStore } from '../../src/store/store.ts';
import { openSqlite } from '../../src/store/sqlite/database.ts';
import { API } from '../unit/run/api.ts';

const { values } = parseArgs({
  options: { accounts: { type: 'string', default: '10' }, minutes: { type: 'string', default: '5' } },
});
const ACCOUNTS = Number(values.accounts);
const EVERY_MINUTES = Number(values.minutes);
if (60 % EVERY_MINUTES !== 0) throw new Error('--minutes must divide 60');
const MINUTE = 60_000;
const DAY = 1440 * MINUTE;
const RETENTION = { runsMs: 90 * DAY, snapshotsMs: 90 * DAY };

let nowMs = Date.parse('2026-01-05T00:00:00Z');
let runs = 0;
const clock: Clock = {
  nowMs: () => nowMs,
  steadyMs: () => nowMs,
  pause: async () => undefined,
  sleep: (_ms, signal) =>
    new Promise((resolve) => {
      if (signal?.aborted === true) resolve();
      else signal?.addEventListener('abort', () => resolve(), { once: true });
    }),
};

/** 160 skills, 40 roles and 20 people. */
function listsOf(account: string): ObservedCatalog {
  const entry = (kind: Kind, index: number): Entry => {
    // Ids that do not compress, like those of the service.
    const id = createHash('md5').update(`${account} ${kind} ${index}`).digest('hex').slice(0, 24);
    const name = `${kind} ${index}`;
    const raw = { _id: id, name, createDate: '2026-01-01T00:00:00Z', accountId: account };
    return { id, name, accountId: account, raw };
  };
  const skill = Array.from({ length: 160 }, (_, index) => entry('skill', index));
  const role = Array.from({ length: 40 }, (_, index) => entry('role', index));
  const resources = role.slice(0, 20).map(({ id: roleId }, index) => {
    const id = `${account}-person-${index}`;
    const skillsIds = skill.slice(index, index + 5).map((held) => held.id);
    return {
      id,
      accountId: account,
      skillsIds,
      roleId,
      raw: { _id: id, accountId: account, skillsIds, roleId },
    };
  });
  return { skill, role, resources, warnings: [] };
}

const accountNames = Array.from({ length: ACCOUNTS }, (_, index): string => `account-${index}`);
const accounts = new Map(accountNames.map((name) => [name, listsOf(name)]));

function requestOf(account: string, lists: ObservedCatalog): AccountRequest {
  const named = (entries: readonly Entry[]) => entries.map(({ name }) => ({ name, formerly: [] }));
  return {
    settings: {
      name: account,
      file: `/config/${account}.yaml`,
      baseUrl: 'https://planning.example.com',
      token: { env: 'T' },
      mode: 'apply',
      schedule: `*/${EVERY_MINUTES} * * * *`,
      timezone: 'Etc/UTC',
      jitterMs: 0,
      policy: mergePolicies([]),
      desired: { skill: named(lists.skill), role: named(lists.role), approvedDeletes: [] },
      configDigest: `sha256:${'c'.repeat(64)}`,
    },
    api: API,
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

function readerOf(account: string): ServiceReader {
  const lists = accounts.get(account);
  if (lists === undefined) throw new Error(`no account ${account}`);
  return {
    listEntries: async (kind) => ({ items: lists[kind], warnings: [] }),
    listResources: async () => ({ items: lists.resources, warnings: [] }),
    traffic: () => ({ requests: 3, retries: 0 }),
  };
}

const folder = mkdtempSync(join(tmpdir(), 'rolecall-bench-week-'));
const file = join(folder, 'rolecall.db');
const store = createStore(openSqlite(file));
const deps: ApplyDeps = {
  service: {
    reader: async ({ name }) => readerOf(name),
    tokenKey: async ({ name }) => name,
    writer: () => {
      throw new Error('quiet runs write nothing');
    },
  },
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
  currentDigest: async (settings) => settingsDigest(settings),
  loadCron: async () => () => false,
};

const startedAt = performance.now();
try {
  for (let minute = 0; minute < 7 * 1440; minute += EVERY_MINUTES, nowMs += EVERY_MINUTES * MINUTE) {
    for (const [account, lists] of accounts) {
      const result = await reconcile(requestOf(account, lists), deps, {
        mode: 'apply',
        approvals: true,
        accept: ACCEPT_NOTHING,
        lockTimeoutMs: 0,
      });
      if (!('status' in result) || result.status !== 'converged') throw new Error(JSON.stringify(result));
    }
    if (minute % 60 === 0) await store.prune(RETENTION, nowMs);
  }
  const tookMs = performance.now() - startedAt;
  await store.close();
  const bytes = statSync(file).size;
  console.log(
    `${runs} quiet runs of ${ACCOUNTS} accounts with 200 entries in a week, every ${EVERY_MINUTES} minutes`,
  );
  console.log(`${(tookMs / runs).toFixed(2)} ms a run, without the service`);
  console.log(
    `store: ${(bytes / 1e6).toFixed(2)} MB; for 1,000 accounts ${(((bytes / ACCOUNTS) * 1000) / 1e6).toFixed(0)} MB`,
  );
} finally {
  rmSync(folder, { recursive: true, force: true });
}
