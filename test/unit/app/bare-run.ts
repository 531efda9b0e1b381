// A complete run on a service in memory and a journal that records its calls.
import type { ReconcileResult, LockOptions } from '../../../src/app/reconcile.ts';
import { dryRun, reconcile } from '../../../src/app/reconcile.ts';
import type { AccountRequest, ApplyDeps, ReconcileOptions } from '../../../src/app/request.ts';
import { ACCEPT_NOTHING } from '../../../src/app/request.ts';
import type { ObservedCatalog, Warning } from '../../../src/core/catalog.ts';
import type { LockAttempt } from '../../../src/core/locks.ts';
import type { AgreedPlan, ApprovalTaking } from '../../../src/core/operator.ts';
import type { Plan } from '../../../src/core/plan.ts';
import type {
  AccountState,
  Journal,
  LastGood,
  NewOperation,
  NewRun,
  OperationResult,
  UnsettledCreate,
  RecordedObservation,
  RunEnd,
  ServiceReader,
  ServiceWriter,
} from '../../../src/core/ports.ts';
import type { CommitRelation } from '../../../src/core/repository.ts';
import type { CreateOutcome, DeleteOutcome } from '../../../src/core/write-outcome.ts';
import type { EntryKey } from '../../../src/core/usage.ts';
import { entry, observed } from '../core/builders.ts';
import { readerOf, unasked } from './bare-context.ts';
import { QuickClock } from './quick-clock.ts';

/** What the journal knows before the run. */
export interface Before {
  readonly lastGood?: LastGood;
  readonly lastApplied?: AccountState['lastAppliedCommit'];
  readonly unsettled?: readonly UnsettledCreate[];
  readonly known?: readonly EntryKey[];
  readonly approvedPlan?: AgreedPlan;
  readonly approval?: ApprovalTaking;
  readonly claimedBy?: string;
  readonly formerName?: string;
  /** How many deletes of earlier runs are still in doubt by these lists. */
  readonly openDeletes?: (listed: ReadonlySet<EntryKey>, at: { readonly openSinceMs: number }) => number;
  readonly paused?: boolean;
  readonly relation?: CommitRelation;
  /** Whether another process has taken the lock when the run is remembered. */
  readonly lostLock?: boolean;
  /** Whether another process has ended the run before this one does. */
  readonly endedByOther?: boolean;
}

/** What the journal was told, in the order of the calls in `log`. */
export interface Told {
  readonly log: string[];
  readonly begun: NewRun[];
  readonly observations: RecordedObservation[];
  readonly plans: Plan[];
  readonly rows: NewOperation[];
  readonly results: OperationResult[];
  readonly settled: { readonly create: UnsettledCreate; readonly found: string | null }[];
  readonly adopted: string[];
  /** What was told of deletes in doubt. */
  readonly looked: { readonly listed: string[]; readonly nowMs: number; readonly openSinceMs: number }[];
  readonly applied: unknown[];
  readonly throttled: [string, number][];
  readonly ends: RunEnd[];
  readonly asked: { readonly digest: string; readonly byHand: boolean }[];
}

export interface BareRun {
  readonly clock: QuickClock;
  readonly told: Told;
  /** What the service holds; an error is what every list answers. */
  lists: ObservedCatalog | Error;
  /** Called before each list is given; `reading` counts from 1. */
  onRead: (reading: number) => void;
  /** An answer in the place of what happens otherwise, or null. */
  answer: (action: 'POST' | 'DELETE', nameOrId: string) => CreateOutcome | DeleteOutcome | null;
  /** The answers to who asks for the lock, the last one for ever. */
  locks: LockAttempt[];
  readonly sent: string[];
  readonly deps: ApplyDeps;
  apply(request: AccountRequest, options?: Partial<ReconcileOptions & LockOptions>): Promise<ReconcileResult>;
  plan(request: AccountRequest): Promise<ReconcileResult>;
}

