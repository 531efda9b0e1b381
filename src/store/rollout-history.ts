// Reads how the accounts that run newer commits first did on them.
import { sql } from 'kysely';
import { DAY_MS } from '../core/durations-and-sizes.ts';
import type { CanaryHistory, Journal } from '../core/ports/journal.ts';
import { toIso, toMs } from './row-values.ts';
import type { Database } from './tables.ts';

export function rolloutJournal(db: Database) {
  async function historyOf(account: string, since: string, nowMs: number): Promise<CanaryHistory> {
    // Runs of the future were made before the clock was set back.
    const runs = db.selectFrom('runs').where('account', '=', account).where('started_at', '<=', toIso(nowMs));
    const state = await db
      .selectFrom('accounts')
      .select('last_applied_commit')
      .where('name', '=', account)
      .executeTakeFirst();
    const latest = await runs
      .select('status')
      .where('status', 'in', ['converged', 'held', 'partial', 'blocked', 'failed'])
      .orderBy('started_at', 'desc')
      .limit(1)
      .executeTakeFirst();
    const good = await runs
      .select(({ fn }) => ['config_commit', fn.min('finished_at').as('ended_at')])
      .where('status', 'in', ['converged', 'held'])
      .where('started_at', '>', since)
      // Files that differed from the commit show nothing about it.
      .where('config_dirty', '=', 0)
      // The first rule of what a rollout holds is its own.
      .where(sql<boolean>`not exists (select 1 from operations where run_id = runs.id and rule = 'rollout')`)
      .groupBy('config_commit')
      .orderBy('ended_at')
      .execute();
    return {
      account,
      appliedCommit: state?.last_applied_commit ?? null,
      latest: latest?.status ?? null,
      good: good.flatMap(({ config_commit: commit, ended_at: endedAt }) =>
        commit === null || endedAt === null ? [] : [{ commit, endedAtMs: toMs(endedAt) }],
      ),
    };
  }

  return {
    async rolloutHistory(account, configDigest, appliedCommit, { canaries, nowMs }) {
      const runs = db.selectFrom('runs').where('account', '=', account);
      const applied = await runs
        .select(['config_digest', 'started_at'])
        .where('config_commit', '=', appliedCommit)
        .where('mode', '<>', 'plan')
        .where('config_dirty', '=', 0)
        .where('config_digest', 'is not', null)
        .orderBy('started_at', 'desc')
        .limit(1)
        .executeTakeFirst();
      if (applied?.config_digest === configDigest) return null;
      const first = await runs
        .select('config_commit')
        .where('config_digest', '=', configDigest)
        .where('trigger', '<>', 'cli')
        .where('config_dirty', '=', 0)
        .where('started_at', '>', applied?.started_at ?? '')
        .orderBy('started_at')
        .limit(1)
        .executeTakeFirst();
      // Another account may have run the commit while this one still ran the one before.
      const since = applied === undefined ? '' : toIso(Math.min(toMs(applied.started_at), nowMs) - DAY_MS);
      const histories: CanaryHistory[] = [];
      for (const canary of canaries) histories.push(await historyOf(canary, since, nowMs));
      return { commit: first?.config_commit ?? null, canaries: histories };
    },
  } satisfies Partial<Journal>;
}
