// Which run starts next: at most `maxRuns` at a time, each account once, and no address keeps the others waiting.
import type { Trigger } from '../core/journal.ts';

export interface RunQueueOptions {
  /** Runs the account; never rejects. */
  readonly run: (account: string, trigger: Trigger) => Promise<void>;
  /** What accounts share that can be slow together: their base address. */
  readonly laneOf: (account: string) => string;
  /** How many lanes are configured. */
  readonly laneCount: () => number;
  readonly maxRuns: () => number;
  /** Whether a waiting account can start now; one that can't keeps no other waiting. */
  readonly mayStart?: (account: string) => boolean;
}

export interface RunQueue {
  /** Runs the account as soon as there is room. False when it runs or waits already, or nothing starts any more. */
  request(account: string, trigger: Trigger): boolean;
  /**
   * As `request`, but while the account runs, one more run follows, however often it is requested. False when nothing
   * starts any more.
   */
  requestOneMore(account: string, trigger: Trigger): boolean;
  /** Starts what can start, after something that `mayStart` looks at has changed. */
  startNext(): void;
  activity(account: string): 'running' | 'queued' | 'idle';
  /** Starts nothing any more and resolves when what runs has ended. */
  stop(): Promise<void>;
}

interface Waiting {
  readonly account: string;
  readonly trigger: Trigger;
}

export function createRunQueue(options: RunQueueOptions): RunQueue {
  const waiting = new Map<string, Waiting>();
  const running = new Map<string, { readonly lane: string; readonly ended: Promise<void> }>();
  /** Accounts that run, and run once more after that. */
  const followed = new Map<string, Trigger>();
  let stopped = false;

  function startWhatFits(): void {
    while (!stopped && running.size < options.maxRuns()) {
      const next = pickNext();
      if (next === null) return;
      waiting.delete(next.account);
      const { account, trigger } = next;
      const ended = options.run(account, trigger).finally(() => {
        running.delete(account);
        const following = followed.get(account);
        followed.delete(account);
        if (following !== undefined && !stopped) waiting.set(account, { account, trigger: following });
        startWhatFits();
      });
      running.set(account, { lane: options.laneOf(account), ended });
    }
  }

  /** The one that waited longest in the lane with the fewest runs; a full lane waits for itself only. */
  function pickNext(): Waiting | null {
    const load = new Map<string, number>();
    for (const { lane } of running.values()) load.set(lane, (load.get(lane) ?? 0) + 1);
    const most = laneLimit(options.maxRuns(), options.laneCount());
    let best: { readonly item: Waiting; readonly load: number } | null = null;
    for (const item of waiting.values()) {
      if (options.mayStart?.(item.account) === false) continue;
      const laneLoad = load.get(options.laneOf(item.account)) ?? 0;
      if (laneLoad < most && (best === null || laneLoad < best.load)) best = { item, load: laneLoad };
      if (best?.load === 0) break;
    }
    return best?.item ?? null;
  }

  return {
    request(account, trigger) {
      if (stopped || waiting.has(account) || running.has(account)) return false;
      waiting.set(account, { account, trigger });
      startWhatFits();
      return true;
    },
    requestOneMore(account, trigger) {
      if (stopped) return false;
      // What an operator requested is not turned back into a scheduled run.
      if (running.has(account) && followed.get(account) === 'manual') return true;
      if (running.has(account)) followed.set(account, trigger);
      // The run that waits does for this one too, with the rights of this trigger.
      else {
        waiting.set(account, { account, trigger });
        startWhatFits();
      }
      return true;
    },
    startNext: startWhatFits,
    activity: (account) => (running.has(account) ? 'running' : waiting.has(account) ? 'queued' : 'idle'),
    async stop() {
      stopped = true;
      waiting.clear();
      await Promise.all([...running.values()].map(({ ended }) => ended));
    },
  };
}

/** How many runs one address may have: a quarter of all places is kept for the others, where there are others. */
export function laneLimit(maxRuns: number, lanes: number): number {
  return lanes < 2 || maxRuns < 2 ? maxRuns : maxRuns - Math.ceil(maxRuns / 4);
}
