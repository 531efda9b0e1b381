// Derives the health of an account from a run, and the notices that a change of the health causes.
import type { HeldChange } from './plan.ts';
import type { EndedOperation, EndedRun } from './ports/journal-reader.ts';
import type { NotifySettings } from './settings.ts';

export type NoticeType = NotifySettings['events'][number];

/** The health of an account after a run. `fingerprint` differs between two bad states of the same sort. */
export interface AccountHealth {
  readonly state: 'ok' | 'failed' | 'held' | 'drift';
  readonly fingerprint: string;
}

/** The state of one account that one target was last notified of. */
export interface NotifiedState extends AccountHealth {
  /** The start of the run that led to this state. */
  readonly asOfMs: number;
}

/** What a run changes. `health` is null when the run does not determine it, as an interrupted one. */
export interface RunNews {
  readonly health: AccountHealth | null;
  readonly applied: boolean;
}

export type Listener = Pick<NotifySettings, 'events'>;

/** The state that a target is notified of after a run (null: none yet), and the notices that it receives, in order. */
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
  const mayWait = run.status === 'planned' || run.status === 'blocked';
  return mayWait && run.planDigest === pendingDigest ? pendingDigest : null;
}

/** What a run changes for its account. `pendingDigest` is that of the plan that waits for approval, if any. */
export function newsOf(
  detail: EndedRun,
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

function healthOf(detail: EndedRun, isAwaited: boolean): AccountHealth | null {
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
      // A plan that starts to wait for approval is a new state, even if the plan is the same.
      return { state: 'drift', fingerprint: text(plan.digest, isAwaited) };
    case 'held':
    case 'converged':
      return heldOrOk(detail);
    default:
      return run.status satisfies never;
  }
}

function heldOrOk(detail: EndedRun): AccountHealth {
  // The rule no_history ends with the second run, which must not count as a change of state.
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

function failureFingerprint({ run, operations }: EndedRun, isAwaited: boolean): string {
  const undone = undoneOperations(operations).map(({ kind, action, name }) => text(kind, action, name));
  return text(run.status, run.errorCode, run.status === 'partial' ? undone.toSorted() : [], isAwaited);
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
 * Decides which notices a target receives for a run. Applied changes are notified for each run. A state is notified when
 * it starts. Its end is notified unless the `applied` notice of the same run implies it.
 * States whose notices the target does not list are tracked too. A run older than the known state changes no state.
 */
export function decideNotices(
  { health, applied, startedAtMs }: RunNews & { readonly startedAtMs: number },
  notified: NotifiedState | null,
  listener: Listener,
  nowMs: number,
): NoticeDecision {
  const due: NoticeType[] = [];
  const add = (type: NoticeType): void => {
    if (listener.events.includes(type)) due.push(type);
  };
  if (applied) add('applied');
  if (health === null || (notified !== null && isOlder(startedAtMs, notified.asOfMs, nowMs)))
    return { notified, due };

  if (hasRecovered(notified, health, applied)) add('recovered');
  const isSame = notified?.state === health.state && notified.fingerprint === health.fingerprint;
  if (health.state !== 'ok' && !isSame) add(health.state);
  return { notified: { ...health, asOfMs: startedAtMs }, due };
}

/** A known state in the future comes from a clock that was set back, so it makes no run older. */
function isOlder(startedAtMs: number, knownMs: number, nowMs: number): boolean {
  return startedAtMs < knownMs && knownMs <= nowMs;
}

function hasRecovered(notified: NotifiedState | null, now: AccountHealth, applied: boolean): boolean {
  if (notified === null || notified.state === 'ok') return false;
  return notified.state === 'failed' ? now.state !== 'failed' : now.state === 'ok' && !applied;
}
