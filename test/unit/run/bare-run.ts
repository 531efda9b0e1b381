// A complete run on a service in memory and a journal that records its calls.
import { settingsDigest } from '../../../src/run/changes-during-run.ts';
import type { ReconcileResult, LockOptions } from '../../../src/run/reconcile.ts';
import { dryRun, reconcile } from '../../../src/run/reconcile.ts';
import type { AccountRequest, ApplyDeps, ReconcileOptions } from '../../../src/run/request.ts';
import type { ObservedCatalog, Warning } from '../../../src/core/catalog.ts';
import type { LockAttempt } from '../../../src/core/ports/locks.ts';
import type { ApprovalTaking } from '../../../src/core/operator.ts';
import type { Plan } from '../../../src/core/plan.ts';
import type {
  AccountState,
  Journal,
  NewOperation,
  NewRun,
  OperationResult,
  UnsettledOperation,
  RecordedObservation,
  RunEnd,
} from '../../../src/core/ports/journal.ts';
import type {
  ServiceReader,
  ServiceWriter,
  CreateOutcome,
  DeleteOutcome,
} from '../../../src/core/ports/service.ts';
import type { CommitRelation } from '../../../src/core/ports/repository.ts';
import type { EntryKey } from '../../../src/core/usage.ts';
import { NO_RECORDS } from '../../../src/core/history.ts';
import { entry, observed } from '../core/builders.ts';
import { readerOf, unused } from './bare-context.ts';
import { QuickClock } from './quick-clock.ts';

/** What the journal contains before the run. */
export interface Before {
  /** Whether the store contains no lists of the account; otherwise the last good ones are the present ones. */
  readonly noLastGood?: true;
  readonly lastApplied?: AccountState['lastAppliedCommit'];
  readonly unsettled?: readonly UnsettledOperation[];
  readonly known?: readonly EntryKey[];
  readonly approval?: ApprovalTaking;
  /** The account that uses the same token now. */
  readonly tokenUsedBy?: string;
  readonly formerName?: string;
  readonly paused?: boolean;
  readonly relation?: CommitRelation;
  /** Whether another process has taken the lock when the applied run is recorded. */
  readonly lostLock?: boolean;
}

/** What was journaled; `log` has the calls in their order. */
export interface Recorded {
  readonly log: string[];
  readonly begun: NewRun[];
  readonly observations: RecordedObservation[];
  readonly plans: Plan[];
  readonly rows: NewOperation[];
  readonly results: OperationResult[];
  readonly settled: { readonly name: string; readonly hasHappened: boolean; readonly found?: string }[];
  readonly adopted: string[];
  readonly applied: unknown[];
  readonly throttled: [string, number][];
  readonly ends: RunEnd[];
}

export interface BareRun {
  readonly clock: QuickClock;
  readonly recorded: Recorded;
  /** The lists of the service; an error is thrown by every list. */
  lists: ObservedCatalog | Error;
  /** Called before each list is returned; `reading` counts from 1. */
  onRead: (reading: number) => void;
  /** An answer in place of the usual one, or null. */
  answer: (action: 'POST' | 'DELETE', nameOrId: string) => CreateOutcome | DeleteOutcome | null;
  /** The answers to attempts to take the lock; the last one is repeated. */
  locks: LockAttempt[];
  readonly sent: string[];
  readonly deps: ApplyDeps;
  apply(request: AccountRequest, options?: Partial<ReconcileOptions & LockOptions>): Promise<ReconcileResult>;
  plan(request: AccountRequest): Promise<ReconcileResult>;
}

