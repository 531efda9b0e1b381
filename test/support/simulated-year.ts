// A store with a year of history: the real use case over the real store, on a clock that is moved from day to day, with a
// service in memory whose accounts change every day.
import { settingsDigest } from '../../src/app/changes-during-run.ts';
import { createHash } from 'node:crypto';
import { reconcile } from '../../src/app/reconcile.ts';
import { ACCEPT_NOTHING, type ApplyDeps } from '../../src/app/request.ts';
import type { Entry, Kind, Resource } from '../../src/core/catalog.ts';
import type { Clock } from '../../src/core/ports.ts';
import { openSqliteStore } from '../../src/store/sqlite/open-sqlite-store.ts';
import { API } from '../unit/app/api.ts';
import { QuickClock } from '../unit/app/quick-clock.ts';
import { UNLIMITED, wanted } from '../unit/core/builders.ts';
import { accountAt } from '../unit/service/account-at.ts';
import { randomNumbers } from './random.ts';

export interface Year {
  readonly accounts: readonly string[];
  readonly days: number;
  readonly baseUrl: string;
}

const DAY_MS = 86_400_000;
const SKILLS = 12;
const PEOPLE = 5;

/** The lists of one account of the service. */
interface Remote {
  readonly account: string;
  readonly entries: Map<string, { readonly kind: Kind; readonly entry: Entry }>;
}

function entryOf(account: string, name: string, id: number): Entry {
  const raw = {
    _id: createHash('md5').update(`${account} ${id}`).digest('hex').slice(0, 24),
    name,
    createDate: '2026-01-01T00:00:00Z',
    accountId: account,
  };
  return { id: raw._id, name, accountId: account, createDate: raw.createDate, raw };
}

function resourcesOf({ account, entries }: Remote): Resource[] {
  const [skillId] = entries.keys();
  return Array.from({ length: PEOPLE }, (_, index) => {
    const skillsIds = skillId === undefined || index > 0 ? [] : [skillId];
    const raw = { _id: `${account}-person-${index}`, accountId: account, skillsIds, roleId: null };
    return { id: raw._id, accountId: account, skillsIds, roleId: null, raw };
  });
}

function serviceOf(remotes: ReadonlyMap<string, Remote>): ApplyDeps['service'] {
  let ids = 0;
  const remoteOf = (name: string): Remote => remotes.get(name) ?? { account: name, entries: new Map() };
  return {
    async reader({ name }) {
      const remote = remoteOf(name);
      return {
        listEntries: async (kind) => ({
          items: [...remote.entries.values()].filter((each) => each.kind === kind).map(({ entry }) => entry),
          warnings: [],
        }),
        listResources: async () => ({ items: resourcesOf(remote), warnings: [] }),
        traffic: () => ({ requests: 3, retries: 0 }),
      };
    },
    tokenKey: async ({ name }) => name,
    async writer({ name: account }) {
      const { entries } = remoteOf(account);
      return {
        async create(kind, name) {
          ids += 1;
          const entry = entryOf(account, name, ids);
          entries.set(entry.id, { kind, entry });
          return { type: 'created', entry, httpStatus: 201, attempts: 1 };
        },
        async delete(_kind, id) {
          entries.delete(id);
          return { type: 'deleted', httpStatus: 200, attempts: 1 };
        },
      };
    },
  };
}

/** A UUIDv7 of the simulated time. */
function runIdOf(clock: Clock, count: number): string {
  const hex = clock.nowMs().toString(16).padStart(12, '0');
  return `${hex.slice(0, 8)}-${hex.slice(8)}-7000-8000-${count.toString(16).padStart(12, '0')}`;
}

/** Makes the store. Its last day is yesterday. */
export async function simulateYear(file: string, { accounts, days, baseUrl }: Year): Promise<void> {
  const random = randomNumbers(5);
  const remotes = new Map(accounts.map((account) => [account, { account, entries: new Map() }]));
  const desired = new Map(
    accounts.map((account) => [
      account,
      Array.from({ length: SKILLS }, (_, n) => `Skill ${n} «é» of ${account}`),
    ]),
  );
  const store = openSqliteStore(file);
  const clock = new QuickClock();
  clock.setBy(-(days + 1) * DAY_MS);
  let runs = 0;
  const deps: ApplyDeps = {
    service: serviceOf(remotes),
    journal: store.journal,
    locks: store.locks,
    clock,
    newRunId() {
      runs += 1;
      return runIdOf(clock, runs);
    },
    sha256: (text) => createHash('sha256').update(text).digest('hex'),
    compareCommits: async () => 'same',
    currentDigest: async (settings) => settingsDigest(settings),
    loadCron: async () => () => false,
  };
  try {
    for (let day = 0; day < days; day += 1) {
      const dayEndsMs = clock.nowMs() + DAY_MS;
      for (const [account, names] of desired) {
        const replaced = Math.floor(random() * SKILLS);
        if (day > 0) names[replaced] = `Skill ${replaced} of ${account} since day ${day}`;
        clock.pass(1000);
        const settings = {
          ...accountAt(baseUrl, account),
          policy: { ...UNLIMITED, allowNoPeople: true },
          desired: { skill: wanted(...names), role: wanted('Lead', 'Engineer'), approvedDeletes: [] },
        };
        await reconcile(
          {
            settings,
            api: API,
            commit: commitOf(day),
            configured: new Set(accounts),
            trigger: 'schedule',
            signals: { stop: new AbortController().signal, kill: new AbortController().signal },
          },
          deps,
          { mode: 'apply', accept: { ...ACCEPT_NOTHING, noHistory: true }, lockTimeoutMs: 0 },
        );
      }
      clock.pass(Math.max(0, dayEndsMs - clock.nowMs()));
    }
  } finally {
    await store.close();
  }
}

function commitOf(day: number) {
  const at = `2026-01-01T00:${String(Math.floor(day / 60)).padStart(2, '0')}:${String(day % 60).padStart(2, '0')}Z`;
  return {
    sha: createHash('sha1').update(String(day)).digest('hex'),
    dirty: false,
    committedAt: at,
    authoredAt: at,
    subject: `Change skills on day ${day}`,
  };
}
