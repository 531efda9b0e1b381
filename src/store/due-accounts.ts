// Which accounts are due: their schedules, operators and changes of their files set it in their rows, whichever process does it.
import { type RawBuilder, sql } from 'kysely';
import type { DueAccount, DueAccounts, DueReason } from '../core/ports/locks.ts';
import type { PauseOfAll } from '../core/operator.ts';
import { engineOf, immediately } from './engine.ts';
import { isHeld } from './fence.ts';
import { jsonRows, toIso, toMs } from './row-values.ts';
import { PAUSE, readSetting } from './stored-settings.ts';
import type { AccountRow } from './account-state.ts';
import type { Database } from './tables.ts';

/** Longer than any jitter. A later time was written before the clock of the store was set back, and counts as past. */
const MOST_AHEAD_MS = 60_000;

/** What several accounts are changed with at once: processes that do the same wait for each other. */
const KEY = 'due accounts';

export function dueAccounts(db: Database): DueAccounts {
  const engine = engineOf(db);
  return {
    async due(atMs) {
      const { rows } = await sql<Omit<AccountRow, 'name'> & { now: string; name: string | null }>`
        select ${engine.timeAfter(0, atMs)} as now, accounts.* from (select 1 as one) as one
          left join accounts on due_at is not null or lease_run is not null
        order by coalesce(due_at, lease_until), accounts.name`.execute(db);
      const nowMs = toMs(rows[0]?.now ?? toIso(atMs));
      const accounts = rows.flatMap((row): DueAccount[] => {
        const { name: account, due_at: dueAt, lease_run: run, lease_until: until, due_reason } = row;
        if (account === null || isHeld(db, row, nowMs)) return [];
        const trigger = due_reason ?? 'start';
        const isPaused = row.paused === 1;
        const isRunnable = isDue(dueAt, nowMs) && (!isPaused || trigger === 'manual');
        // A lease that ended is that of a process that died.
        if (!isRunnable && run === null) return [];
        return [{ account, trigger, by: row.due_by, isPaused, seen: { dueAt, run, until } }];
      });
      return { nowMs, accounts };
    },

    async ticked() {
      const known = db
        .selectFrom('accounts')
        .select(['name', 'ticked_at'])
        .where('ticked_at', 'is not', null);
      return new Map((await known.execute()).map(({ name, ticked_at }) => [name, toMs(ticked_at ?? '')]));
    },

    async appear(accounts, nowMs) {
      const now = engine.timeAfter(0, nowMs);
      await immediately(db, KEY, (connection) =>
        sql`
          insert into accounts (name, ticked_at, due_at, due_reason)
          select value ->> 'account', ${now}, ${now}, 'start' from ${jsonRows(accounts.map((account) => ({ account })))}
          where true
          on conflict (name) do update set ticked_at = excluded.ticked_at,
            due_at = coalesce(accounts.due_at, excluded.due_at), due_reason = coalesce(accounts.due_reason, 'start')
          where accounts.ticked_at is null`.execute(connection),
      );
    },

    async tick(ticks, nowMs) {
      if (ticks.length === 0) return [];
      const values = jsonRows(
        ticks.map(({ account, tickMs, dueMs, trigger }) => ({
          account,
          tick: toIso(tickMs),
          due: toIso(dueMs),
          trigger,
        })),
      );
      const due = columnsOf(sql`ticks.due`, sql`ticks.trigger`, sql`null`, false);
      // A tick of the future was marked before the clock was set back.
      const { rows } = await immediately(db, KEY, (connection) =>
        sql<{ name: string; lease_run: string | null }>`
          with ticks as materialized (
            select value ->> 'account' as account, value ->> 'tick' as tick, value ->> 'due' as due,
              value ->> 'trigger' as trigger
            from ${values})
          update accounts set ticked_at = ticks.tick, ${due(sql`accounts.lease_run is not null`)}
          from ticks
          where accounts.name = ticks.account
            and (ticked_at is null or ticked_at < ticks.tick or ticked_at > ${toIso(nowMs + MOST_AHEAD_MS)})
          returning accounts.name, accounts.lease_run`.execute(connection),
      );
      return rows.flatMap(({ name, lease_run }) => (lease_run === null ? [] : [name]));
    },

    async change(accounts, nowMs) {
      if (accounts.length === 0) return;
      const columns = dueColumns(engine.timeAfter(0, nowMs), { trigger: 'change', by: null });
      await immediately(db, KEY, (connection) =>
        sql`
          with files as materialized (
            select value ->> 'account' as account, value ->> 'digest' as digest from ${jsonRows(accounts)})
          update accounts set ${columns} from files
          where accounts.name = files.account and accounts.last_run_id is not null
            and (select config_digest from runs where runs.id = accounts.last_run_id)
              is distinct from files.digest`.execute(connection),
      );
    },

    async endPause(atMs) {
      const stored = await readSetting(db, PAUSE);
      if (stored === null) return;
      const { untilMs } = JSON.parse(stored) as PauseOfAll; // only pauseAll writes it
      const nowMs = await engine.clockMs(db, atMs);
      if (untilMs === null || untilMs > nowMs) return;
      await immediately(db, KEY, async (connection) => {
        const ended = await sql`delete from settings where name = ${PAUSE} and value = ${stored}`.execute(
          connection,
        );
        if (ended.numAffectedRows === 1n)
          await makeAllDue(connection, { trigger: 'resume', by: null }, nowMs);
      });
    },
  };
}