export function bareRun(start: Partial<ObservedCatalog>, before: Before = {}): BareRun {
  const clock = new QuickClock();
  const recorded: Recorded = {
    log: [],
    begun: [],
    observations: [],
    plans: [],
    rows: [],
    results: [],
    settled: [],
    adopted: [],
    applied: [],
    throttled: [],
    ends: [],
  };
  let ids = 0;
  const reader: ServiceReader & { readings: number } = readerOf(() => {
    run.onRead(reader.readings);
    return run.lists;
  });
  const change = (lists: Partial<ObservedCatalog>): void => {
    if (!(run.lists instanceof Error)) run.lists = { ...run.lists, ...lists };
  };
  const writer: ServiceWriter = {
    create: async (kind, name, mayStart) => {
      if (!(await mayStart())) return { type: 'outdated', error: null, attempts: 0 };
      run.sent.push(`POST ${kind} ${name}`);
      const answer = run.answer('POST', name);
      if (answer !== null) return answer as CreateOutcome;
      ids += 1;
      const made = entry(name, `new-${String(ids)}`);
      if (!(run.lists instanceof Error)) change({ [kind]: [...run.lists[kind], made] });
      return { type: 'created', entry: made, httpStatus: 200, attempts: 1 };
    },
    delete: async (kind, id, mayStart) => {
      if (!(await mayStart())) return { type: 'outdated', error: null, attempts: 0, maybeDone: false };
      run.sent.push(`DELETE ${kind} ${id}`);
      const answer = run.answer('DELETE', id);
      if (answer !== null) return answer as DeleteOutcome;
      if (!(run.lists instanceof Error)) change({ [kind]: run.lists[kind].filter((each) => each.id !== id) });
      return { type: 'deleted', httpStatus: 200, attempts: 1 };
    },
  };
  const run: BareRun = {
    clock,
    recorded,
    lists: observed(start),
    onRead: () => undefined,
    answer: () => null,
    locks: [{ lease: { account: 'acme', runId: 'run', takenAtMs: 0 } }],
    sent: [],
    deps: {
      service: { reader: async () => reader, writer: async () => writer, tokenKey: async () => 'key' },
      journal: journalOf(before, recorded),
      locks: {
        acquire: async () => {
          const [next = { heldBy: 'nobody' }] = run.locks;
          if (run.locks.length > 1) run.locks.shift();
          return next;
        },
        release: async () => void recorded.log.push('release'),
      },
      clock,
      newRunId: () => 'run',
      sha256: (text) => text,
      compareCommits: async () => before.relation ?? 'unknown',
      currentDigest: async (settings) => settingsDigest(settings),
      loadCron: async () => () => false,
    },
    apply: (request, options = {}) =>
      reconcile(request, run.deps, { mode: 'apply', lockTimeoutMs: 0, ...options }),
    plan: (request) => dryRun(request, run.deps),
  };
  return run;
}

const NOTHING_SINCE = {
  missingUse: new Set(),
  deletedSince: new Set<EntryKey>(),
  createdSince: new Map<EntryKey, string>(),
};

function journalOf(before: Before, recorded: Recorded): Journal {
  // Returned once: from then on the history is stored under the new name.
  let formerName = before.formerName ?? null;
  const state: AccountState = {
    remoteAccountId: null,
    pause: before.paused === true ? { sinceMs: 0, by: 'sam', reason: null } : null,
    throttledUntilMs: null,
    lastAppliedCommit: before.lastApplied ?? null,
    pending: null,
    approval: before.approval === undefined ? null : { digest: '', by: 'sam', givenAtMs: 0, expiresAtMs: 0 },
    releasedRuns: new Map(),
    consecutiveFailures: 0,
  };
  function record({ observation, plan }: NonNullable<RunEnd['recorded']>): void {
    recorded.log.push(observation.phase, 'plan');
    recorded.observations.push(observation);
    recorded.plans.push(plan);
  }
  return {
    ...unused<Journal>('journal'),
    accountState: async () => state,
    pauseOfAll: async () => null,
    adoptRenamedAccount: async () => {
      const former = formerName;
      formerName = null;
      return former;
    },
    claimRemoteAccount: async () => null,
    claimToken: async () => (before.tokenUsedBy === undefined ? { state } : { usedBy: before.tokenUsedBy }),
    foreignOwner: async () => null,
    accountHistory: async (_account, _remoteAccountId, lists) => ({
      ...NO_RECORDS,
      lastGood: before.noLastGood === true ? null : { ...NOTHING_SINCE, observed: lists },
      unsettled: before.unsettled ?? [],
    }),
    knownIds: async () => new Set(before.known ?? []),
    settleOperation: async ({ name }, { hasHappened, entry: found }) =>
      void recorded.settled.push({ name, hasHappened, ...(found === null ? {} : { found: found.id }) }),
    beginRun: async (begun) => {
      recorded.log.push('begin');
      recorded.begun.push(begun);
    },
    recordObservation: async (observation, plan = null) => {
      if (plan !== null) return record({ observation, plan });
      recorded.log.push(observation.phase);
      recorded.observations.push(observation);
    },
    addOperations: async (_, rows) => {
      recorded.log.push('operations');
      recorded.rows.push(...rows);
    },
    commitOperations: async (_runId, _lease, _sent, results) => {
      recorded.results.push(...results);
      return 'committed';
    },
    rememberApplied: async (_, { named, commit }) => {
      recorded.log.push('remember');
      recorded.adopted.push(...named);
      if (commit !== 'unchanged') recorded.applied.push(commit);
      return before.lostLock === true ? 'lock_lost' : 'committed';
    },
    rememberThrottle: async (account, untilMs) => void recorded.throttled.push([account, untilMs]),
    approvedPlan: async () => null,
    takeApproval: async () => before.approval ?? { type: 'none' },
    endRun: async (_, end) => {
      if (end.recorded !== undefined) record(end.recorded);
      recorded.log.push('end');
      recorded.ends.push(end);
      return before.lostLock !== true;
    },
  };
}

/** The codes of the warnings with which a run ended. */
export function endCodes({ recorded }: BareRun): string[] {
  return recorded.ends.flatMap(({ warnings }) => warnings.map(({ code }: Warning) => code));
}
