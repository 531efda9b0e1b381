// The store of a story: a file, or a schema of PostgreSQL, during whose statements the virtual clock stands still.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { SQLite } from '../../../src/system/sqlite.ts';
import { openPostgres } from '../../../src/store/postgres/database.ts';
import { openSqlite } from '../../../src/store/sqlite/database.ts';
import { createStore, type Store } from '../../../src/store/store.ts';
import { openSyncPostgres } from '../../support/sync-postgres.ts';
import { ENGINE, engineOfTests, freshLocation } from '../../unit/store/fixture.ts';

export interface ModelStore {
  /** Opens it, as each process does. */
  open(): Promise<Store>;
  rows(statement: string, ...values: unknown[]): unknown[];
  /** How often a method of an open store was called. */
  activity(): number;
  /** Resolves when no method of an open store is at work. */
  rest(): Promise<void>;
  remove(): void;
}

export async function createModelStore(): Promise<ModelStore> {
  return ENGINE === 'sqlite' ? inFile() : await inPostgres();
}

function inFile(): ModelStore {
  const folder = mkdtempSync(join(tmpdir(), 'rolecall-model-'));
  const file = join(folder, 'rolecall.db');
  void createStore(openSqlite({ file, leaseMs: 30_000 })).close();
  const db = new SQLite(file, { readonly: true });
  return {
    open: () => Promise.resolve(createStore(openSqlite({ file, leaseMs: 30_000 }))),
    rows: (statement, ...values) => db.prepare(statement).all(...values),
    activity: () => 0,
    rest: () => Promise.resolve(),
    remove() {
      db.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

async function inPostgres(): Promise<ModelStore> {
  const location = await freshLocation();
  const read = openSyncPostgres(location.url, location.schema);
  let calls = 0;
  const working = new Set<Promise<unknown>>();
  async function watched<T>(work: () => Promise<T>): Promise<T> {
    calls += 1;
    const promise = work();
    working.add(promise);
    try {
      return await promise;
    } finally {
      working.delete(promise);
    }
  }
  const watch = <T extends object>(methods: T): T =>
    new Proxy(methods, {
      get(target, property) {
        const method: unknown = Reflect.get(target, property);
        if (typeof method !== 'function') return method;
        return (...values: unknown[]) =>
          watched(async () => Reflect.apply(method, target, values) as unknown);
      },
    });
  return {
    open: () =>
      watched(async () => {
        const store = createStore(await openPostgres(location, {}, engineOfTests(location)));
        const { journal, locks, reader, operator, outbox } = store;
        return {
          ...store,
          journal: watch(journal),
          locks: watch(locks),
          reader: watch(reader),
          operator: watch(operator),
          outbox: watch(outbox),
          close: () => watched(() => store.close()),
        };
      }),
    rows: (statement, ...values) => read(statement, values),
    activity: () => calls,
    rest: async () => {
      while (working.size > 0) await Promise.allSettled(working);
    },
    remove: () => undefined,
  };
}
