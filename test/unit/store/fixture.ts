// A store in its own folder, short forms of the journal's methods, and direct SQL access to the file.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { SQLite } from '../../../src/system/sqlite.ts';
import { sql } from 'kysely';
import { onTestFinished } from 'vitest';
import type { Entry, ObservedCatalog } from '../../../src/core/catalog.ts';
import { StoreError } from '../../../src/core/errors.ts';
import type { RunMode, RunStatus } from '../../../src/core/journal.ts';
import type { Plan } from '../../../src/core/plan.ts';
import type { Lease, SentCommit } from '../../../src/core/ports/locks.ts';
import type {
  AppliedRun,
  JournaledHistory,
  NewOperation,
  OperationResult,
  RecordedObservation,
} from '../../../src/core/ports/journal.ts';
import type { Engine } from '../../../src/store/engine.ts';
import type { OpenLocation } from '../../../src/core/settings.ts';
import { openPostgres, postgresEngine } from '../../../src/store/postgres/database.ts';
import type { PostgresLocation } from '../../../src/store/postgres/postgres-errors.ts';
import { createStore, type Store } from '../../../src/store/store.ts';
import { openSqlite, type SqliteLocation } from '../../../src/store/sqlite/database.ts';
import { freshPostgres } from '../../support/postgres.ts';
import { openSyncPostgres } from '../../support/sync-postgres.ts';
import { observed } from '../core/builders.ts';

export const T0 = Date.parse('2026-03-10T12:00:00.000Z');
export const DAY_MS = 86_400_000;
export const BASE = 'https://eu.example.com';

export function newFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'rolecall-store-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** Ids that sort by time, as UUIDv7 do. */
export function runId(n: number): string {
  return `01900000-0000-7000-8000-${n.toString(16).padStart(12, '0')}`;
}

/** The StoreError that the work throws. */
export function failure(work: () => unknown): StoreError {
  try {
    work();
  } catch (error) {
    if (error instanceof StoreError) return error;
    throw error;
  }
  throw new Error('it did not fail');
}

export interface SqliteFixture extends Fixture {
  readonly file: string;
}

/** Statements beside the store. */
interface Direct {
  /** Makes every change of a table fail for which `when` holds, as on a full disk. Returns what ends that. */
  failOn(table: string, change: 'update' | 'delete', when?: string): () => void;
  /** Executes statements after each delete in a table for which `when` holds, as another program may meanwhile. */
  afterDelete(table: string, when: string, statements: string): void;
  rows<T = Record<string, unknown>>(sql: string, ...values: unknown[]): T[];
  execute(sql: string, ...values: unknown[]): void;
}

export interface Fixture extends Omit<Store, 'prune'>, Direct {
  /** Prunes the store, and counts the rows that this deleted. */
  prune(
    ...of: Parameters<Store['prune']>
  ): Promise<Readonly<Record<'runs' | 'snapshots' | 'entries', number>>>;
  readonly location: OpenLocation;
  /** Begins run `n` of an account and records which remote account it found. */
  begin(
    n: number,
    options?: { account?: string; remote?: string | null; mode?: RunMode; atMs?: number },
  ): Promise<string>;
  /** Ends a run and then releases its lock, if `take` took it. */
  end(id: string, status?: RunStatus, atMs?: number): Promise<boolean>;
  /** What the journal has of the account, for lists without entries. */
  history(account?: string, remoteAccountId?: string): Promise<JournaledHistory>;
  /** Records lists, and with `plan` a plan of them. */
  record(
    id: string,
    lists: Partial<ObservedCatalog>,
    more?: Partial<RecordedObservation> & { readonly plan?: Plan },
  ): Promise<void>;
  take(id: string, atMs?: number, account?: string): Promise<Lease>;
  /** Adds operations to a run and commits these results of them. */
  operate(
    id: string,
    lease: Lease,
    operations: readonly NewOperation[],
    results: readonly OperationResult[],
  ): Promise<void>;
  /** Remembers what a run applied: by default nothing, to the account 42. */
  apply(id: string, lease: Lease, applied?: Partial<AppliedRun>): Promise<SentCommit>;
}

/** The engine that the tests of this folder use: the contract of the store is the same for both. */
export const ENGINE = process.env['ROLECALL_TEST_ENGINE'] === 'postgres' ? 'postgres' : 'sqlite';

/** A second opening of the store of a fixture, as in another process. */
export async function openAgain({ location }: Pick<Fixture, 'location'>): Promise<Fixture> {
  return 'file' in location ? sqliteFixture(location.file) : await postgresFixture(location);
}

/** A new store of the engine that is tested. */
export async function fixture(): Promise<Fixture> {
  return ENGINE === 'sqlite' ? sqliteFixture() : await postgresFixture();
}

/** A place in PostgreSQL that no other test uses. */
export async function freshLocation(): Promise<PostgresLocation> {
  return { ...(await freshPostgres()), pool: 4, leaseMs: 30_000 };
}

/** Tests give the time of each call. */
export function engineOfTests(location: PostgresLocation): Engine {
  return {
    ...postgresEngine(location),
    clockMs: (_connection, nowMs) => Promise.resolve(nowMs),
    timeAfter: (ms, nowMs) => sql`${new Date(nowMs + ms).toISOString()}`,
  };
}

