// Implements the daemon's API: joins the configuration, the schedules and the journal into views.
import { dirname, relative } from 'node:path';
import { waitingPlan } from '../core/account-states.ts';
import { formatConfigIssue } from '../core/errors.ts';
import type { AccountRecord, JournalReader } from '../core/ports/journal-reader.ts';
import {
  type Approval,
  hasExpired,
  type OperatorCommands,
  type Pause,
  type PendingPlan,
} from '../core/operator.ts';
import type { Clock, RunSignals } from '../core/ports/clock.ts';
import type { AccountRegistry, RegisteredAccount } from './account-registry.ts';
import type { AccountRuns } from './account-run.ts';
import type { AccountFacts, AccountView, DaemonApi } from './daemon-api.ts';
import type { Log } from './log.ts';
import type { RunLoop } from './run-loop.ts';
import type { Metrics } from './metrics.ts';

export interface DaemonApiOptions {
  readonly version: string;
  readonly clock: Clock;
  readonly log: Pick<Log, 'warn'>;
  readonly registry: AccountRegistry;
  readonly loop: Pick<RunLoop, 'problem' | 'nextTickMs' | 'wake'>;
  readonly isStopped: () => boolean;
  readonly runs: Pick<AccountRuns, 'problem'>;
  readonly reader: JournalReader;
  readonly operator: OperatorCommands;
  readonly metrics: Metrics;
  readonly planPosted: DaemonApi['plan'];
  readonly signals: Pick<RunSignals, 'stop'>;
}

export function createDaemonApi(options: DaemonApiOptions): DaemonApi {
  const { registry, reader, operator, clock } = options;
  const startedAt = iso(clock.nowMs());
  const isStopping = (): boolean => options.signals.stop.aborted || options.isStopped();

  function view(account: RegisteredAccount, record: AccountRecord | undefined): AccountView {
    const { settings, errors } = account;
    const { pause = null } = record?.state ?? {};
    const nextRunMs = record?.dueMs ?? options.loop.nextTickMs(account.name);
    return {
      ...facts(account, record),
      file: relative(dirname(registry.service().file), account.file),
      issues: errors.map(formatConfigIssue),
      mode: settings?.mode ?? null,
      schedule: settings?.schedule ?? null,
      timezone: settings?.timezone ?? null,
      remoteAccountId: record?.state.remoteAccountId ?? settings?.accountId ?? null,
      // A tick of a paused account starts no run.
      nextRunAt: pause !== null || nextRunMs === null ? null : iso(nextRunMs),
      consecutiveFailures: record?.state.consecutiveFailures ?? 0,
      lastRun: record?.lastRun ?? null,
    };
  }

  /** The part of a view that can be read for all accounts. */
  function facts(
    { name, isValid, settings }: RegisteredAccount,
    record: AccountRecord | undefined,
  ): AccountFacts {
    return {
      name,
      region: settings?.region ?? null,
      valid: isValid,
      serviceValid: registry.serviceErrors().length === 0,
      activity: activityOf(record, clock.nowMs()),
      pause: pauseView(record?.state.pause ?? null),
      pending:
        record === undefined ? null : pendingView(waitingPlan({ ...record.state, lastRun: record.lastRun })),
      approved: approvedView(record?.state.approval ?? null, clock.nowMs()),
      lastRun: record?.lastRun ?? null,
      lastSuccessAt: record?.lastSuccessAt ?? null,
      drift: record?.remaining ?? null,
    };
  }

  /** Sets the gauges after a command of an operator, not only at the next run. */
  async function showState(account: string): Promise<void> {
    if (registry.account(account) === undefined) return;
    const [record] = await reader.accounts(account).catch(() => []);
    if (record === undefined) return;
    const { pause, pending } = record.state;
    options.metrics.account(account, { isPaused: pause !== null, pending: pending?.digest ?? null });
  }

  return {
    ...reader,
    isStopping,
    async overview() {
      return {
        version: options.version,
        startedAt,
        issues: [
          ...registry.serviceErrors().map(formatConfigIssue),
          ...[registry.sourceProblem(), options.runs.problem(), options.loop.problem()].filter(
            (problem) => problem !== null,
          ),
        ],
        configurationErrors: registry.serviceErrors().length,
        commit: await registry.commit(),
      };
    },
    accountNames: () => registry.accounts().map(({ name }) => name),
    async accounts(names) {
      const records = new Map((await reader.accounts(names)).map((record) => [record.name, record]));
      return names.flatMap((name) => {
        const found = registry.account(name);
        return found === undefined ? [] : [view(found, records.get(name))];
      });
    },
    async accountFacts() {
      const records = new Map((await reader.accounts()).map((record) => [record.name, record]));
      return registry.accounts().map((each) => facts(each, records.get(each.name)));
    },
    async account(name) {
      const found = registry.account(name);
      if (found === undefined) return null;
      const [record] = await reader.accounts(name);
      return view(found, record);
    },
    pauseOfAll: () => reader.pauseOfAll(clock.nowMs()),
    async operate(request, by) {
      const { action, account } = request;
      if (action !== 'fetch' && registry.account(account) === undefined) return { type: 'unknown' };
      if (action === 'fetch' && registry.service().source === undefined) return { type: 'no_source' };
      if ((action === 'sync' || action === 'fetch') && isStopping()) return { type: 'stopping' };
      const outcome = await operator.operate(request, by, clock.nowMs());
      options.loop.wake();
      void showState(account);
      return outcome;
    },
    plan: options.planPosted,
  };
}

function activityOf(record: AccountRecord | undefined, nowMs: number): AccountFacts['activity'] {
  if (record?.lastRun?.status === 'running') return 'running';
  const isPaused = record?.state.pause !== null;
  return isPaused || (record.dueMs ?? Infinity) > nowMs ? 'idle' : 'queued';
}

function pauseView(pause: Pause | null): AccountView['pause'] {
  return pause === null ? null : { since: iso(pause.sinceMs), by: pause.by, reason: pause.reason };
}

function pendingView(pending: PendingPlan | null): AccountView['pending'] {
  if (pending === null) return null;
  return { digest: pending.digest, runId: pending.runId, since: iso(pending.sinceMs) };
}

function approvedView(approval: Approval | null, nowMs: number): AccountView['approved'] {
  if (approval === null || hasExpired(approval, nowMs)) return null;
  return { digest: approval.digest, by: approval.by, expiresAt: iso(approval.expiresAtMs) };
}

function iso(ms: number): string {
  return new Date(ms).toISOString();
}
