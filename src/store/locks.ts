// The locks: one run at a time for each account, and one daemon that leads, across all processes that share the store.
import { randomUUID } from 'node:crypto';
import { type Selectable, sql } from 'kysely';
import { LEADER, type LedCommit, type Lease, type LockAttempt, type Locks } from '../core/ports/locks.ts';
import { brokenRuns, endEarlierRuns, interruptRuns } from './broken-runs.ts';
import { engineOf } from './engine.ts';
import { lockLost } from './fence.ts';
import { HOST, machineOf } from './process-identity.ts';
import { readSetting, writeSetting } from './stored-settings.ts';
import type { Database, Tables } from './tables.ts';
import { toIso, toMs } from './row-values.ts';
import { immediately } from './transactions.ts';

type LockRow = Selectable<Tables['locks']>;

/** A valid lock expires sooner. One that expires later was taken before the clock of the store was set back. */
const LONGEST_LEASES = 2;
const LONGEST_LEASE_MS = 120_000;

/** The names of values in `settings`. */
const COMMIT = 'led_commit';
const TIMELINE = 'timeline';

/** `quick`: the same database over a connection that never waits long. */
export function createLocks(db: Database, quick: Database = db): Locks {
  /** Identifies this process in its locks. */
  const holder = randomUUID();
  /** The runs whose locks this process has released but could not delete, for example on a full disk. */
  const abandoned = new Set<string>();
  const engine = engineOf(db);
  const { leaseMs } = engine;

  async function release({ account, runId }: Pick<Lease, 'account' | 'runId'>): Promise<void> {
    abandoned.add(runId);
    await sql`delete from locks where account = ${account} and run_id = ${runId}`.execute(quick);
    abandoned.delete(runId);
  }

  const isFree = (row: LockRow | undefined, atMs: number): boolean =>
    row === undefined || abandoned.has(row.run_id) || !isHeld(db, row, atMs);

  async function writeLock(
    connection: Database,
    row: Pick<LockRow, 'account' | 'run_id' | 'taken_at' | 'expires_at'>,
  ): Promise<void> {
    const values = { ...row, holder, host: HOST, pid: process.pid, token_key: null };
    await connection
      .insertInto('locks')
      .values(values)
      .onConflict((conflict) => conflict.column('account').doUpdateSet(values))
      .execute();
  }

  return {
    leaseMs,

    async acquire(account, runId, epoch, nowMs): Promise<LockAttempt> {
      const attempt = await immediately(db, account, async (connection) => {
        const { atMs, sinceFailoverMs } = await momentOf(connection, nowMs);
        const { rows } = await sql<LockRow>`
          select * from locks where account in (${account}, ${LEADER})`.execute(connection);
        const row = rows.find((each) => each.account === account);
        const leader = rows.find((each) => each.account === LEADER && each.run_id === epoch);
        if (epoch !== null && leader === undefined) throw lockLost();
        if (row !== undefined && !isFree(row, atMs)) return { heldBy: describe(row, `run ${row.run_id}, `) };
        const taken_at = toIso(atMs);
        // Both are renewed together, and end together.
        const expires_at = leader?.expires_at ?? toIso(atMs + leaseMs);
        await writeLock(connection, { account, run_id: runId, taken_at, expires_at });
        const broken = await brokenRuns(connection, account, true, atMs);
        return { lease: { account, runId, sinceFailoverMs, takenAtMs: atMs }, broken, replaced: row?.run_id };
      });
      if ('heldBy' in attempt) return attempt;
      const { lease, broken, replaced } = attempt;
      if (replaced !== undefined) abandoned.delete(replaced);
      try {
        // A broken run remains `running` until this is complete, so that the next holder ends it if this process dies.
        await interruptRuns(db, broken, lease.takenAtMs);
      } catch (error) {
        // If this fails too, this process can take the lock again immediately, and others when it has expired.
        await release(lease).catch(() => undefined);
        throw error;
      }
      return { lease };
    },

    release,

    async renew(nowMs) {
      if (abandoned.size > 0) {
        await quick
          .deleteFrom('locks')
          .where('run_id', 'in', [...abandoned])
          .execute();
        abandoned.clear();
      }
      const rows = await quick
        .updateTable('locks')
        .set({ expires_at: engine.timeAfter(leaseMs, nowMs) })
        .where('holder', '=', holder)
        .returning(['account', 'expires_at'])
        .execute();
      const [first] = rows;
      return {
        held: new Set(rows.map(({ account }) => account)),
        nowMs: first === undefined ? null : toMs(first.expires_at) - leaseMs,
      };
    },

    async leader(nowMs) {
      const atMs = await engine.clockMs(quick, nowMs);
      const row = await leaderRow(quick);
      const stored = engine.isReplicated ? await readSetting(quick, COMMIT) : null;
      const [sha = '', committedAt = ''] = (stored ?? '').split(' ');
      return {
        heldBy: row === undefined || isFree(row, atMs) || row.holder === holder ? null : describe(row),
        renewal: row?.expires_at ?? null,
        commit: stored === null ? null : { sha, committedAt },
        nowMs: atMs,
      };
    },

    async lead(epoch, nowMs) {
      const ledAtMs = await immediately(quick, 'leader', async (connection) => {
        const { atMs } = await momentOf(connection, nowMs);
        const row = await leaderRow(connection);
        if (row !== undefined && row.holder !== holder && !isFree(row, atMs)) return null;
        const times = { taken_at: toIso(atMs), expires_at: toIso(atMs + leaseMs) };
        // For a delete, the transactions that depend on the row are waited for.
        await connection.deleteFrom('locks').where('account', '=', LEADER).execute();
        await writeLock(connection, { account: LEADER, run_id: epoch, ...times });
        return atMs;
      });
      if (ledAtMs !== null) await endEarlierRuns(db, epoch, ledAtMs);
      return ledAtMs !== null;
    },

    async rememberCommit({ sha, committedAt }: LedCommit) {
      // One process alone may return to an older commit: the rule `source` holds its deletes.
      if (engine.isReplicated) await writeSetting(quick, COMMIT, `${sha} ${committedAt}`);
    },

    resign: (epoch) => release({ account: LEADER, runId: epoch }),
  };
}

