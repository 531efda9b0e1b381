// What cron lines say about time, by node-cron: the next ticks, and whether one lies in a window.
import { createTask } from 'node-cron';

const MINUTE_MS = 60_000;
const NOTHING = (): void => undefined;

/** The next times at which a line ticks, from now. */
export function nextTimes(cron: string, timezone: string, count: number): Date[] {
  const task = createTask(cron, NOTHING, { timezone });
  try {
    return task.getNextRuns(count);
  } finally {
    void task.destroy();
  }
}

/** The time between the next two ticks, in milliseconds. */
export function intervalMs(cron: string, timezone: string): number {
  const [first, second] = nextTimes(cron, timezone, 2);
  return first === undefined || second === undefined ? 0 : second.getTime() - first.getTime();
}

/** Whether a line ticked after `afterMs` and not after `upToMs` (epoch milliseconds). */
export function cronTicked(cron: string, timezone: string, afterMs: number, upToMs: number): boolean {
  const fields = cron.trim().split(/\s+/);
  const minutes = createTask(fields.slice(-5).join(' '), NOTHING, { timezone });
  const seconds = fields.length === 6 ? createTask(cron, NOTHING, { timezone }) : null;
  try {
    for (
      let minute = Math.floor(upToMs / MINUTE_MS) * MINUTE_MS;
      minute > afterMs - MINUTE_MS;
      minute -= MINUTE_MS
    ) {
      if (!minutes.match(new Date(minute))) continue;
      for (let second = 0; second < (seconds === null ? 1 : 60); second += 1) {
        const atMs = minute + second * 1000;
        if (atMs > afterMs && atMs <= upToMs && (seconds === null || seconds.match(new Date(atMs))))
          return true;
      }
    }
    return false;
  } finally {
    void minutes.destroy();
    void seconds?.destroy();
  }
}
