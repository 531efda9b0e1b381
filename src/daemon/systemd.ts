// systemd's readiness protocol: says that the daemon is ready, reloads, stops, and that it still comes around.
// Node has no datagram sockets of this kind, so `systemd-notify` speaks for it (NotifyAccess=all in the unit).
import { execFile } from 'node:child_process';
import { errorCode } from '../core/error-code.ts';
import type { Log } from './log.ts';

export interface SystemdOptions {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly log: Log;
  /** While it is not alive the watchdog is not fed. */
  readonly isAlive: () => boolean;
}

export interface Systemd {
  ready(status: string): void;
  reloading(): void;
  stopping(): void;
}

const SILENT: Systemd = { ready: () => undefined, reloading: () => undefined, stopping: () => undefined };

/** Speaks to systemd when it started this process, and to nobody else. */
export function createSystemd({ env, log, isAlive }: SystemdOptions): Systemd {
  if ((env['NOTIFY_SOCKET'] ?? '') === '') return SILENT;
  let watchdog: NodeJS.Timeout | undefined;
  let failed = false;
  let last: Promise<void> = Promise.resolve();

  /** One after the other: what is said later must not be heard earlier. */
  function notify(...assignments: string[]): void {
    last = last.then(() => run(assignments));
  }

  function run(assignments: readonly string[]): Promise<void> {
    return new Promise((resolve) => {
      execFile('systemd-notify', assignments, { timeout: 5000 }, (error) => {
        resolve();
        if (error === null || failed) return;
        failed = true;
        const reason = errorCode(error);
        log.error({ event: 'systemd_notify_failed', reason }, 'systemd-notify could not be run');
      });
    });
  }

  function feedWatchdog(): void {
    const everyMs = Number(env['WATCHDOG_USEC'] ?? 0) / 1000 / 2;
    if (!(everyMs > 0) || watchdog !== undefined) return;
    watchdog = setInterval(() => {
      if (isAlive()) notify('WATCHDOG=1');
    }, everyMs);
    watchdog.unref();
  }

  return {
    ready(status) {
      notify('READY=1', `STATUS=${status}`);
      feedWatchdog();
    },
    reloading: () => notify('RELOADING=1', 'STATUS=reads the configuration anew'),
    stopping() {
      clearInterval(watchdog);
      notify('STOPPING=1', 'STATUS=lets runs end');
    },
  };
}
