// Stores the approvals and pauses that operators give, until a run reads them.
import {
  APPROVAL_LIFE_MS,
  type ApproveOutcome,
  type OperatorCommands,
  PLAN_DIGEST,
} from '../core/operator.ts';
import { PERSON_PATIENCE_MS } from './busy.ts';
import type { Database } from './tables.ts';
import { durably } from './transactions.ts';
import { toIso } from './times.ts';

export function operatorCommands(db: Database): OperatorCommands {
  return {
    approve(account, digest, nowMs) {
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
          .set({ approved_digest: pending, approved_at: toIso(nowMs) })
          .where('name', '=', account)
          .execute();
        return { type: 'approved', digest: pending, expiresAtMs: nowMs + APPROVAL_LIFE_MS };
      };
      return durably(db, approveNow, PERSON_PATIENCE_MS);
    },

    async setPaused(account, paused) {
      const values = { paused: paused ? 1 : 0 };
      await db
        .insertInto('accounts')
        .values({ name: account, ...values })
        .onConflict((conflict) => conflict.column('name').doUpdateSet(values))
        .execute();
    },
  };
}

function isPrefixOf(digest: string, pending: string): boolean {
  const prefix = digest.startsWith('sha256:') ? digest : `sha256:${digest}`;
  return PLAN_DIGEST.test(digest) && pending.startsWith(prefix);
}
