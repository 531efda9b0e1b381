// Logs failures of the outbox. They affect neither a run nor the daemon.
import { describeFailure } from '../../app/run-result.ts';
import type { Log } from '../log.ts';

/** `run` is the one whose notifications were lost, if any were. */
export function logOutboxFailure(
  log: Log,
  failure: unknown,
  run?: { readonly account: string; readonly runId: string },
): void {
  const { code, message } = describeFailure(failure);
  log.error(
    { event: 'outbox_failed', ...run, code, error: message },
    'the outbox of notifications cannot be used; notifications may be late or lost',
  );
}
