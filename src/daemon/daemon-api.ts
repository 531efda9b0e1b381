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
} from '../core/operator.ts';
import type { Clock, RunSignals } from '../core/ports/clock.ts';
import type { AccountRegistry, RegisteredAccount } from './account-registry.ts';
import type { Metrics } from './metrics.ts';
import type { PlanResult } from '../core/plan.ts';
import type { PostedPlan } from '../run/posted-plan.ts';
import type { AccountRecord, JournalReader } from '../core/ports/journal-reader.ts';

/** `unknown`: there is no such account. `no_source`: the daemon fetches no configuration, as it has no `source.git`. */
export type ActionOutcome = OperatorOutcome | { readonly type: 'unknown' | 'stopping' | 'no_source' };

type History =
  'runs' | 'latestRuns' | 'run' | 'runReport' | 'runProgress' | 'operatorActions' | 'dailyCounts';

export type DaemonApi = Pick<JournalReader, History> & ReturnType<typeof daemonOf>;
/** One account as the daemon sees it now. Times are UTC ISO 8601. */
export type AccountView = Readonly<ReturnType<typeof viewOf>>;
/** The daemon itself. */
export type DaemonView = Awaited<ReturnType<DaemonApi['overview']>>;

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
  readonly planPosted: (posted: readonly PostedPlan[]) => Promise<readonly PlanResult[]>;
  readonly signals: Pick<RunSignals, 'stop'>;
}

export function createDaemonApi(options: DaemonApiOptions): DaemonApi {
  return { ...options.reader, ...daemonOf(options) };
}

function daemonOf(options: DaemonApiOptions) {
  const { registry, reader, operator, clock } = options;
  const startedAt = iso(clock.nowMs());
  const isStopping = (): boolean => options.signals.stop.aborted || options.isStopped();
  const view = (account: RegisteredAccount, record: AccountRecord | undefined): AccountView =>
    viewOf(account, record, options);

  /** Sets the gauges after a command of an operator, not only at the next run. */
  async function showState(account: string): Promise<void> {
    if (registry.account(account) === undefined) return;
    const [record] = await reader.accounts(account).catch(() => []);
    if (record === undefined) return;
    const { pause, pending } = record.state;
    options.metrics.account(account, { isPaused: pause !== null, pending: pending?.digest ?? null });
  }

  return {
    /** Whether the process ends: no run starts in it, and its other answers are the usual ones until its port closes. */
    isStopping,
    async overview() {
      const errors = registry.serviceErrors();
      // A run and the loop may report the same problem of the store.
      const problems = [...new Set([registry.sourceProblem(), ...options.problems()])];
      return {
        version: options.version,
        startedAt,
        /** Errors of the service file (no account runs), of the source (the last commit stays in use), and of the store. */
        issues: [...errors.map(formatConfigIssue), ...problems.filter((problem) => problem !== null)],
        /** How many of the issues are errors of the service file; the others are those of the source and of the store. */
        configurationErrors: errors.length,
        commit: await registry.commit(),
      };
    },
    /** The names of all configured accounts, in order. */
    accountNames: (): readonly string[] => registry.accounts().map(({ name }) => name),
    /** All configured accounts, in order. */
    async accounts(): Promise<readonly AccountView[]> {
      const records = new Map((await reader.accounts()).map((record) => [record.name, record]));
      return registry.accounts().map((each) => view(each, records.get(each.name)));
    },
    async account(name: string): Promise<AccountView | null> {
      const found = registry.account(name);
      if (found === undefined) return null;
      const [record] = await reader.accounts(name);
      return view(found, record);
    },
    /** The pause of all accounts now; null while there is none. */
    pauseOfAll: () => reader.pauseOfAll(clock.nowMs()),
    /** Stores what an operator requests, and acts on it at once. */
    async operate(request: OperatorRequest, by: Operator): Promise<ActionOutcome> {
      const { action, account } = request;
      if (action !== 'fetch' && registry.account(account) === undefined) return { type: 'unknown' };
      if (action === 'fetch' && registry.service().source === undefined) return { type: 'no_source' };
      if ((action === 'sync' || action === 'fetch') && isStopping()) return { type: 'stopping' };
      const outcome = await operator.operate(request, by, clock.nowMs());
      options.wake();
      void showState(account);
      return outcome;
    },
    /** Plans proposed changes of accounts. Writes neither to the service nor to the journal. */
    plan: options.planPosted,
  };
}

function viewOf(
  { name, file, isValid, settings, errors }: RegisteredAccount,
  record: AccountRecord | undefined,
  { registry, clock, nextTickMs }: DaemonApiOptions,
) {
  const { state, lastRun = null } = record ?? {};
  const { pause = null, pending = null, approval = null } = state ?? {};
  const waiting = waitingPlan({ pending, lastRun });
  const nowMs = clock.nowMs();
  const nextRunMs = record?.dueMs ?? nextTickMs(name);
  return {
    name,
    /** As seen from the service file. Only computed where it is shown: a list of all accounts does not need it. */
    get file() {
      return relative(dirname(registry.service().file), file);
    },
    /** Whether its file with its catalogs is valid now. */
    valid: isValid,
    /** Whether the service file is valid now. Otherwise no account runs. */
    serviceValid: registry.serviceErrors().length === 0,
    /** The errors that every run fails with, as `file:line:column: …`: those of the service file first. */
    issues: errors.map(formatConfigIssue),
    /** From the last valid configuration; null when there never was one. */
    mode: settings?.mode ?? null,
    schedule: settings?.schedule ?? null,
    timezone: settings?.timezone ?? null,
    region: settings?.region ?? null,
    remoteAccountId: state?.remoteAccountId ?? settings?.accountId ?? null,
    /** null while scheduled runs are allowed. */
    pause: pause && { since: iso(pause.sinceMs), by: pause.by, reason: pause.reason },
    /** `queued`: waits for a free place. */
    activity: activityOf(record, nowMs),
    /** null while the account is paused, because no scheduled run starts then. */
    nextRunAt: pause !== null || nextRunMs === null ? null : iso(nextRunMs),
    consecutiveFailures: state?.consecutiveFailures ?? 0,
    /** The changes of the last plan that were not applied; null when there is none. */
    drift: record?.remaining ?? null,
    /** The plan that waits for approval; null while a run applies it. */
    pending: waiting && { digest: waiting.digest, runId: waiting.runId, since: iso(waiting.sinceMs) },
    approved: approvedView(approval, nowMs),
    lastRun,
    lastSuccessAt: record?.lastSuccessAt ?? null,
  };
}

function activityOf(record: AccountRecord | undefined, nowMs: number): 'running' | 'queued' | 'idle' {
  if (record?.lastRun?.status === 'running') return 'running';
  const isPaused = record?.state.pause !== null;
  return isPaused || (record.dueMs ?? Infinity) > nowMs ? 'idle' : 'queued';
}

/** null when it has expired. */
function approvedView(approval: Approval | null, nowMs: number) {
  if (approval === null || hasExpired(approval, nowMs)) return null;
  return { digest: approval.digest, by: approval.by, expiresAt: iso(approval.expiresAtMs) };
}

function iso(ms: number): string {
  return new Date(ms).toISOString();
}
