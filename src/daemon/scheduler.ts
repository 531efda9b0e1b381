// When each account runs: a node-cron task an account, jitter, at most `maxRuns` at a time, never twice at once.
import { createTask } from 'node-cron';
import type { ScheduledTask } from 'node-cron';
import type { AccountSettings } from '../core/settings.ts';
import type { Trigger } from '../core/journal.ts';
import { intervalMs } from './cron.ts';
import type { Log } from './log.ts';

/** A tick that is this late still runs, so that a busy moment drops none. */
const LATE_TICK_MS = 60_000;

export interface SchedulerOptions {
  readonly maxRuns: number;
  readonly log: Log;
  /** Runs the account; never rejects. */
  readonly run: (account: string, trigger: Trigger) => Promise<void>;
  readonly onSkippedTick: (account: string) => void;
}

export interface Scheduler {
  /** Makes the schedules those of these accounts; unchanged ones go on undisturbed. */
  update(accounts: readonly Schedule[]): void;
  /** Runs the account as soon as there is room, unless it runs or waits already. */
  request(account: string, trigger: Trigger): boolean;
  /** Starts nothing any more and resolves when what runs has ended. */
  stop(): Promise<void>;
}

export type Schedule = Pick<AccountSettings, 'name' | 'schedule' | 'timezone' | 'jitterMs'>;

interface Scheduled {
  readonly key: string;
  readonly task: ScheduledTask;
}

export function createScheduler({ maxRuns, log, run, onSkippedTick }: SchedulerOptions): Scheduler {
  const scheduled = new Map<string, Scheduled>();
  const waiting: { account: string; trigger: Trigger }[] = [];
  const busy = new Map<string, Promise<void> | null>();
  const delays = new Set<NodeJS.Timeout>();
  let stopped = false;

  function startNext(): void {
    const running = [...busy.values()].filter((promise) => promise !== null).length;
    if (stopped || running >= maxRuns) return;
    const next = waiting.shift();
    if (next === undefined) return;
    const promise = run(next.account, next.trigger).finally(() => {
      busy.delete(next.account);
      startNext();
    });
    busy.set(next.account, promise);
    startNext();
  }

  function request(account: string, trigger: Trigger): boolean {
    if (stopped || busy.has(account)) return false;
    busy.set(account, null);
    waiting.push({ account, trigger });
    startNext();
    return true;
  }

  function onTick({ name, jitterMs }: Schedule, everyMs: number): void {
    const delayMs = Math.random() * Math.min(jitterMs, everyMs / 10);
    const timer = setTimeout(() => {
      delays.delete(timer);
      if (!request(name, 'schedule') && !stopped) onSkippedTick(name);
    }, delayMs);
    delays.add(timer);
  }

  function add(account: Schedule, key: string): void {
    const everyMs = intervalMs(account.schedule, account.timezone);
    const task = createTask(account.schedule, () => onTick(account, everyMs), {
      timezone: account.timezone,
      missedExecutionTolerance: LATE_TICK_MS,
      logger: quietLogger(log),
    });
    void task.start();
    scheduled.set(account.name, { key, task });
    const next = task.getNextRun()?.toISOString() ?? null;
    log.info(
      {
        event: 'scheduled',
        account: account.name,
        schedule: account.schedule,
        timezone: account.timezone,
        next,
      },
      'account scheduled',
    );
  }

  function remove(name: string): void {
    void scheduled.get(name)?.task.destroy();
    scheduled.delete(name);
  }

  return {
    update(accounts) {
      if (stopped) return;
      const names = new Set(accounts.map(({ name }) => name));
      for (const name of scheduled.keys()) {
        if (names.has(name)) continue;
        remove(name);
        log.info({ event: 'unscheduled', account: name }, 'account is configured no more');
      }
      for (const account of accounts) {
        const key = JSON.stringify([account.schedule, account.timezone, account.jitterMs]);
        if (scheduled.get(account.name)?.key === key) continue;
        remove(account.name);
        add(account, key);
      }
    },
    request,
    async stop() {
      stopped = true;
      for (const name of scheduled.keys()) remove(name);
      for (const timer of delays) clearTimeout(timer);
      waiting.length = 0;
      for (const running of busy.values()) await running;
    },
  };
}

/** node-cron's own words in the daemon's log instead of on the console. */
function quietLogger(log: Log): {
  info(message: string): void;
  warn(message: string): void;
  error(message: string | Error): void;
  debug(): void;
} {
  return {
    info: () => undefined,
    warn: (message) => log.warn({ event: 'cron', detail: message }, 'the scheduler warns'),
    error: (message) => log.error({ event: 'cron', detail: String(message) }, 'the scheduler failed'),
    debug: () => undefined,
  };
}
