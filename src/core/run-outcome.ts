// Summarises an ended run for the daemon: counts and the first rows, so that its size does not depend on the run's.
import { OLDER_SOURCE, type Operation, type Plan, type PlanSummary } from './plan.ts';
import { type Action, ACTIONS, type Kind, type Warning } from './catalog.ts';
import type { OperationRecord, RunRecord } from './schemas.ts';
import type { EndedOperation, EndedRun } from './ports/journal-reader.ts';
import {
  awaitedDigest,
  newsOf,
  notDone,
  type NoticeType,
  type RunNews,
  undoneOperations,
  waitingChanges,
} from './notice.ts';

type Change = Pick<OperationRecord, 'kind' | 'action'>;

/** A change by its name, with the rules that hold it. */
export interface NamedChange extends Change {
  readonly name: string;
  readonly rules?: readonly string[];
}

/** The first changes that a notice is about, deletes first, and the number of all. */
export interface FirstChanges {
  readonly first: readonly NamedChange[];
  readonly total: number;
}

/** What people would lose by the deletes that were not done. */
export interface Loss {
  readonly people: number;
  /** The names of the first entries that they have, and the number of all. */
  readonly names: readonly string[];
  readonly total: number;
}

export interface RunOutcome {
  readonly run: RunRecord;
  readonly loss: Loss;
  /** null when the run made no plan. */
  readonly plan: {
    readonly summary: PlanSummary;
    /** The operations that were not done, counted. */
    readonly drift: readonly (Change & { readonly count: number })[];
    /** A change that several rules hold counts for each of them. */
    readonly held: readonly { readonly kind: Kind; readonly rule: string; readonly count: number }[];
  } | null;
  /** The run's operations by their status. */
  readonly operations: readonly (Change & {
    readonly status: OperationRecord['status'];
    readonly count: number;
  })[];
  /** The first operations that failed, or whose outcome is unknown. */
  readonly failures: readonly EndedOperation[];
  /** The warnings that the daemon logs. */
  readonly logged: readonly Warning[];
  readonly news: RunNews;
  /** The digest of this run's plan while it waits for approval. */
  readonly awaited: string | null;
  readonly changes: Readonly<Record<NoticeType, FirstChanges>>;
}

/** At most this many changes of a notice, and failed operations in the log, are named. */
export const MOST_NAMED = 5;

/** `pendingDigest` is that of the account's plan that waits for approval, if one does. */
export function outcomeOf(
  detail: EndedRun,
  pendingDigest: string | null,
  sha256: (text: string) => string,
): RunOutcome {
  const { run, operations, warnings, plan } = detail;
  const remaining = remainingOperations(detail);
  const done = operations.filter(({ status, attempts }) => status === 'done' && attempts > 0);
  return {
    run,
    loss: lossOf(remaining ?? []),
    plan:
      plan === null || remaining === null
        ? null
        : {
            summary: plan.summary,
            drift: counted(remaining, ({ kind, action }) => ({ kind, action })),
            held: counted(
              plan.held.flatMap(({ kind, rules }) => rules.map((rule) => ({ kind, rule }))),
              (each) => each,
            ),
          },
    operations: counted(operations, ({ kind, action, status }) => ({ kind, action, status })),
    failures: operations
      .filter(({ status }) => status === 'failed' || status === 'unknown')
      .slice(0, MOST_NAMED),
    logged: warnings.filter(({ code }) => code === 'approval_lapsed' || code === OLDER_SOURCE),
    news: newsOf(detail, pendingDigest, sha256),
    awaited: awaitedDigest(detail, pendingDigest),
    changes: {
      drift: firstOf(plan?.operations ?? []),
      applied: firstOf(done),
      held: firstOf(waitingChanges(detail)),
      failed: firstOf(run.status === 'partial' ? undoneOperations(operations) : []),
      recovered: firstOf([]),
    },
  };
}

function lossOf(operations: readonly Operation[]): Loss {
  const lost = operations.filter(({ usedBy = [] }) => usedBy.length > 0);
  const people = new Set(lost.flatMap(({ usedBy = [] }) => usedBy));
  const names = lost.slice(0, MOST_NAMED).map(({ name }) => name);
  return { people: people.size, names, total: lost.length };
}

/** Counts the values by the fields that `pick` selects, in the order of their first occurrence. */
function counted<T, P extends object>(
  values: readonly T[],
  pick: (value: T) => P,
): (P & { count: number })[] {
  const counts = new Map<string, P & { count: number }>();
  for (const value of values) {
    const picked = pick(value);
    const key = JSON.stringify(picked);
    const known = counts.get(key);
    if (known === undefined) counts.set(key, { ...picked, count: 1 });
    else known.count += 1;
  }
  return [...counts.values()];
}

/** The first changes. Deletes come first, because they matter most. */
function firstOf(changes: readonly NamedChange[]): FirstChanges {
  const first: NamedChange[] = [];
  for (const wanted of ACTIONS.toReversed()) {
    for (const { action, kind, name, rules } of changes) {
      if (first.length === MOST_NAMED) break;
      if (action === wanted) first.push({ action, kind, name, ...(rules === undefined ? {} : { rules }) });
    }
  }
  return { first, total: changes.length };
}

/** The plan's operations that were not done; null when the run made no plan. */
export function remainingOperations({ plan, operations }: EndedRun): readonly Operation[] | null {
  return plan === null ? null : notDone(plan, operations);
}

/** The plan of a run with only the operations that were not done; null when none remains and nothing is held. */
export function remainingPlan(detail: EndedRun): Plan | null {
  const { plan } = detail;
  if (plan === null) return null;
  const operations = notDone(plan, detail.operations);
  if (operations.length === 0 && plan.summary.hold === 0) return null;
  const count = (wanted: Action): number => operations.filter(({ action }) => action === wanted).length;
  const summary = { ...plan.summary, create: count('create'), delete: count('delete') };
  return { ...plan, operations, summary };
}
