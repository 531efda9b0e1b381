// Stores the commands of operators: approvals and pauses, until a run reads them, and who gave them.
import {
  ALL_ACCOUNTS,
  APPROVAL_LIFE_MS,
  type ApproveOutcome,
  type OperatorActionRecord,
  type OperatorCommands,
  type PauseOfAll,
  PLAN_DIGEST,
} from '../core/operator.ts';
import { utcTime } from '../core/durations-and-sizes.ts';
import { makeAllDue, makeDue } from './due-accounts.ts';
import { engineOf } from './engine.ts';
import { PAUSE, readPause, writeSetting } from './stored-settings.ts';
import type { Database, Tables } from './tables.ts';
import { durably } from './transactions.ts';
import { toIso } from './row-values.ts';

type PauseColumns = Pick<Tables['accounts'], 'paused_at' | 'paused_by' | 'paused_reason'> & {
  paused: number;
};

type Command = Omit<OperatorActionRecord, 'seq' | 'account'>;

export function operatorCommands(db: Database): OperatorCommands {
  /** Changes the pause of an account, which need not have run yet, and records the command, in one transaction. */
  async function change(
    account: string,
    columnsAfter: (pause: PauseColumns | undefined) => PauseColumns,
    action: Command,
    also: (connection: Database) => Promise<void> = async () => undefined,
  ): Promise<void> {
    const store = async (connection: Database): Promise<void> => {
      const now = await connection
        .selectFrom('accounts')
        .select(['paused', 'paused_at', 'paused_by', 'paused_reason'])
        .where('name', '=', account)
        .executeTakeFirst();
      const columns = columnsAfter(now);
      await connection
        .insertInto('accounts')
        .values({ name: account, ...columns })
        .onConflict((conflict) => conflict.column('name').doUpdateSet(columns))
        .execute();
      await also(connection);
      await record(connection, account, action);
    };
    await durably(db, account, store);
  }

  return {
    approve(account, digest, { name, via }, nowMs) {
      const at = toIso(nowMs);
      const approveNow = async (connection: Database): Promise<ApproveOutcome> => {
        const row = await connection
          .selectFrom('accounts')
          .select('pending_digest')
          .where('name', '=', account)
          .executeTakeFirst();
        const pending = row?.pending_digest ?? null;
        if (pending === null) return { type: 'nothing_pending' };
        if (digest !== null && !isPrefixOf(digest, pending)) return { type: 'other_plan', pending };
        await connection
          .updateTable('accounts')
          .set({ approved_digest: pending, approved_at: at, approved_by: name })
          .where('name', '=', account)
          .execute();
        await makeDue(connection, account, { trigger: 'approval', by: name }, nowMs);
        await record(connection, account, { at, action: 'approve', by: name, via, detail: pending });
        return { type: 'approved', digest: pending, expiresAtMs: nowMs + APPROVAL_LIFE_MS };
      };
      return durably(db, account, approveNow);
    },

    pause(account, reason, { name, via }, nowMs) {
      const at = toIso(nowMs);
      return change(
        account,
        (now) =>
          // A pause that is repeated, as by a script, is still that of the person who gave the reason.
          now?.paused === 1
            ? { ...now, paused_reason: reason ?? now.paused_reason }
            : { paused: 1, paused_at: at, paused_by: name, paused_reason: reason },
        { at, action: 'pause', by: name, via, detail: reason },
      );
    },

    resume(account, { name, via }, nowMs) {
      return change(
        account,
        () => ({ paused: 0, paused_at: null, paused_by: null, paused_reason: null }),
        { at: toIso(nowMs), action: 'resume', by: name, via, detail: null },
        (connection) => makeDue(connection, account, { trigger: 'resume', by: name }, nowMs),
      );
    },

    pauseAll({ reason, onlyDeletes, forMs }, { name: by, via }, nowMs) {
      return durably(db, ALL_ACCOUNTS, async (connection) => {
        const sinceMs = await engineOf(connection).clockMs(connection, nowMs);
        const untilMs = forMs === null ? null : sinceMs + forMs;
        const pause: PauseOfAll = { sinceMs, by, reason, untilMs, onlyDeletes };
        await writeSetting(connection, PAUSE, JSON.stringify(pause));
        const until = untilMs === null ? '' : `, until ${utcTime(untilMs)}`;
        const detail = `${reason}${onlyDeletes ? ', only deletes' : ''}${until}`;
        await record(connection, ALL_ACCOUNTS, { at: toIso(sinceMs), action: 'pause', by, via, detail });
        return pause;
      });
    },

    resumeAll({ name: by, via }, nowMs) {
      return durably(db, ALL_ACCOUNTS, async (connection) => {
        const pause = await readPause(connection, nowMs);
        if (pause === null) return null;
        await connection.deleteFrom('settings').where('name', '=', PAUSE).execute();
        await makeAllDue(connection, { trigger: 'resume', by }, nowMs);
        const at = toIso(nowMs);
        await record(connection, ALL_ACCOUNTS, { at, action: 'resume', by, via, detail: null });
        return pause;
      });
    },

    requestSync(account, { name: by, via }, nowMs) {
      return durably(db, account, async (connection) => {
        await makeDue(connection, account, { trigger: 'manual', by }, nowMs);
        await record(connection, account, { at: toIso(nowMs), action: 'sync', by, via, detail: null });
      });
    },

    async requestFetch({ name, via }, nowMs) {
      const fetch: Command = { at: toIso(nowMs), action: 'fetch', by: name, via, detail: null };
      await durably(db, 'source', (connection) => record(connection, ALL_ACCOUNTS, fetch));
    },
  };
}

/** Records the command; daemons look for new ones. */
async function record(db: Database, account: string, action: Command): Promise<void> {
  await db
    .insertInto('operator_actions')
    .values({ account, ...action })
    .execute();
}

function isPrefixOf(digest: string, pending: string): boolean {
  const prefix = digest.startsWith('sha256:') ? digest : `sha256:${digest}`;
  return PLAN_DIGEST.test(digest) && pending.startsWith(prefix);
}
