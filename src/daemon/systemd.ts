// Notifies systemd that the daemon is ready, reloads, stops, and is alive. Node.js has no sockets of the needed kind, so the
// program `systemd-notify` sends the messages (NotifyAccess=all in the unit).
import { execFile } from 'node:child_process';
import { errorCode } from '../core/error-code.ts';
import type { Log } from './log.ts';

export interface SystemdOptions {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly log: Log;
}

export interface Systemd {
  ready(status: string): void;
  reloading(): void;
  stopping(): void;
}

const SILENT: Systemd = { ready: () => undefined, reloading: () => undefined, stopping: () => undefined };

/** Does nothing unless systemd started this process. */
export function createSystemd({ env, log }: SystemdOptions): Systemd {
  if ((env['NOTIFY_SOCKET'] ?? '') === '') return SILENT;
  let watchdog: NodeJS.Timeout | undefined;
  let failed = false;
  let last: Promise<void> = Promise.resolve();

  /** Sends one message after the other, so that they arrive in order. */
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
        log.error(
          { event: 'systemd_notify_failed', reason },
          'systemd-notify could not be run; systemd may consider the daemon as failed',
        );
      });
    });
  }

  function notifyWatchdog(): void {
    const everyMs = Number(env['WATCHDOG_USEC'] ?? 0) / 1000 / 2;
    if (!(everyMs > 0) || watchdog !== undefined) return;
    watchdog = setInterval(() => notify('WATCHDOG=1'), everyMs);
    watchdog.unref();
  }

  return {
    ready(status) {
      notify('READY=1', `STATUS=${status}`);
      notifyWatchdog();
    },
    reloading: () => notify('RELOADING=1', 'STATUS=reads the configuration again'),
    stopping() {
      clearInterval(watchdog);
      notify('STOPPING=1', 'STATUS=waits for the runs in progress');
    },
  };
}
