// The line that shows the progress of a command: what an account does or waits for, with the rate and the time left.
import type { Activity } from '../core/ports/progress.ts';
import { count } from '../report/formatting.ts';

/** A rate over less time than this is not meaningful. */
const SHORTEST_RATE_MS = 500;
/** Pauses of less time are not worth a phrase. */
const SHORT_WAIT_MS = 1000;

/** A step of a command that is no run. `of` is the unit of `done` and `total`, if it has a length. */
export interface Step {
  readonly type: 'step';
  readonly text: string;
  readonly done?: number;
  readonly total?: number;
  readonly forMs?: number;
}

/** An account that a command works on. */
export interface RunningAccount {
  activity: Activity | Step;
  /** When the activity began. */
  sinceMs: number;
  /** How many operations were done then. */
  doneBefore: number;
  /** Until when the service lets no request through. */
  pausedUntilMs: number;
  retries: number;
}

export interface Work {
  /** What is done with all accounts, such as `planned`. */
  readonly verb: string;
  readonly accounts: number;
}

/** The work of a command at a moment. */
export interface WorkState extends Work {
  readonly startedAtMs: number;
  /** The accounts that are complete. */
  readonly done: number;
  /** By name; the one that runs the longest is the first. */
  readonly running: ReadonlyMap<string, RunningAccount>;
  /** How many requests are still completed after a signal; null before it. */
  readonly stopping: number | null;
}

/** The work in one line; null while nothing runs. After a signal it predicts nothing. */
export function progressLine(state: WorkState, nowMs: number): string | null {
  const { verb, accounts, done, startedAtMs, running, stopping } = state;
  const [first] = running;
  if (first === undefined) return null;
  const stopText = stopping === null ? [] : [`stopping: ${inFlightText(stopping)}`];
  const account = `${first[0]}: ${accountText(first[1], nowMs, stopping !== null)}`;
  if (accounts === 1) return [account, ...stopText].join(', ');
  const pace = stopping === null ? paceText(done, accounts - done, nowMs - startedAtMs) : [];
  const total = [`${verb} ${done} of ${count(accounts, 'account')}`, ...pace, ...stopText].join(', ');
  return `${total}; ${account}`;
}

/** Requests in flight, as a stop reports them. */
export function inFlightText(requests: number): string {
  return requests === 0
    ? 'no request is in flight'
    : `${count(requests, 'request')} in flight ${requests === 1 ? 'is' : 'are'} completed`;
}

function accountText(account: RunningAccount, nowMs: number, isStopping: boolean): string {
  const pauseMs = account.pausedUntilMs - nowMs;
  return [
    activityText(account, nowMs - account.sinceMs, isStopping),
    ...(pauseMs >= SHORT_WAIT_MS
      ? [`waiting ${durationText(pauseMs)}, because the service limits requests`]
      : []),
    ...(account.retries > 0 ? [count(account.retries, 'retry', 'retries')] : []),
  ].join(', ');
}

function activityText(
  { activity, doneBefore }: RunningAccount,
  passedMs: number,
  isStopping: boolean,
): string {
  const left = (forMs: number): string => durationText(Math.max(0, forMs - passedMs));
  switch (activity.type) {
    case 'lock':
      return `waiting for the lock, which is held by ${activity.heldBy}, up to ${left(activity.forMs)}`;
    case 'lists':
      return activity.before === 'plan'
        ? `reading the lists of the service, ${activity.read} of 3`
        : `reading the lists again before deleting, ${activity.read} of 3`;
    case 'plan':
      return 'planning';
    case 'recheck':
      return `the lists lack entries or assignments that the last ones had; reading them again in ${left(activity.forMs)}`;
    case 'earlier':
      return `waiting up to ${left(activity.forMs)} until the service has had time to finish what an interrupted run sent (${count(activity.operations, 'operation')})`;
    case 'apply': {
      const { done, total, failed, doubtful } = activity;
      return [
        `${done} of ${count(total, 'operation')}, ${percent(done, total)}`,
        ...(isStopping ? [] : paceText(done - doneBefore, total - done, passedMs)),
        ...(failed > 0 ? [`${failed} failed`] : []),
        ...(doubtful > 0 ? [`${doubtful} without a clear answer`] : []),
      ].join(', ');
    }
    case 'settle':
      return `waiting up to ${left(activity.forMs)} until the lists show the outcome of ${count(activity.operations, activity.action)} without a clear answer`;
    case 'probe':
      return `waiting up to ${left(activity.forMs)} until the list of ${activity.kind}s, which was empty, shows the first create`;
    case 'verify':
      return `verifying: waiting up to ${left(activity.forMs)} until the lists show ${activity.operations === 1 ? 'the change' : `${activity.operations} changes`}`;
    case 'step': {
      const { text, done, total, forMs } = activity;
      const share = done === undefined || !total ? '' : `, ${percent(done, total)}`;
      return `${text}${share}${forMs === undefined ? '' : ` (up to ${left(forMs)})`}`;
    }
    default:
      return activity satisfies never;
  }
}

/** The rate and the time left, if they are known. */
function paceText(done: number, remaining: number, passedMs: number): string[] {
  if (done <= 0 || passedMs < SHORTEST_RATE_MS) return [];
  const perMs = done / passedMs;
  const perSecond = perMs * 1000;
  const rate = perSecond >= 1 ? `${perSecond.toFixed(1)}/s` : `${(perSecond * 60).toFixed(1)}/min`;
  return [rate, ...(remaining > 0 ? [`${durationText(remaining / perMs)} left`] : [])];
}

/** Never 100 % before the end. */
function percent(done: number, total: number): string {
  return `${Math.floor((done * 100) / total)} %`;
}

/** A duration for people: `8 s`, `1 min 20 s`, `2 h 5 min`. Rounded up, since it is about waiting. */
function durationText(ms: number): string {
  const seconds = Math.ceil(ms / 1000);
  if (seconds < 60) return `${seconds} s`;
  const minutes = Math.floor(seconds / 60);
  const [larger, smaller] =
    minutes < 60
      ? [`${minutes} min`, seconds % 60 === 0 ? '' : ` ${seconds % 60} s`]
      : [`${Math.floor(minutes / 60)} h`, minutes % 60 === 0 ? '' : ` ${minutes % 60} min`];
  return `${larger}${smaller}`;
}
