// Refuses requests while the database cannot be reached, at once instead of after the timeouts of the connection.
import { StoreError } from '../../core/errors.ts';
import type { HttpMiddleware } from './context.ts';
import { answerFailure } from './failure.tsx';
import { isSafe } from './middleware.ts';
import { storeFailed } from './refusals.ts';

/**
 * Refuses everything but the paths in `open`, also a read that waits for the database when the outage begins. An action
 * that has begun is not refused, because it may succeed. The reason of `outage` is a StoreError.
 */
export function refuseDuringOutage(outage: () => AbortSignal, open: ReadonlySet<string>): HttpMiddleware {
  return async (context, next) => {
    if (open.has(context.req.path)) return await next();
    const signal = outage();
    if (signal.aborted) return await answerFailure(context, storeFailed(errorOf(signal), false));
    if (!isSafe(context)) return await next();
    const answered = next();
    const isOver = await endsBefore(signal, answered);
    // What has been sent in part cannot become another answer.
    if (isOver || context.env.outgoing.headersSent) return await answered;
    return await answerFailure(context, storeFailed(errorOf(signal), false));
  };
}

function endsBefore(signal: AbortSignal, work: Promise<void>): Promise<boolean> {
  return new Promise((resolve, reject) => {
    const lose = (): void => resolve(false);
    signal.addEventListener('abort', lose, { once: true });
    work.then(() => resolve(true), reject).finally(() => signal.removeEventListener('abort', lose));
  });
}

function errorOf({ reason }: AbortSignal): StoreError {
  return reason instanceof StoreError ? reason : new StoreError('store_unavailable', String(reason));
}
