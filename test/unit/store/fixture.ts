// A store in its own folder, short forms of the journal's methods, and direct SQL access to the file.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { SQLite } from '../../../src/platform/sqlite.ts';
import { onTestFinished } from 'vitest';
import type { Entry, ObservedCatalog } from '../../../src/core/catalog.ts';
import { StoreError } from '../../../src/core/errors.ts';
import type { RunMode, RunStatus } from '../../../src/core/journal.ts';
import type { Lease } from '../../../src/core/locks.ts';
import type { NewOperation, OperationResult, RecordedObservation } from '../../../src/core/ports.ts';
import type { Store } from '../../../src/store/store.ts';
import { openStore } from '../../../src/store/store.ts';
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

export interface Fixture extends Store {
  readonly file: string;
  rows<T = Record<string, unknown>>(sql: string, ...values: unknown[]): T[];
  execute(sql: string, ...values: unknown[]): void;
  /** Begins run `n` of an account and records which remote account it found. */
  begin(
    n: number,
    options?: { account?: string; remote?: string | null; mode?: RunMode; atMs?: number },
  ): Promise<string>;
  end(id: string, status?: RunStatus, atMs?: number): Promise<boolean>;
  record(id: string, lists: Partial<ObservedCatalog>, more?: Partial<RecordedObservation>): Promise<void>;
  take(id: string, atMs?: number, account?: string): Promise<Lease>;
}

export function fixture(file = join(newFolder(), 'data', 'rolecall.db')): Fixture {
  const store = openStore(file);
  onTestFinished(() => store.close());
  const { journal } = store;

  function plain<T>(work: (db: SQLite.Database) => T): T {
    const db = new SQLite(file, { fileMustExist: true });
    try {
      return work(db);
    } finally {
      db.close();
    }
  }

  return {
    ...store,
    check: () => store.check(),
    verify: (signal) => store.verify(signal),
    prune: (retention, nowMs) => store.prune(retention, nowMs),
    file,
    rows: <T>(sql: string, ...values: unknown[]) => plain((db) => db.prepare(sql).all(...values) as T[]),
    execute: (sql, ...values) => plain((db) => void db.prepare(sql).run(...values)),
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
    end: (id, status = 'converged', atMs = T0) =>
      journal.endRun(id, {
        status,
        finishedAtMs: atMs,
        counts: { created: 0, deleted: 0, held: 0, kept: 0, failed: 0 },
        traffic: { requests: 3, retries: 0 },
        planDigest: 'sha256:p',
        errorCode: null,
        error: null,
        warnings: [],
      }),
    record: (id, lists, more = {}) =>
      journal.recordObservation({
        runId: id,
        account: 'acme',
        remoteAccountId: '42',
        phase: 'before',
        takenAtMs: T0,
        observed: observed(lists),
        good: true,
        missing: [],
        ...more,
      }),
    async take(id, atMs = T0, account = 'acme') {
      const attempt = await store.locks.acquire(account, id, atMs);
      if ('heldBy' in attempt) throw new Error(attempt.heldBy);
      return attempt.lease;
    },
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
