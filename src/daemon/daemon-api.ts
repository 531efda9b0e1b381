// The interface between the HTTP server and the daemon: the state of every account, the runs, and the commands of an
// operator. It joins the configuration, the schedules and the journal into views.
import { dirname, relative } from 'node:path';
import { waitingPlan } from '../core/account-states.ts';
import { formatConfigIssue } from '../core/errors.ts';
import {
  type Approval,
  hasExpired,
  type Operator,
  type OperatorCommands,
  type OperatorOutcome,
  type OperatorRequest,
  type Pause,
  type PendingPlan,
} from '../core/operator.ts';
import type { Clock, RunSignals } from '../core/ports/clock.ts';
import type { AccountRegistry, RegisteredAccount } from './account-registry.ts';
import type { Metrics } from './metrics.ts';
import type { PlanResult } from '../core/plan.ts';
import type { PostedPlan } from '../run/posted-plan.ts';
import type { RunRecord } from '../core/schemas.ts';
import type { AccountRecord, JournalReader, RemainingCounts } from '../core/ports/journal-reader.ts';
import type { AccountSettings, ConfigCommit } from '../core/settings.ts';

/** One account as the daemon sees it now. Times are UTC ISO 8601. */
export interface AccountView {
  readonly name: string;
  /** Its file, as seen from the service file. */
  readonly file: string;
  /** Whether its file with its catalogs is valid now. */
  readonly valid: boolean;
  /** Whether the service file is valid now. Otherwise no account runs. */
  readonly serviceValid: boolean;
  /** The errors that every run fails with, as `file:line:column: …`: those of the service file first. */
  readonly issues: readonly string[];
  /** From the last valid configuration; null when there never was one. */
  readonly mode: AccountSettings['mode'] | null;
  readonly schedule: string | null;
  readonly timezone: string | null;
  readonly region: string | null;
  readonly remoteAccountId: string | null;
  /** null while scheduled runs are allowed. */
  readonly pause: {
    readonly since: string;
    readonly by: string;
    readonly reason: string | null;
  } | null;
  /** `queued`: waits for a free place. */
  readonly activity: 'running' | 'queued' | 'idle';
  /** null while the account is paused, because no scheduled run starts then. */
  readonly nextRunAt: string | null;
  readonly consecutiveFailures: number;
  /** The changes of the last plan that were not applied; null when there is none. */
  readonly drift: RemainingCounts | null;
  /** The plan that waits for approval; null while a run applies it. */
  readonly pending: { readonly digest: string; readonly runId: string; readonly since: string } | null;
  /** null when it has expired. */
  readonly approved: {
    readonly digest: string;
    readonly by: string;
    readonly expiresAt: string;
  } | null;
  readonly lastRun: RunRecord | null;
  readonly lastSuccessAt: string | null;
}

/** The daemon itself. */
export interface DaemonView {
  readonly version: string;
  readonly startedAt: string;
  /** Errors of the service file (no account runs), of the source (the last commit stays in use), and of the store. */
  readonly issues: readonly string[];
  /** How many of the issues are errors of the service file; the others are those of the source and of the store. */
  readonly configurationErrors: number;
  readonly commit: ConfigCommit | null;
}

/** `unknown`: there is no such account. `no_source`: the daemon fetches no configuration, as it has no `source.git`. */
export type ActionOutcome = OperatorOutcome | { readonly type: 'unknown' | 'stopping' | 'no_source' };

type History =
  'runs' | 'latestRuns' | 'run' | 'runReport' | 'runProgress' | 'operatorActions' | 'dailyCounts';

export interface DaemonApi extends Pick<JournalReader, History> {
  /** Whether the process ends: no run starts in it, and its other answers are the usual ones until its port closes. */
  isStopping(): boolean;
  overview(): Promise<DaemonView>;
  /** The names of all configured accounts, in order. */
  accountNames(): readonly string[];
  /** All configured accounts, in order. */
  accounts(): Promise<readonly AccountView[]>;
  account(name: string): Promise<AccountView | null>;
  /** The pause of all accounts now; null while there is none. */
  pauseOfAll(): ReturnType<JournalReader['pauseOfAll']>;
  /** Stores what an operator requests, and acts on it at once. */
  operate(request: OperatorRequest, by: Operator): Promise<ActionOutcome>;
  /** Plans proposed changes of accounts. Writes neither to the service nor to the journal. */
  plan(posted: readonly PostedPlan[]): Promise<readonly PlanResult[]>;
}

export interface DaemonApiOptions {
  readonly version: string;
  readonly clock: Clock;
  readonly registry: AccountRegistry;
  /** When the account runs next by its schedule. */
  readonly nextTickMs: (account: string) => number | null;
  /** Makes the daemon look at once for accounts that are due. */
  readonly wake: () => void;
  /** Why accounts cannot be run now. */
  readonly problems: () => readonly (string | null)[];
  readonly isStopped: () => boolean;
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
    const { name, settings, errors } = account;
    const { pause = null } = record?.state ?? {};
    const nextRunMs = record?.dueMs ?? options.nextTickMs(name);
    return {
      name,
      file: relative(dirname(registry.service().file), account.file),
      valid: account.isValid,
      serviceValid: registry.serviceErrors().length === 0,
      issues: errors.map(formatConfigIssue),
      mode: settings?.mode ?? null,
      schedule: settings?.schedule ?? null,
      timezone: settings?.timezone ?? null,
      remoteAccountId: record?.state.remoteAccountId ?? settings?.accountId ?? null,
      // A tick of a paused account starts no run.
      nextRunAt: pause !== null || nextRunMs === null ? null : iso(nextRunMs),
      consecutiveFailures: record?.state.consecutiveFailures ?? 0,
      region: settings?.region ?? null,
      activity: activityOf(record, clock.nowMs()),
      pause: pauseView(pause),
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
          ...[registry.sourceProblem(), ...options.problems()].filter((problem) => problem !== null),
        ],
        configurationErrors: registry.serviceErrors().length,
        commit: await registry.commit(),
      };
    },
    accountNames: () => registry.accounts().map(({ name }) => name),
    async accounts() {
      const records = new Map((await reader.accounts()).map((record) => [record.name, record]));
      return registry.accounts().map((each) => view(each, records.get(each.name)));
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
      options.wake();
      void showState(account);
      return outcome;
    },
    plan: options.planPosted,
  };
}

function activityOf(record: AccountRecord | undefined, nowMs: number): AccountView['activity'] {
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