/** A store in PostgreSQL. */
export async function postgresFixture(given?: PostgresLocation): Promise<Fixture> {
  const location = given ?? (await freshLocation());
  const store = createStore(await openPostgres(location, {}, engineOfTests(location)));
  const direct = openSyncPostgres(location.url, location.schema);
  onTestFinished(() => store.close());
  const execute = (text: string, ...values: unknown[]): void => void direct(text, values);
  const trigger = (when: string, event: string, body: string): void =>
    execute(
      `create function fault() returns trigger language plpgsql as $$ begin ${body} return null; end $$;
       create trigger fault ${event} for each row when (${when}) execute function fault()`,
    );
  return withShortForms(store, location, {
    rows: <T>(text: string, ...values: unknown[]) => direct(text, values) as T[],
    execute,
    failOn(table, change, when = 'true') {
      trigger(when, `before ${change} on ${table}`, "raise exception 'no space';");
      return () => execute('drop function fault cascade');
    },
    afterDelete: (table, when, statements) =>
      // The condition of a trigger contains no query.
      trigger('true', `after delete on ${table}`, `if ${when} then ${statements}; end if;`),
  });
}

/** A store in a file. */
export function sqliteFixture(file = join(newFolder(), 'data', 'rolecall.db')): SqliteFixture {
  const store = createStore(openSqlite(at(file)));
  onTestFinished(() => store.close());

  function plain<T>(work: (db: SQLite.Database) => T): T {
    const db = new SQLite(file, { fileMustExist: true });
    try {
      return work(db);
    } finally {
      db.close();
    }
  }

  const execute = (sql: string, ...values: unknown[]): void =>
    plain((db) => void db.prepare(sql).run(...values));
  const direct: Direct = {
    rows: <T>(sql: string, ...values: unknown[]) => plain((db) => db.prepare(sql).all(...values) as T[]),
    execute,
    failOn(table, change, when = 'true') {
      execute(
        `create trigger fault before ${change} on ${table} when ${when} begin select raise(abort, 'no space'); end`,
      );
      return () => execute('drop trigger fault');
    },
    afterDelete: (table, when, statements) =>
      execute(`create trigger fault after delete on ${table} when ${when} begin ${statements}; end`),
  };
  return { ...withShortForms(store, at(file), direct), file };
}

/** A SQLite store in this file. */
export function at(file: string): SqliteLocation {
  return { file, leaseMs: 30_000 };
}

function withShortForms(store: Store, location: OpenLocation, direct: Direct): Fixture {
  const { journal } = store;
  const taken = new Map<string, Lease>();
  return {
    ...store,
    check: () => store.check(),
    verify: () => store.verify(),
    async prune(retention, nowMs) {
      const count = (table: string): number =>
        Number(direct.rows<{ n: number }>(`select count(*) as n from ${table}`)[0]?.n);
      const counts = (): number[] => ['runs', 'snapshots', 'entries'].map(count);
      const before = counts();
      await store.prune(retention, nowMs);
      const [runs = 0, snapshots = 0, entries = 0] = counts().map((after, at) => (before[at] ?? 0) - after);
      return { runs, snapshots, entries };
    },
    location,
    ...direct,
    async begin(n, { account = 'acme', remote = '42', mode = 'apply', atMs = T0 + n * 1000 } = {}) {
      const id = runId(n);
      await journal.beginRun({
        id,
        account,
        trigger: 'cli',
        mode,
        startedAtMs: atMs,
        configDigest: 'sha256:c',
        configCommit: null,
      });
      await journal.claimRemoteAccount({
        runId: id,
        account,
        baseUrl: BASE,
        remoteAccountId: remote,
        configured: new Set(),
      });
      return id;
    },
    async end(id, status = 'converged', atMs = T0) {
      const isEnded = await journal.endRun(id, {
        status,
        finishedAtMs: atMs,
        counts: { created: 0, deleted: 0, held: 0, kept: 0, failed: 0 },
        traffic: { requests: 3, retries: 0 },
        planDigest: 'sha256:p',
        errorCode: null,
        error: null,
        warnings: [],
      });
      const lease = taken.get(id);
      if (lease !== undefined) await store.locks.release(lease);
      return isEnded;
    },
    history: (account = 'acme', remoteAccountId = '42') =>
      journal.accountHistory(account, remoteAccountId, observed(), T0),
    async record(id, lists, { plan, ...more } = {}) {
      const observation: RecordedObservation = {
        runId: id,
        account: 'acme',
        remoteAccountId: '42',
        phase: 'before',
        takenAtMs: T0,
        observed: observed(lists),
        good: true,
        missingUse: new Set(),
        ...more,
      };
      await journal.recordObservation(observation, plan);
    },
    async take(id, atMs = T0, account = 'acme') {
      const attempt = await store.locks.acquire(account, id, atMs);
      if ('heldBy' in attempt) throw new Error(attempt.heldBy);
      taken.set(id, attempt.lease);
      return attempt.lease;
    },
    async operate(id, lease, operations, results) {
      await journal.addOperations(id, operations);
      const sent = results.map(({ seq }) => ({ seq, atMs: T0 + 1 }));
      await journal.commitOperations(id, lease, sent, []);
      await journal.commitOperations(id, lease, [], results);
    },
    apply: (id, lease, applied = {}) =>
      journal.rememberApplied(lease, {
        runId: id,
        remoteAccountId: '42',
        named: [],
        released: { entries: [], run: null },
        commit: null,
        ...applied,
      }),
  };
}

export function operation(of: Partial<NewOperation> = {}): NewOperation {
  return {
    kind: 'skill',
    action: 'create',
    name: 'New',
    remoteId: null,
    status: 'pending',
    rule: null,
    reason: null,
    ...of,
  };
}

export function result(seq: number, of: Partial<OperationResult> = {}): OperationResult {
  return { seq, status: 'done', attempts: 1, httpStatus: 200, reason: null, rule: null, atMs: T0, ...of };
}

/** An entry with fields that rolecall does not use, as a list shows it. */
export function listed(id: string, name: string, more: Record<string, unknown> = {}): Entry {
  return { id, name, raw: { _id: id, name, ...more } };
}
