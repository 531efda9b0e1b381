// Accounts and the daemon as JSON of the API. Each field is named, so that a field added to a view is not published by
// accident.
import { runToJson } from '../../report/run-json.ts';
import type { ReplicaRecord } from '../../core/turns.ts';
import { statesOfListed } from '../account-state.ts';
import type { AccountView, DaemonView } from '../daemon-api.ts';

/** One account. Times are UTC ISO 8601. */
export function accountToJson(account: AccountView) {
  const { pause, pending, approved, drift, lastRun } = account;
  return {
    name: account.name,
    state: statesOfListed(account)[0],
    valid: account.valid,
    issues: account.issues,
    mode: account.mode,
    schedule: account.schedule,
    timezone: account.timezone,
    region: account.region,
    remoteAccountId: account.remoteAccountId,
    paused: pause !== null,
    pause: pause === null ? null : { since: pause.since, by: pause.by, reason: pause.reason },
    activity: account.activity,
    replica: account.replica,
    waitsForCommit: account.waitsForCommit,
    leftOut: account.isLeftOut,
    nextRunAt: account.nextRunAt,
    backoffUntil: account.backoffUntil,
    consecutiveFailures: account.consecutiveFailures,
    drift: drift === null ? null : { create: drift.create, delete: drift.delete },
    pending: pending === null ? null : { digest: pending.digest, runId: pending.runId, since: pending.since },
    approved:
      approved === null ? null : { digest: approved.digest, by: approved.by, expiresAt: approved.expiresAt },
    lastRun: lastRun === null ? null : runToJson(lastRun),
    lastSuccessAt: account.lastSuccessAt,
  };
}

export function replicaToJson({ startedMs, beatMs, isAlive, isSelf, hasNewest, ...replica }: ReplicaRecord) {
  const { id, host, pid, version, runs, commit } = replica;
  return {
    id,
    host,
    pid,
    version,
    startedAt: new Date(startedMs).toISOString(),
    beatAt: new Date(beatMs).toISOString(),
    alive: isAlive,
    self: isSelf,
    runs,
    commit,
    newest: hasNewest,
  };
}

export function daemonToJson({ version, startedAt, issues, commit, undelivered, ...daemon }: DaemonView) {
  return {
    version,
    startedAt,
    configurationValid: daemon.configurationErrors === 0,
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
