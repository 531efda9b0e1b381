// The daemon's answers to those who look at it over HTTP, and what it does when they say a word.
import { formatConfigIssue } from '../core/errors.ts';
import type { OperatorCommands, PendingPlan } from '../core/operator.ts';
import type { AccountRecord, JournalReader } from '../core/journal-reader.ts';
import type { Clock } from '../core/ports.ts';
import type { AccountRegistry, RegisteredAccount, ConfigurationReader } from './account-registry.ts';
import type { AccountView, DaemonApi } from './daemon-api.ts';
import { runJson } from './run-json.ts';
import type { RunQueue } from './run-queue.ts';
import type { Scheduler } from './scheduler.ts';

export interface DaemonApiOptions {
  readonly version: string;
  readonly clock: Clock;
  readonly registry: AccountRegistry;
  readonly configuration: ConfigurationReader;
  readonly queue: RunQueue;
  readonly scheduler: Scheduler;
  readonly reader: JournalReader;
  readonly operator: OperatorCommands;
  readonly isStopping: () => boolean;
  readonly onOperator: (account: string) => void;
  readonly viewOf: DaemonApi['view'];
  readonly planPosted: DaemonApi['plan'];
  readonly undelivered: () => Promise<number>;
  /** Why runs cannot be journaled; null while they can. */
  readonly troubleOf: () => string | null;
  /** What the last run of an account left to do; undefined before there was one. */
  readonly driftOf: (account: string) => AccountView['drift'];
}

export function createDaemonApi(options: DaemonApiOptions): DaemonApi {
  const { registry, scheduler, queue, reader, operator, clock } = options;
  const startedAt = iso(clock.nowMs());

  function view(account: RegisteredAccount, record: AccountRecord | undefined): AccountView {
    const { name, settings, errors } = account;
    const drift = options.driftOf(name);
    const failures = record?.state.consecutiveFailures ?? 0;
    const { paused = false, approval = null } = record?.state ?? {};
    const pending = record === undefined ? null : waitingPlan(record);
    return {
      name,
      valid: errors.length === 0,
      issues: errors.map(formatConfigIssue),
      mode: settings?.mode ?? null,
      schedule: settings?.schedule ?? null,
      timezone: settings?.timezone ?? null,
      region: settings?.region ?? null,
      remoteAccountId: record?.state.remoteAccountId ?? settings?.accountId ?? null,
      paused,
      activity: queue.activity(name),
      // A tick of a paused account starts no run.
      nextRunAt: paused ? null : isoOrNull(scheduler.nextRunMs(name)),
      // Another process may have ended it, which the scheduler hears a moment later.
      backoffUntil: failures === 0 ? null : isoOrNull(scheduler.backoffUntilMs(name)),
      consecutiveFailures: failures,
      pending:
        pending === null
          ? null
          : { digest: pending.digest, runId: pending.runId, since: iso(pending.sinceMs) },
      approved: approval === null ? null : { digest: approval.digest, expiresAt: iso(approval.expiresAtMs) },
      lastRun: record?.lastRun ?? null,
      lastSuccessAt: record?.lastSuccessAt ?? null,
      ...(drift === undefined ? {} : { drift }),
    };
  }

  return {
    async overview() {
      return {
        version: options.version,
        startedAt,
        issues: [
          ...registry.serviceErrors().map(formatConfigIssue),
          ...[options.configuration.sourceProblem(), options.troubleOf()].filter(
            (problem) => problem !== null,
          ),
        ],
        commit: await options.configuration.commit(),
        // A store that cannot be read is among the issues.
        undelivered: await options.undelivered().catch(() => 0),
      };
    },
    async accounts() {
      const records = new Map((await reader.accounts()).map((record) => [record.name, record]));
      return registry.accounts().map((account) => view(account, records.get(account.name)));
    },
    async account(name) {
      const account = registry.account(name);
      if (account === undefined) return null;
      const [record] = await reader.accounts(name);
      return view(account, record);
    },
    runs: (filter) => reader.runs(filter),
    view: (view, signal) => options.viewOf(view, signal),
    runJson: (id) => runJson(id, reader),
    sync(account) {
      if (options.isStopping()) return 'stopping';
      if (registry.account(account) === undefined) return 'unknown';
      return queue.requestOneMore(account, 'manual') ? 'queued' : 'stopping';
    },
    async approve(account, digest) {
      if (registry.account(account) === undefined) return { type: 'unknown' };
      const outcome = await operator.approve(account, digest, clock.nowMs());
      if (outcome.type === 'approved') options.onOperator(account);
      return outcome;
    },
    async setPaused(account, paused) {
      if (registry.account(account) === undefined) return false;
      await operator.setPaused(account, paused);
      options.onOperator(account);
      return true;
    },
    plan: (body) => options.planPosted(body),
  };
}

/** The plan that waits for approval: not the one that a run carries out at this moment. */
function waitingPlan({ state: { pending }, lastRun }: AccountRecord): PendingPlan | null {
  const isCarriedOut = lastRun?.status === 'running' && lastRun.planDigest === pending?.digest;
  return isCarriedOut ? null : pending;
}

function iso(ms: number): string {
  return new Date(ms).toISOString();
}

function isoOrNull(ms: number | null): string | null {
  return ms === null ? null : iso(ms);
}
