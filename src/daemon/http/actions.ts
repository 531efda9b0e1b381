// The commands of an operator over HTTP, for programs and for pages: run now, approve, pause, resume.
import type { Operator, OperatorAction } from '../../core/operator.ts';
import type { Log } from '../log.ts';
import type { DaemonApi } from '../daemon-api.ts';
import type { HttpContext } from './context.ts';
import type { HttpLimits } from './limits.ts';

/** `unknown`: there is no such account. */
export type ActionOutcome =
  | {
      readonly type:
        'queued' | 'stopping' | 'unknown' | 'left_out' | 'paused' | 'resumed' | 'nothing_pending';
    }
  | { readonly type: 'approved'; readonly digest: string; readonly expiresAtMs: number }
  | { readonly type: 'other_plan'; readonly pending: string };

/** Each outcome as a message. */
export const OUTCOME_MESSAGES: Readonly<Record<ActionOutcome['type'], string>> = {
  queued: 'A run is queued. It starts when a place is free, and after a run that is in progress.',
  stopping: 'The daemon is stopping, so no new run starts.',
  unknown: 'There is no such account.',
  left_out:
    'The newest configuration of the replicas has no such account, so no run is queued. A newer commit removed it, or not all replicas have its file yet.',
  approved:
    'The plan is approved: the next run applies it (in mode plan it only accepts the lists), unless the account or its file changes before.',
  nothing_pending: 'No plan waits for approval.',
  other_plan: 'Another plan waits now, so nothing was approved. Review the new plan, then approve it.',
  paused: 'The account is paused: no scheduled run starts.',
  resumed: 'The account runs on its schedule again.',
};

export interface ActionDeps {
  readonly daemon: DaemonApi;
  readonly log: Pick<Log, 'info'>;
  readonly limits: HttpLimits;
}

export interface RequestedAction {
  readonly action: OperatorAction;
  readonly account: string;
  /** The plan to approve; null approves the plan that waits now. */
  readonly digest: string | null;
  /** Why an account is paused. */
  readonly reason: string | null;
}

/** Performs the action, and logs who requested it and from where. */
export async function performFor(
  context: HttpContext,
  request: RequestedAction,
  { daemon, log }: ActionDeps,
): Promise<ActionOutcome> {
  const by = context.get('visitor')?.name ?? '';
  const outcome = await perform(daemon, request, { name: by, via: 'http' });
  const { action, account, reason } = request;
  const details = {
    ...('digest' in outcome ? { digest: outcome.digest } : {}),
    ...(reason === null ? {} : { reason }),
  };
  log.info(
    {
      event: 'operator_action',
      action,
      account,
      by,
      address: context.get('address'),
      outcome: outcome.type,
      ...details,
    },
    'an operator requested an action',
  );
  return outcome;
}

/** Performs the action for the operator. */
export async function perform(
  daemon: DaemonApi,
  { action, account, digest, reason }: RequestedAction,
  by: Operator,
): Promise<ActionOutcome> {
  switch (action) {
    case 'sync':
      return { type: await daemon.sync(account, by) };
    case 'approve':
      return await daemon.approve(account, digest, by);
    case 'pause':
      return { type: (await daemon.pause(account, reason, by)) ? 'paused' : 'unknown' };
    case 'resume':
      return { type: (await daemon.resume(account, by)) ? 'resumed' : 'unknown' };
  }
}
