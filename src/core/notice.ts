// What a run means for its account, and which notices a change of that gives (contract, section 7, Notifications).
import type { OperationRecord } from './journal.ts';
import type { HeldChange } from './plan.ts';
import type { RunDetail } from './journal-reader.ts';
import type { NotifySettings } from './settings.ts';

export type NoticeType = NotifySettings['events'][number];

/** How an account stands after a run. `fingerprint` tells one bad state from the next one of its sort. */
export interface AccountHealth {
  readonly state: 'ok' | 'failed' | 'held' | 'drift';
  readonly fingerprint: string;
}

/** What one target knows of one account. */
export interface NotifiedState extends AccountHealth {
  /** When the target was last sent a notice of this state; null when it listens to no such notice. */
  readonly notifiedAtMs: number | null;
  /** The start of the run that this is known from. */
  readonly asOfMs: number;
}

/** What a run has to say. `standing` is null when it says nothing of how the account stands. */
export interface RunNews {
  readonly health: AccountHealth | null;
  readonly applied: boolean;
}

export type Listener = Pick<NotifySettings, 'events' | 'remindEveryMs'>;

export interface DueNotice {
  readonly type: NoticeType;
  readonly reminder: boolean;
}

/** What a target knows after a run, null when still nothing, and the notices that it gets, in their order. */
export interface NoticeDecision {
  readonly notified: NotifiedState | null;
  readonly due: readonly DueNotice[];
}

/** A change that waits; a plan says every rule that holds it, a run the first one. */
export type WaitingChange = Pick<HeldChange, 'action' | 'kind' | 'name'> & {
  readonly rules: readonly string[];
};

/** The digest of this run's plan when it waits for approval; another plan that waits is none of this run's. */
export function awaitedDigest({ run }: RunDetail, pendingDigest: string | null): string | null {
  const mayWait = run.status === 'planned' || run.status === 'blocked';
  return mayWait && run.planDigest === pendingDigest ? pendingDigest : null;
}

/** What a run says of its account; `pendingDigest` is that of the plan that waits for approval, if one does. */
export function newsOf(
  detail: RunDetail,
  pendingDigest: string | null,
  sha256: (text: string) => string,
): RunNews {
  const { status, created, deleted } = detail.run;
  const health = healthOf(detail, awaitedDigest(detail, pendingDigest) !== null);
  return {
    health: health && { ...health, fingerprint: sha256(health.fingerprint) },
    applied: status !== 'running' && created + deleted > 0,
  };
}

function healthOf(detail: RunDetail, isAwaited: boolean): AccountHealth | null {
  const { run, plan } = detail;
  switch (run.status) {
    case 'running':
    case 'interrupted':
      return null;
    case 'failed':
    case 'blocked':
    case 'partial':
      return { state: 'failed', fingerprint: failureFingerprint(detail, isAwaited) };
    case 'planned':
      if (plan === null) return null;
      if (plan.operations.length === 0) return heldOrOk(detail);
      // The same plan that from now on waits for a person is news to that person.
      return { state: 'drift', fingerprint: text(plan.digest, isAwaited) };
    case 'held':
    case 'converged':
      return heldOrOk(detail);
    default:
      return run.status satisfies never;
  }
}

function heldOrOk(detail: RunDetail): AccountHealth {
  // The rule no_history ends by itself with the second run; without it nothing new is held then.
  const held = waitingChanges(detail).map(({ action, kind, name, rules }) =>
    text(
      kind,
      action,
      name,
      rules.filter((rule) => rule !== 'no_history'),
    ),
  );
  return held.length === 0 && detail.run.status !== 'held'
    ? { state: 'ok', fingerprint: '' }
    : { state: 'held', fingerprint: text(held.toSorted()) };
}

function failureFingerprint({ run, operations }: RunDetail, isAwaited: boolean): string {
  const undone = undoneOperations(operations).map(({ kind, action, name }) => text(kind, action, name));
  return text(run.status, run.errorCode, run.status === 'partial' ? undone.toSorted() : [], isAwaited);
}

/** Text that is equal only for equal parts, whatever a name holds. */
function text(...parts: readonly unknown[]): string {
  return JSON.stringify(parts);
}

/** What a run planned and did not get done. Which of it failed first is chance, so all of it counts. */
export function undoneOperations(operations: readonly OperationRecord[]): OperationRecord[] {
  return operations.filter(({ status }) => status !== 'done' && status !== 'held');
}

/** What is held, by the plan or in the course of the run, each change once. */
export function waitingChanges({ plan, operations }: RunDetail): WaitingChange[] {
  const key = ({
    kind,
    action,
    name,
    remoteId,
  }: Pick<OperationRecord, 'kind' | 'action' | 'name' | 'remoteId'>) => text(kind, action, name, remoteId);
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
 * What a run is to one target. What was done is told for each run. A state is told when it is entered and again as
 * often as the target asks; its end is told unless the `applied` of the same run says as much. A target hears only
 * the types that it lists, but what it does not hear is followed all the same. A run that began before the one that
 * is known changes no state.
 */
export function decideNotices(
  { health, applied, startedAtMs }: RunNews & { readonly startedAtMs: number },
  notified: NotifiedState | null,
  listener: Listener,
  nowMs: number,
): NoticeDecision {
  const hears = (type: NoticeType): boolean => listener.events.includes(type);
  const due: DueNotice[] = [];
  const add = (type: NoticeType, reminder = false): void => {
    if (hears(type)) due.push({ type, reminder });
  };
  if (applied) add('applied');
  if (health === null || (notified !== null && isOlder(startedAtMs, notified.asOfMs, nowMs)))
    return { notified, due };

  if (hasRecovered(notified, health, applied)) add('recovered');
  const known = { ...health, asOfMs: startedAtMs };
  if (health.state === 'ok') return { notified: { ...known, notifiedAtMs: null }, due };
  const isSame = notified?.state === health.state && notified.fingerprint === health.fingerprint;
  const notifiedAtMs = isSame ? notified.notifiedAtMs : null;
  const isNew = notifiedAtMs === null;
  if (!isNew && nowMs - notifiedAtMs < listener.remindEveryMs)
    return { notified: { ...known, notifiedAtMs }, due };
  add(health.state, !isNew);
  return { notified: { ...known, notifiedAtMs: hears(health.state) ? nowMs : notifiedAtMs }, due };
}

/** A clock that was set back makes every run look older than what is known; then it is what is known that is wrong. */
function isOlder(startedAtMs: number, knownMs: number, nowMs: number): boolean {
  return startedAtMs < knownMs && knownMs <= nowMs;
}

function hasRecovered(notified: NotifiedState | null, now: AccountHealth, applied: boolean): boolean {
  if (notified === null || notified.state === 'ok') return false;
  return notified.state === 'failed' ? now.state !== 'failed' : now.state === 'ok' && !applied;
}
