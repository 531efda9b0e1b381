// Stores the commands of operators: approvals and pauses, until a run reads them, and who gave them.
import {
  ALL_ACCOUNTS,
  APPROVAL_LIFE_MS,
  type OperatorCommands,
  type OperatorOutcome,
  type PauseOfAll,
  PLAN_DIGEST,
  type RecordedAction,
} from '../core/operator.ts';
import type { OperatorActionRecord } from '../core/command-schemas.ts';
import { utcTime } from '../core/durations-and-sizes.ts';
import { setColumns } from './account-state.ts';
import { makeAllDue, makeDue } from './due-accounts.ts';
import { engineOf, durably } from './engine.ts';
import { PAUSE, readPause, writeSetting } from './stored-settings.ts';
import type { Database } from './tables.ts';
import { toIso } from './row-values.ts';

type Command = Omit<OperatorActionRecord, 'seq' | 'account'>;

const NO_PAUSE = { paused: 0, paused_at: null, paused_by: null, paused_reason: null };

export function operatorCommands(db: Database): OperatorCommands {
  return {
    operate({ action, account, digest = null, reason = null }, by, nowMs) {
      const requested = { account, digest, reason, by: by.name, nowMs };
      return durably(db, account, async (connection) => {
        const outcome = await ACTS[action](connection, requested);
        if (outcome.type === 'nothing_pending' || outcome.type === 'other_plan') return outcome;
        const detail = outcome.type === 'approved' ? outcome.digest : reason;
        await record(connection, account, { at: toIso(nowMs), action, by: by.name, via: by.via, detail });
        return outcome;
      });
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
  };
}

interface Requested {
  readonly account: string;
  readonly digest: string | null;
  readonly reason: string | null;
  readonly by: string;
  readonly nowMs: number;
}

type Act = (connection: Database, requested: Requested) => Promise<OperatorOutcome>;

const ACTS: Readonly<Record<RecordedAction, Act>> = {
  approve: approvePending,
  async pause(connection, { account, reason, by, nowMs }) {
    const columns = ['paused', 'paused_reason'] as const;
    const rows = connection.selectFrom('accounts').select(columns).where('name', '=', account);
    const now = await rows.executeTakeFirst();
    // A pause that is repeated, as by a script, is still that of the person who gave the reason.
    const isRepeated = now?.paused === 1;
    const paused_reason = reason ?? (isRepeated ? now.paused_reason : null);
    const begun = isRepeated ? {} : { paused: 1, paused_at: toIso(nowMs), paused_by: by };
    await setColumns(connection, account, { ...begun, paused_reason });
    return { type: 'paused' };
  },
  async resume(connection, { account, by, nowMs }) {
    await setColumns(connection, account, NO_PAUSE);
    await makeDue(connection, account, { trigger: 'resume', by }, nowMs);
    return { type: 'resumed' };
  },
  async sync(connection, { account, by, nowMs }) {
    await makeDue(connection, account, { trigger: 'manual', by }, nowMs);
    return { type: 'queued' };
  },
  // Daemons look for its record.
  fetch: () => Promise.resolve({ type: 'queued' }),
};

async function approvePending(
  connection: Database,
  { account, digest, by, nowMs }: Requested,
): Promise<OperatorOutcome> {
  const rows = connection.selectFrom('accounts').select('pending_digest').where('name', '=', account);
  const pending = (await rows.executeTakeFirst())?.pending_digest ?? null;
  if (pending === null) return { type: 'nothing_pending' };
  if (digest !== null && !isPrefixOf(digest, pending)) return { type: 'other_plan', pending };
  await connection
    .updateTable('accounts')
    .set({ approved_digest: pending, approved_at: toIso(nowMs), approved_by: by })
    .where('name', '=', account)
    .execute();
  await makeDue(connection, account, { trigger: 'approval', by }, nowMs);
  return { type: 'approved', digest: pending, expiresAtMs: nowMs + APPROVAL_LIFE_MS };
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
