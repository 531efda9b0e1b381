// Derives the health of an account from a run, and the notices that a change of the health causes.
import { type HeldChange, NO_HISTORY, type Operation, type Plan } from './plan.ts';
import type { EndedOperation, EndedRun } from './ports/journal-reader.ts';
import type { NotifySettings } from './settings.ts';

export type NoticeType = NotifySettings['events'][number];

/** What an account can be in at the same time, in the order of their notices. */
export const BAD_STATES = ['failed', 'drift', 'held'] as const satisfies readonly NoticeType[];
export type BadState = (typeof BAD_STATES)[number];

/**
 * The bad states of an account after a run. The fingerprint of a state differs from that of the same state with other
 * changes. null: the account is not in that state. Left out: the run does not show whether it is.
 */
export type AccountHealth = Readonly<Partial<Record<BadState, string | null>>>;

/** The bad states of one account that one target was last notified of; for the status of a commit, other facts. */
export interface NotifiedState {
  readonly states: Readonly<Partial<Record<string, string>>>;
  /** The start of the run that led to them. */
  readonly asOfMs: number;
}

/** What a run changes. */
export interface RunNews {
  readonly health: AccountHealth;
  /** The drift that follows the first run on a store, whose deletes are held for want of earlier lists; null: there is none. */
  readonly nextDrift: string | null;
  readonly applied: boolean;
}

export type Listener = Pick<NotifySettings, 'events'>;

/** The states that a target is notified of after a run (null: none yet), and the notices that it receives, in order. */
export interface NoticeDecision {
  readonly notified: NotifiedState | null;
  readonly due: readonly NoticeType[];
}

/** A held change; a plan names every rule that holds it, a run the first one. */
export type WaitingChange = Pick<HeldChange, 'action' | 'kind' | 'name'> & {
  readonly rules: readonly string[];
};

/** The digest of this run's plan when it waits for approval; null when another plan waits, or none. */
export function awaitedDigest({ run }: Pick<EndedRun, 'run'>, pendingDigest: string | null): string | null {
  // The creates of a partial run may have failed, whose deletes wait for an approval.
  const mayWait = run.status === 'planned' || run.status === 'blocked' || run.status === 'partial';
  return mayWait && run.planDigest === pendingDigest ? pendingDigest : null;
}

/** What a run changes for its account. `pendingDigest` is that of the plan that waits for approval, if any. */
export function newsOf(
  detail: EndedRun,
  pendingDigest: string | null,
  sha256: (text: string) => string,
): RunNews {
  const { run, plan, operations } = detail;
  const fingerprint = (...parts: readonly unknown[]): string => sha256(text(...parts));
  // A plan that starts to wait for approval is a new state, even if the plan is the same.
  const isAwaited = awaitedDigest(detail, pendingDigest) !== null;
  // What is held because the store has no earlier lists ends with the second run, which must not count as a change of state.
  const isFirst = plan?.warnings.some(({ code }) => code === NO_HISTORY) === true;
  const isPassing = (rule: string): boolean => rule === 'rollout' || (isFirst && rule === 'no_evidence');
  const passing = isFirst
    ? (plan?.held ?? []).filter(({ rules }) => rules.every((rule) => rule === 'no_evidence'))
    : [];
  const remaining = plan === null ? [] : notDone(plan, operations);
  const drift = fingerprint([...remaining, ...passing].map(operationText).toSorted(), isAwaited);
  const waiting = waitingChanges(detail);
  // What only a rollout holds is applied by itself, unless an account that runs first fails, whose notice reports that.
  const held = waiting.filter(({ rules }) => rules.length === 0 || rules.some((rule) => rule !== 'rollout'));
  const undone = run.status === 'partial' ? undoneOperations(operations) : [];
  const failed = undone.map(({ kind, action, name }) => text(kind, action, name)).toSorted();
  const states = {
    failed: fingerprint(run.status, run.errorCode, failed, isAwaited),
    drift: remaining.length > 0 && (run.status === 'planned' || isAwaited) ? drift : null,
    held:
      held.length > 0 || (run.status === 'held' && waiting.length === 0)
        ? fingerprint(heldTexts(held, isPassing))
        : null,
  };
  return {
    health: healthOf(detail, states),
    nextDrift: passing.length > 0 ? drift : null,
    applied: run.status !== 'running' && run.created + run.deleted > 0,
  };
}

