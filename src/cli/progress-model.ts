// What is known about the work of a command, and the lines that show it. Uses neither a clock nor a terminal.
import type { Activity } from '../core/progress.ts';
import { count } from '../report/formatting.ts';
import { activityText, paceText, type Shown, type Step } from './progress-text.ts';
import { createRate, durationText } from './rate.ts';

/** More lines of accounts than this push the report out of sight. */
const MOST_ACCOUNTS = 5;
/** An account that runs for less time has no line: it would only flicker. */
const BRIEF_MS = 1000;
/** Pauses and waits of less time are not worth a line. */
const SHORT_WAIT_MS = 1000;

export interface Work {
  /** What is done with all accounts, such as `planned`. */
  readonly verb: string;
  readonly accounts: number;
}

interface Running extends Shown {
  readonly startedAtMs: number;
  pausedUntilMs: number;
  retries: number;
}

export interface ProgressModel {
  start(account: string, nowMs: number): void;
  note(account: string, activity: Activity | Step, nowMs: number): void;
  end(account: string, nowMs: number): void;
  retried(account: string): void;
  paused(account: string, forMs: number, nowMs: number): void;
  /** A few lines for a terminal; none before anything has started. */
  block(nowMs: number): string[];
  /** The same in one line, for a log; null while nothing runs. */
  line(nowMs: number): string | null;
  /** Changes when the work enters another phase that is worth a line in a log. */
  phase(): string;
}

/** `stopping`: how many requests are still completed after a signal; null before it. */
export function createProgressModel(
  { verb, accounts: total }: Work,
  stopping: () => number | null,
): ProgressModel {
  const running = new Map<string, Mutable<Running>>();
  const finished = createRate();
  let done = 0;

  function describe(account: Running, nowMs: number): string {
    const pauseMs = account.pausedUntilMs - nowMs;
    return [
      activityText(account, nowMs, stopping() !== null),
      ...(pauseMs >= SHORT_WAIT_MS
        ? [`waiting ${durationText(pauseMs)}, because the service limits requests`]
        : []),
      ...(account.retries > 0 ? [count(account.retries, 'retry', 'retries')] : []),
    ].join(', ');
  }

  function summary(nowMs: number): string {
    const pace = stopping() === null ? paceText(total, finished, nowMs) : [];
    return [`${verb} ${done} of ${count(total, 'account')}`, ...pace, ...stopText()].join(', ');
  }

  /** Those that run the longest first; the accounts that have just started are counted only. */
  function accountLines(nowMs: number): string[] {
    const lasting = [...running].filter(([, { startedAtMs: sinceMs }]) => nowMs - sinceMs >= BRIEF_MS);
    const shown = lasting.slice(0, MOST_ACCOUNTS);
    const lines = shown.map(([name, account]) => `  ${name}: ${describe(account, nowMs)}`);
    const others = running.size - shown.length;
    return others === 0 || shown.length === 0
      ? lines
      : [...lines, `  and ${count(others, 'other account')} running`];
  }

  return {
    start(account, nowMs) {
      if (done === 0 && running.size === 0) finished.note(0, nowMs);
      const activity = { type: 'step', text: 'starting' } as const;
      const times = { sinceMs: nowMs, startedAtMs: nowMs, pausedUntilMs: 0 };
      running.set(account, { activity, rate: createRate(), retries: 0, ...times });
    },
    note(account, activity, nowMs) {
      const entry = running.get(account);
      if (entry === undefined) return;
      entry.activity = activity;
      entry.sinceMs = nowMs;
      if (activity.type === 'apply') entry.rate.note(activity.done, nowMs);
    },
    end(account, nowMs) {
      if (!running.delete(account)) return;
      done += 1;
      finished.note(done, nowMs);
    },
    retried(account) {
      const entry = running.get(account);
      if (entry !== undefined) entry.retries += 1;
    },
    paused(account, forMs, nowMs) {
      const entry = running.get(account);
      if (entry !== undefined) entry.pausedUntilMs = Math.max(entry.pausedUntilMs, nowMs + forMs);
    },
    block(nowMs) {
      const [first] = running;
      if (first === undefined) return [];
      if (total === 1) return [single(first, nowMs)];
      return [summary(nowMs), ...accountLines(nowMs)];
    },
    line(nowMs) {
      const [first] = running;
      if (first === undefined) return null;
      if (total === 1) return single(first, nowMs);
      const [longest, ...others] = accountLines(nowMs);
      if (longest === undefined) return summary(nowMs);
      return [
        summary(nowMs),
        longest.trim(),
        ...(others.length > 0 ? [`${running.size - 1} more running`] : []),
      ].join('; ');
    },
    phase() {
      const [first] = running.values();
      return total === 1 && first !== undefined ? phaseOf(first.activity) : '';
    },
  };

  function single([name, account]: [string, Running], nowMs: number): string {
    return [`${name}: ${describe(account, nowMs)}`, ...stopText()].join(', ');
  }

  function stopText(): string[] {
    const requests = stopping();
    return requests === null ? [] : [`stopping: ${inFlightText(requests)}`];
  }
}

type Mutable<T> = { -readonly [Key in keyof T]: T[Key] };

/** Requests in flight, as a stop reports them. */
export function inFlightText(requests: number): string {
  return requests === 0
    ? 'no request is in flight'
    : `${count(requests, 'request')} in flight ${requests === 1 ? 'is' : 'are'} completed`;
}

function phaseOf(activity: Activity | Step): string {
  if (activity.type === 'apply') return `apply ${activity.action}`;
  return activity.type === 'step' ? activity.text : activity.type;
}