function describe({ pid, host, taken_at }: LockRow, what = ''): string {
  return `process ${pid} on ${machineOf(host)} (${what}since ${taken_at})`;
}

async function leaderRow(db: Database): Promise<LockRow | undefined> {
  return await db.selectFrom('locks').selectAll().where('account', '=', LEADER).executeTakeFirst();
}

/**
 * The time of the store, and how long ago a process first saw that the database was replaced by another one, for example a
 * standby that lacks its last commits; null when that never happened.
 */
async function momentOf(
  connection: Database,
  nowMs: number,
): Promise<{ readonly atMs: number; readonly sinceFailoverMs: number | null }> {
  const engine = engineOf(connection);
  if (!engine.isReplicated) return { atMs: nowMs, sinceFailoverMs: null };
  const { rows } = await sql<{ now: string; timeline: string; seen: string | null }>`
    select ${engine.timeAfter(0, nowMs)} as now, ${engine.timeline} as timeline,
      (select value from settings where name = ${TIMELINE}) as seen`.execute(connection);
  const { now = '', timeline = '', seen = null } = rows[0] ?? {};
  const atMs = toMs(now);
  const [known = '', since] = (seen ?? '').split(' ');
  if (known === timeline) return { atMs, sinceFailoverMs: since === undefined ? null : atMs - toMs(since) };
  const isFirst = seen === null;
  await writeSetting(connection, TIMELINE, isFirst ? timeline : `${timeline} ${now}`);
  return { atMs, sinceFailoverMs: isFirst ? null : 0 };
}

/** Whether a process that may be alive holds the account's lock. */
export async function isLocked(db: Database, account: string, nowMs: number): Promise<boolean> {
  const row = await db.selectFrom('locks').selectAll().where('account', '=', account).executeTakeFirst();
  return row !== undefined && isHeld(db, row, await engineOf(db).clockMs(db, nowMs));
}

/** Whether the holder of a lock may be alive. */
export function isHeld(db: Database, lock: LockRow, nowMs: number): boolean {
  const engine = engineOf(db);
  const longestMs = Math.max(LONGEST_LEASES * engine.leaseMs, LONGEST_LEASE_MS);
  return lock.expires_at > toIso(nowMs) && lock.expires_at < toIso(nowMs + longestMs) && !engine.isDead(lock);
}
