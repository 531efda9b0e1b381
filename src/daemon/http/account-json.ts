// Accounts and the daemon as the API says them: every field by name, so that a view cannot leak what is added to it.
import { runToJson } from '../../report/run-json.ts';
import type { AccountView, DaemonView } from '../daemon-api.ts';

/** One account. Times are UTC ISO 8601. */
export function accountToJson(account: AccountView) {
  const { pending, approved, drift, lastRun } = account;
  return {
    name: account.name,
    valid: account.valid,
    issues: account.issues,
    mode: account.mode,
    schedule: account.schedule,
    timezone: account.timezone,
    region: account.region,
    remoteAccountId: account.remoteAccountId,
    paused: account.paused,
    activity: account.activity,
    nextRunAt: account.nextRunAt,
    backoffUntil: account.backoffUntil,
    consecutiveFailures: account.consecutiveFailures,
    drift: drift === undefined ? null : { create: drift.create, delete: drift.delete },
    pending: pending === null ? null : { digest: pending.digest, runId: pending.runId, since: pending.since },
    approved: approved === null ? null : { digest: approved.digest, expiresAt: approved.expiresAt },
    lastRun: lastRun === null ? null : runToJson(lastRun),
    lastSuccessAt: account.lastSuccessAt,
  };
}

/** The daemon as a whole. */
export function daemonToJson({ version, startedAt, issues, commit, undelivered }: DaemonView) {
  return {
    version,
    startedAt,
    issues,
    commit:
      commit === null
        ? null
        : {
            sha: commit.sha,
            dirty: commit.dirty,
            committedAt: commit.committedAt,
            authoredAt: commit.authoredAt,
            subject: commit.subject,
          },
    undelivered,
  };
}
