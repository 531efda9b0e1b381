// Other processes on the same store: one that applies an account's file, one that only holds a lock, and another
// program that keeps the whole store locked.
import { SQLite } from '../../../src/platform/sqlite.ts';
import { reconcile } from '../../../src/app/reconcile.ts';
import { ACCEPT_NOTHING } from '../../../src/app/request.ts';
import { loadConfiguration } from '../../../src/config/load-configuration.ts';
import { StoreError } from '../../../src/core/errors.ts';
import { openSqliteStore } from '../../../src/store/sqlite/open-sqlite-store.ts';
import type { Stage } from './stage.ts';

/** Does what `rolecall apply ACCOUNT --yes` does. Resolves when it has ended. */
export async function applyElsewhere(stage: Stage, account: string, owner: string): Promise<void> {
  const { service, accounts } = await loadConfiguration(stage.files.file);
  const settings = accounts.find(({ name }) => name === account)?.settings;
  if (service === undefined || settings === undefined) return;
  const store = openSqliteStore(stage.storeFile);
  try {
    await reconcile(
      {
        settings,
        api: service.api,
        commit: null,
        configured: new Set(accounts.map(({ name }) => name)),
        trigger: 'cli',
        signals: { stop: new AbortController().signal, kill: new AbortController().signal },
      },
      stage.depsOf(owner, store, () => null),
      { mode: 'apply', accept: ACCEPT_NOTHING, lockTimeoutMs: 300_000 },
    );
  } catch (error) {
    if (!(error instanceof StoreError) || !stage.wasStoreLocked()) throw error;
    stage.runs.lost(account, owner, 0);
  } finally {
    await store.close();
  }
}

/** Holds an account's lock for a while, as a run of another process does. */
export async function lockElsewhere(stage: Stage, account: string, ms: number, owner: string): Promise<void> {
  const clock = stage.time.clockOf(owner);
  const store = openSqliteStore(stage.storeFile);
  const untilMs = stage.time.timerMs() + ms;
  try {
    const attempt = await store.locks.acquire(account, `run-of-${owner}`, clock.nowMs());
    if ('heldBy' in attempt) return;
    for (let leftMs = ms; leftMs > 0; leftMs = untilMs - stage.time.timerMs()) {
      await clock.sleep(Math.min(5000, leftMs));
      await store.locks.renew(attempt.lease, clock.nowMs());
    }
    await store.locks.release(attempt.lease);
  } catch (error) {
    if (!(error instanceof StoreError) || !stage.wasStoreLocked()) throw error;
  } finally {
    await store.close();
  }
}

/** Keeps the store locked for a while: other processes can read it and cannot write. */
export async function lockStore(stage: Stage, ms: number, owner: string): Promise<void> {
  if (stage.isStoreLocked()) return;
  const other = new SQLite(stage.storeFile);
  other.exec('begin immediate');
  stage.storeFreeMs = Infinity;
  await stage.time.clockOf(owner).sleep(ms);
  other.exec('rollback');
  other.close();
  stage.storeFreeMs = stage.time.timerMs();
}
