// What becomes of a failure of the outbox: it is logged, and neither a run nor the daemon is the worse for it.
import { describeFailure } from '../../app/run-result.ts';
import type { Log } from '../log.ts';

/** `run` says whose notices were lost, if any were. */
export function logOutboxFailure(
  log: Log,
  failure: unknown,
  run?: { readonly account: string; readonly runId: string },
): void {
  const { code, message } = describeFailure(failure);
  log.error(
    { event: 'outbox_failed', ...run, code, error: message },
    'the outbox of notifications cannot be used',
  );
}