function isDue(dueAt: string | null, nowMs: number): boolean {
  return dueAt !== null && (dueAt <= toIso(nowMs) || dueAt > toIso(nowMs + MOST_AHEAD_MS));
}

/**
 * The columns of an account that becomes due at this time for this reason. What is due earlier stays due then; a request of an
 * operator replaces any other reason, because it may do more.
 */
export function dueColumns(at: RawBuilder<unknown>, { trigger, by }: DueReason): RawBuilder<unknown> {
  return columnsOf(at, sql`${trigger}`, sql`${by}`, by !== null)(sql`false`);
}

function columnsOf(
  at: RawBuilder<unknown>,
  reason: RawBuilder<unknown>,
  by: RawBuilder<unknown>,
  isByOperator: boolean,
): (isSkipped: RawBuilder<unknown>) => RawBuilder<unknown> {
  const isSooner = sql`(accounts.due_at is null or accounts.due_at > ${at})`;
  const isNew = sql`(accounts.due_at is null or (accounts.due_reason <> 'manual'
    and ${isByOperator ? sql`true` : sql`accounts.due_at > ${at}`}))`;
  return (isSkipped) => sql`
    due_at = case when ${isSooner} and not (${isSkipped}) then ${at} else accounts.due_at end,
    due_reason = case when ${isNew} and not (${isSkipped}) then ${reason} else accounts.due_reason end,
    due_by = case when ${isNew} and not (${isSkipped}) then ${by} else accounts.due_by end`;
}

/** Makes an account due at once; it need not have a row. */
export async function makeDue(
  db: Database,
  account: string,
  reason: DueReason,
  nowMs: number,
): Promise<void> {
  const now = engineOf(db).timeAfter(0, nowMs);
  await sql`
    insert into accounts (name, due_at, due_reason, due_by) values (${account}, ${now}, ${reason.trigger}, ${reason.by})
    on conflict (name) do update set ${dueColumns(now, reason)}`.execute(db);
}

/** Makes every account due that a daemon knows. */
export async function makeAllDue(db: Database, reason: DueReason, nowMs: number): Promise<void> {
  const columns = dueColumns(engineOf(db).timeAfter(0, nowMs), reason);
  await sql`update accounts set ${columns} where ticked_at is not null`.execute(db);
}
