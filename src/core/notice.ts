// What a run means for its account, and which notices a change of that gives (contract, section 7, Notifications).
import type { OperationRecord, RunRecord } from './journal.ts';
import type { HeldChange } from './plan.ts';
import type { RunDetail } from './journal-reader.ts';
import type { NotifySettings } from './settings.ts';

export type NoticeType = NotifySettings['events'][number];

/** How an account stands after a run. `fingerprint` tells one bad state from the next one of its sort. */
export interface Standing {
  readonly state: 'ok' | 'failed' | 'held' | 'drift';
  readonly fingerprint: string;
}

/** What one target knows of one account. */
export interface Told extends Standing {
  /** When the target was last sent a notice of this state; null when it listens to no such notice. */
  readonly toldAtMs: number | null;
  /** The start of the run that this is known from. */
  readonly asOfMs: number;
}

/** `fingerprint` is null when the changes of the run could not be read: a known state of the same sort continues. */
type RunStanding = Pick<Standing, 'state'> & { readonly fingerprint: string | null };

/** What a run has to say. `standing` is null when it says nothing of how the account stands. */
export interface RunNews {
  readonly standing: RunStanding | null;
  readonly applied: boolean;
}

export type Listener = Pick<NotifySettings, 'events' | 'remindEveryMs'>;

export interface DueNotice {
  readonly type: NoticeType;
  readonly reminder: boolean;
}

/** What a target knows after a run, null when still nothing, and the notices that it gets, in their order. */
export interface Judgement {
  readonly told: Told | null;
  readonly due: readonly DueNotice[];
}

/** A change that waits; a plan says every rule that holds it, a run the first one. */
export type WaitingChange = Pick<HeldChange, 'action' | 'kind' | 'name'> & {
  readonly rules: readonly string[];
};

/** The digest of this run's plan when it waits for approval; another plan that waits is none of this run's. */
export function awaitedDigest({ run }: Pick<RunDetail, 'run'>, pendingDigest: string | null): string | null {
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
  const standing = standingOf(detail, awaitedDigest(detail, pendingDigest) !== null);
  return {
    standing: standing && { ...standing, fingerprint: sha256(standing.fingerprint) },
    applied: status !== 'running' && created + deleted > 0,
  };
}

/** What the record of a run tells where its plan and its operations could not be read. */
export function unreadNewsOf(
  run: RunRecord,
  pendingDigest: string | null,
  sha256: (text: string) => string,
): RunNews {
  const news = newsOf({ run, operations: [], warnings: [], plan: null }, pendingDigest, sha256);
  const isByItsChanges = run.status === 'held' || run.status === 'partial';
  return news.standing === null || !isByItsChanges
    ? news
    : { ...news, standing: { state: news.standing.state, fingerprint: null } };
}

function standingOf(detail: RunDetail, isAwaited: boolean): Standing | null {
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

function heldOrOk(detail: RunDetail): Standing {
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
export function judgeNews(
  { standing, applied, startedAtMs }: RunNews & { readonly startedAtMs: number },
  told: Told | null,
  listener: Listener,
  nowMs: number,
): Judgement {
  const hears = (type: NoticeType): boolean => listener.events.includes(type);
  const due: DueNotice[] = [];
  const add = (type: NoticeType, reminder = false): void => {
    if (hears(type)) due.push({ type, reminder });
  };
  if (applied) add('applied');
  if (standing === null || (told !== null && isOlder(startedAtMs, told.asOfMs, nowMs))) return { told, due };

  if (hasRecovered(told, standing, applied)) add('recovered');
  const before = told?.state === standing.state ? told.fingerprint : '';
  const known = {
    state: standing.state,
    fingerprint: standing.fingerprint ?? before,
    asOfMs: startedAtMs,
  };
  if (standing.state === 'ok') return { told: { ...known, toldAtMs: null }, due };
  const isSame =
    told?.state === standing.state &&
    (standing.fingerprint === null || told.fingerprint === standing.fingerprint);
  const toldAtMs = isSame ? told.toldAtMs : null;
  const isNew = toldAtMs === null;
  if (!isNew && nowMs - toldAtMs < listener.remindEveryMs) return { told: { ...known, toldAtMs }, due };
  add(standing.state, !isNew);
  return { told: { ...known, toldAtMs: hears(standing.state) ? nowMs : toldAtMs }, due };
}

/** A clock that was set back makes every run look older than what is known; then it is what is known that is wrong. */
function isOlder(startedAtMs: number, knownMs: number, nowMs: number): boolean {
  return startedAtMs < knownMs && knownMs <= nowMs;
}

function hasRecovered(told: Told | null, now: RunStanding, applied: boolean): boolean {
  if (told === null || told.state === 'ok') return false;
  return told.state === 'failed' ? now.state !== 'failed' : now.state === 'ok' && !applied;
}