/** The states that a run with this status shows. */
function healthOf(
  { run, plan }: EndedRun,
  states: { readonly failed: string; readonly drift: string | null; readonly held: string | null },
): AccountHealth {
  const { status } = run;
  if (status === 'running' || status === 'interrupted' || (status === 'planned' && plan === null)) return {};
  if (status === 'failed' || status === 'blocked') return { failed: states.failed };
  return status === 'partial' ? states : { ...states, failed: null };
}

function heldTexts(held: readonly WaitingChange[], isPassing: (rule: string) => boolean): string[] {
  const lasting = (rules: WaitingChange['rules']) => rules.filter((rule) => !isPassing(rule));
  return held
    .filter(({ rules }) => rules.length === 0 || lasting(rules).length > 0)
    .map(({ action, kind, name, rules }) => text(kind, action, name, lasting(rules)))
    .toSorted();
}

function operationText({ kind, action, name, remoteId, usedBy }: Operation | HeldChange): string {
  return text(kind, action, name, remoteId ?? null, usedBy ?? []);
}

/** The operations of the plan that the run did not do. */
export function notDone(plan: Plan, operations: EndedRun['operations']): Operation[] {
  const done = new Set(operations.filter(({ status }) => status === 'done').map(({ seq }) => seq));
  return plan.operations.filter((_, index) => !done.has(index + 1));
}

/** A text that is equal only for equal parts, whatever characters a name contains. */
function text(...parts: readonly unknown[]): string {
  return JSON.stringify(parts);
}

/** The operations that the run did not complete. Which of them failed first is chance, so all of them count. */
export function undoneOperations(operations: readonly EndedOperation[]): EndedOperation[] {
  return operations.filter(({ status }) => status !== 'done' && status !== 'held');
}

/** The held changes, by the plan or during the run, each once. */
export function waitingChanges({ plan, operations }: EndedRun): WaitingChange[] {
  const key = ({
    kind,
    action,
    name,
    remoteId,
  }: Pick<EndedOperation, 'kind' | 'action' | 'name' | 'remoteId'>) => text(kind, action, name, remoteId);
  const planned = plan?.held ?? [];
  const known = new Set(planned.map(key));
  const meanwhile = operations.filter((row) => row.status === 'held' && !known.has(key(row)));
  return [
    ...planned.map(({ action, kind, name, rules }) => ({ action, kind, name, rules })),
    ...meanwhile.map(({ action, kind, name, rule }) => ({
      action,
      kind,
      name,
      rules: rule === null ? [] : [rule],
    })),
  ];
}

/**
 * Decides which notices a target receives for a run. Applied changes are notified for each run, and a state when it begins.
 * A recovery is the end of a failure, whatever remains, and that of all states that the target lists. States that it does not
 * list are tracked too. What a run does not show stays as it was, and a run older than the known states changes none.
 */
export function decideNotices(
  { health, nextDrift, applied, startedAtMs }: RunNews & { readonly startedAtMs: number },
  notified: NotifiedState | null,
  { events }: Listener,
  nowMs: number,
): NoticeDecision {
  const due: NoticeType[] = [];
  const add = (type: NoticeType): void => {
    if (events.includes(type)) due.push(type);
  };
  if (applied) add('applied');
  if (Object.keys(health).length === 0 || (notified !== null && isOlder(startedAtMs, notified.asOfMs, nowMs)))
    return { notified, due };

  const known = notified?.states ?? {};
  const states: Partial<Record<BadState, string>> = {};
  for (const state of BAD_STATES) {
    const now = health[state] === undefined ? known[state] : health[state];
    if (now !== undefined && now !== null) states[state] = now;
  }
  const listed = BAD_STATES.filter((state) => events.includes(state));
  const watched = listed.length === 0 ? BAD_STATES : listed;
  const hasEnded = (all: readonly BadState[]): boolean =>
    all.some((state) => known[state] !== undefined) && all.every((state) => states[state] === undefined);
  if (hasEnded(watched) || hasEnded(watched.filter((state) => state === 'failed'))) add('recovered');
  for (const state of BAD_STATES) {
    if (states[state] !== undefined && states[state] !== known[state]) add(state);
  }
  // Who was notified of what the first run holds knows the drift that follows.
  if (typeof health.held === 'string' && nextDrift !== null && events.includes('held'))
    states.drift ??= nextDrift;
  return { notified: { states, asOfMs: startedAtMs }, due };
}

/** A known state in the future comes from a clock that was set back, so it makes no run older. */
function isOlder(startedAtMs: number, knownMs: number, nowMs: number): boolean {
  return startedAtMs < knownMs && knownMs <= nowMs;
}