export function bareRun(start: Partial<ObservedCatalog>, before: Before = {}): BareRun {
  const clock = new QuickClock();
  const told: Told = {
    log: [],
    begun: [],
    observations: [],
    plans: [],
    rows: [],
    results: [],
    settled: [],
    adopted: [],
    looked: [],
    applied: [],
    throttled: [],
    ends: [],
    asked: [],
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
    create: async (kind, name) => {
      run.sent.push(`POST ${kind} ${name}`);
      const answer = run.answer('POST', name);
      if (answer !== null) return answer as CreateOutcome;
      ids += 1;
      const made = entry(name, `new-${String(ids)}`);
      if (!(run.lists instanceof Error)) change({ [kind]: [...run.lists[kind], made] });
      return { type: 'created', entry: made, httpStatus: 200, attempts: 1 };
    },
    delete: async (kind, id) => {
      run.sent.push(`DELETE ${kind} ${id}`);
      const answer = run.answer('DELETE', id);
      if (answer !== null) return answer as DeleteOutcome;
      if (!(run.lists instanceof Error)) change({ [kind]: run.lists[kind].filter((each) => each.id !== id) });
      return { type: 'deleted', httpStatus: 200, attempts: 1 };
    },
  };
  const run: BareRun = {
    clock,
    told,
    lists: observed(start),
    onRead: () => undefined,
    answer: () => null,
    locks: [{ lease: { account: 'acme', token: 't' } }],
    sent: [],
    deps: {
      service: { reader: async () => reader, writer: async () => writer, tokenKey: async () => 'key' },
      journal: journalOf(before, told),
      locks: {
        acquire: async () => {
          const [next = { heldBy: 'nobody' }] = run.locks;
          if (run.locks.length > 1) run.locks.shift();
          return next;
        },
        renew: async () => true,
        release: async () => void told.log.push('release'),
      },
      clock,
      newRunId: () => 'run',
      sha256: (text) => text,
      compareCommits: async () => before.relation ?? 'unknown',
      loadCron: async () => () => false,
    },
    apply: (request, options = {}) =>
      reconcile(request, run.deps, { mode: 'apply', accept: ACCEPT_NOTHING, lockTimeoutMs: 0, ...options }),
    plan: (request) => dryRun(request, run.deps),
  };
  return run;
}

const NOTHING_SINCE = { missing: [], deletedSince: new Set<EntryKey>(), createdSince: new Set<EntryKey>() };

function journalOf(before: Before, told: Told): Journal {
  // Told once: from then on the history stands under the new name.
  let formerName = before.formerName ?? null;
  return {
    ...unasked<Journal>('journal'),
    accountState: async () => ({
      remoteAccountId: null,
      paused: before.paused ?? false,
      throttledUntilMs: null,
      lastAppliedCommit: before.lastApplied ?? null,
      pending: null,
      approval: null,
      consecutiveFailures: 0,
    }),
    adoptRenamedAccount: async () => {
      const former = formerName;
      formerName = null;
      return former;
    },
    claimRemoteAccount: async () => before.claimedBy ?? null,
    claimToken: async () => null,
    foreignAccount: async () => null,
    lastGood: async (_account, _remoteAccountId, lists) =>
      before.lastGood === undefined ? { ...NOTHING_SINCE, observed: lists } : before.lastGood,
    accountHistory: async () => ({
      recent: [],
      owned: new Set(),
      changedNames: new Map(),
      unusedSinceMs: new Map(),
      neverListed: [],
    }),
    knownIds: async () => new Set(before.known ?? []),
    unsettledCreates: async () => before.unsettled ?? [],
    settleDeletes: async (_, listed, { nowMs, openSinceMs }) => {
      const at = { nowMs, openSinceMs };
      told.looked.push({ listed: [...listed], ...at });
      return before.openDeletes?.(listed, at) ?? 0;
    },
    settleCreate: async (create, found) =>
      void told.settled.push({ create, found: found === null ? null : found.id }),
    forgetRun: async () => undefined,
    beginRun: async (begun) => {
      told.log.push('begin');
      told.begun.push(begun);
    },
    recordObservation: async (observation) => {
      told.log.push(observation.phase);
      told.observations.push(observation);
    },
    recordPlan: async (_, plan) => {
      told.log.push('plan');
      told.plans.push(plan);
    },
    addOperations: async (_, rows) => {
      told.log.push('operations');
      told.rows.push(...rows);
    },
    commitOperations: async (_runId, _lease, _sent, results) => {
      told.results.push(...results);
      return 'committed';
    },
    rememberApplied: async (_, { named, commit }) => {
      told.log.push('remember');
      told.adopted.push(...named);
      if (commit !== null) told.applied.push(commit);
      return before.lostLock === true ? 'lock_lost' : 'committed';
    },
    rememberThrottle: async (account, untilMs) => void told.throttled.push([account, untilMs]),
    approvedPlan: async () => before.approvedPlan ?? null,
    takeApproval: async (_account, digest, byHand) => {
      told.asked.push({ digest, byHand });
      return before.approval ?? { type: 'none' };
    },
    endRun: async (_, end) => {
      told.log.push('end');
      told.ends.push(end);
      return before.endedByOther !== true;
    },
  };
}

/** The codes of the warnings with which a run ended. */
export function endCodes({ told }: BareRun): string[] {
  return told.ends.flatMap(({ warnings }) => warnings.map(({ code }: Warning) => code));
}
