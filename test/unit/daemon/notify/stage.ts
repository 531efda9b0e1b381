// A notifier on a real store, with a clock that only the test moves and a log that it can read.
import { join } from 'node:path';
import { onTestFinished, vi } from 'vitest';
import type { RunMode } from '../../../../src/core/journal.ts';
import { outcomeOf } from '../../../../src/core/run-outcome.ts';
import { SecretError } from '../../../../src/core/errors.ts';
import { Secret } from '../../../../src/core/secret.ts';
import type { NotifySettings, SecretRef } from '../../../../src/core/settings.ts';
import type { Log } from '../../../../src/daemon/log.ts';
import type { DeliveryResult, Notifier, NotifierOptions } from '../../../../src/daemon/notify/notifier.ts';
import { createNotifier } from '../../../../src/daemon/notify/notifier.ts';
import { sha256 } from '../../core/builders.ts';
import type { RunSketch } from '../../core/run-details.ts';
import { runDetail, T0 } from '../../core/run-details.ts';
import type { SqliteFixture } from '../../store/fixture.ts';
import { sqliteFixture, newFolder } from '../../store/fixture.ts';
import type { VirtualClock } from '../virtual-clock.ts';
import { virtualClock } from '../virtual-clock.ts';

export interface Logged {
  readonly level: 'debug' | 'info' | 'warn' | 'error';
  readonly message: string;
  readonly [field: string]: unknown;
}

export function testLog(): Log & { readonly lines: Logged[] } {
  const lines: Logged[] = [];
  const at = (level: Logged['level']) => (data: object, message: string) =>
    void lines.push({ level, message, ...data });
  return { lines, debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error') };
}

export function target(url: NotifySettings['url'], of: Partial<NotifySettings> = {}): NotifySettings {
  return {
    url,
    format: 'json',
    events: ['drift', 'applied', 'held', 'failed', 'recovered'],
    collectMs: 0,
    ...of,
  };
}

export interface Stage {
  readonly store: SqliteFixture;
  readonly clock: VirtualClock;
  readonly log: ReturnType<typeof testLog>;
  readonly results: DeliveryResult[];
  /** What references resolve to, by the name of the variable. */
  readonly env: Map<string, string>;
  /** A separate notifier on the same store, as in another process or after a restart; started. */
  notifier(
    targets: readonly NotifySettings[],
    store?: SqliteFixture,
    fleet?: NotifierOptions['fleet'],
  ): Notifier;
}

export function stage(): Stage {
  const store = sqliteFixture(join(newFolder(), 'rolecall.db'));
  const clock = virtualClock(T0);
  const log = testLog();
  const results: DeliveryResult[] = [];
  const env = new Map<string, string>();
  return {
    store,
    clock,
    log,
    results,
    env,
    notifier(targets, on = store, fleet = () => Promise.resolve(null)) {
      const notifier = createNotifier({
        targets,
        version: '1.2.3',
        outbox: on.outbox,
        fleet,
        clock,
        log,
        resolveSecret: (ref: SecretRef, what: string) => {
          const value = 'env' in ref ? env.get(ref.env) : undefined;
          return value === undefined
            ? Promise.reject(new SecretError(`${what}: it is not there`))
            : Promise.resolve(new Secret(value));
        },
        onResult: (result) => void results.push(result),
        // The middle of the jitter, so that retries wait for exactly 1 s, 4 s, 16 s …
        random: () => 0.5,
      });
      onTestFinished(async () => {
        let isStopped = false;
        const stopped = notifier.stop().finally(() => (isStopped = true));
        // Stopping waits for a delivery that hangs, by this clock.
        while (!isStopped) await clock.pass(10_000);
        await stopped;
      });
      notifier.start();
      return notifier;
    },
  };
}

/** What the daemon passes with a run besides its journal. */
export interface RunContext {
  readonly pendingDigest?: string | null;
  readonly mode?: RunMode;
}

/** Reports the end of run `n`, as the daemon does. */
export async function end(
  notifier: Notifier,
  n: number,
  sketch: RunSketch = {},
  { pendingDigest = null, mode = 'apply' }: RunContext = {},
): Promise<void> {
  await notifier.runEnded(outcomeOf(runDetail(n, sketch), pendingDigest, sha256), mode);
}

export const FAILED: RunSketch = {
  status: 'failed',
  plan: null,
  errorCode: 'unavailable',
  error: 'the service did not answer',
};

/** Waits for a condition, by real time, since sockets and the store take their own. */
export async function until(condition: () => void | Promise<void>): Promise<void> {
  await vi.waitFor(condition, { timeout: 60_000, interval: 3 });
}

export interface NoticeRow {
  readonly id: string;
  readonly target: string;
  readonly account: string;
  readonly type: string;
  readonly attempts: number;
  readonly next_attempt_at: string;
  readonly delivered_at: string | null;
  readonly failed_at: string | null;
  readonly error: string | null;
}

export function noticeRows(store: SqliteFixture): NoticeRow[] {
  return store.rows<NoticeRow>('select * from notices order by seq');
}
