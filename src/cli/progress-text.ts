// The words of the progress: what an account does, or what it waits for.
import type { Activity, OperationCounts } from '../core/progress.ts';
import { count } from '../report/formatting.ts';
import { durationText, type Rate, rateText } from './rate.ts';

/** A step of a command that is no run. `of` is the unit of `done` and `total`, if it has a length. */
export interface Step {
  readonly type: 'step';
  readonly text: string;
  readonly done?: number;
  readonly total?: number;
  readonly forMs?: number;
}

/** What is shown of an account, with the time since when. */
export interface Shown {
  readonly activity: Activity | Step;
  readonly sinceMs: number;
  readonly rate: Rate;
}

/** One phrase about an activity, with the time that it still waits. After a signal no time is left to predict. */
export function activityText({ activity, sinceMs, rate }: Shown, nowMs: number, isStopping: boolean): string {
  const leftMs = (forMs: number): number => Math.max(0, forMs - (nowMs - sinceMs));
  const upTo = (forMs: number): string => `up to ${durationText(leftMs(forMs))}`;
  switch (activity.type) {
    case 'lock':
      return `waiting for the lock, which is held by ${activity.heldBy}, ${upTo(activity.forMs)}`;
    case 'lists':
      return activity.before === 'plan'
        ? `reading the lists of the service, ${activity.read} of 3`
        : `reading the lists again before deleting, ${activity.read} of 3`;
    case 'plan':
      return 'planning';
    case 'recheck':
      return `the lists lack entries or assignments that the last ones had; reading them again in ${durationText(leftMs(activity.forMs))}`;
    case 'earlier':
      return `waiting ${upTo(activity.forMs)} until the service has had time to finish what an interrupted run sent (${count(activity.operations, 'operation')})`;
    case 'apply':
      return countsText(activity, isStopping ? [] : paceText(activity.total, rate, nowMs));
    case 'settle':
      return `waiting ${upTo(activity.forMs)} until the lists show the outcome of ${count(activity.operations, activity.action)} without a clear answer`;
    case 'probe':
      return `waiting ${upTo(activity.forMs)} until the list of ${activity.kind}s, which was empty, shows the first create`;
    case 'verify':
      return `verifying: waiting ${upTo(activity.forMs)} until the lists show ${activity.operations === 1 ? 'the change' : `${activity.operations} changes`}`;
    case 'step':
      return stepText(activity, upTo);
    default:
      return activity satisfies never;
  }
}

function stepText({ text, done, total, forMs }: Step, upTo: (forMs: number) => string): string {
  const share = done === undefined || total === undefined || total === 0 ? '' : `, ${percent(done, total)}`;
  return `${text}${share}${forMs === undefined ? '' : ` (${upTo(forMs)})`}`;
}

function countsText(counts: OperationCounts, pace: readonly string[]): string {
  const { done, total, failed, doubtful } = counts;
  const parts = [
    `${done} of ${count(total, 'operation')}, ${percent(done, total)}`,
    ...pace,
    ...(failed > 0 ? [`${failed} failed`] : []),
    ...(doubtful > 0 ? [`${doubtful} without a clear answer`] : []),
  ];
  return parts.join(', ');
}

/** The rate and the time left, if they are known. */
export function paceText(total: number, rate: Rate, nowMs: number): string[] {
  const perSecond = rate.perSecond(nowMs);
  const leftMs = rate.remainingMs(total, nowMs);
  if (perSecond === null || leftMs === null) return [];
  return [rateText(perSecond), ...(leftMs > 0 ? [`${durationText(leftMs)} left`] : [])];
}

/** Never 100 % before the end. */
function percent(done: number, total: number): string {
  return `${Math.floor((done * 100) / total)} %`;
}
