// The commands of an operator over HTTP, for programs and for pages: run now, approve, pause, resume.
import type { Log } from '../log.ts';
import type { DaemonApi } from '../daemon-api.ts';
import type { HttpContext } from './context.ts';
import type { HttpLimits } from './limits.ts';

export const OPERATOR_ACTIONS = ['sync', 'approve', 'pause', 'resume'] as const;
export type OperatorAction = (typeof OPERATOR_ACTIONS)[number];

/** `unknown`: there is no such account. */
export type ActionOutcome =
  | { readonly type: 'queued' | 'stopping' | 'unknown' | 'paused' | 'resumed' | 'nothing_pending' }
  | { readonly type: 'approved'; readonly digest: string; readonly expiresAtMs: number }
  | { readonly type: 'other_plan'; readonly pending: string };

/** Each outcome as a message. */
export const OUTCOME_WORDS: Readonly<Record<ActionOutcome['type'], string>> = {
  queued: 'A run is queued. It starts when a place is free, and after a run that is in progress.',
  stopping: 'The daemon is stopping, so no new run starts.',
  unknown: 'There is no such account.',
  approved: 'The plan is approved: the next run applies it, unless the account or its file changes before.',
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
}

/** Performs the action, and logs who requested it and from where. */
export async function performFor(
  context: HttpContext,
  { action, account, digest: wanted }: RequestedAction,
  { daemon, log }: ActionDeps,
): Promise<ActionOutcome> {
  const outcome = await perform(daemon, action, account, wanted);
  const who = { by: context.get('visitor')?.name, address: context.get('address') };
  const digest = 'digest' in outcome ? { digest: outcome.digest } : {};
  log.info(
    { event: 'operator_action', action, account, ...who, outcome: outcome.type, ...digest },
    'an operator requested an action',
  );
  return outcome;
}

/** Performs the action. `digest` is the plan to approve; null approves the plan that waits now. */
export async function perform(
  daemon: DaemonApi,
  action: OperatorAction,
  account: string,
  digest: string | null,
): Promise<ActionOutcome> {
  switch (action) {
    case 'sync':
      return { type: daemon.sync(account) };
    case 'approve':
      return await daemon.approve(account, digest);
    case 'pause':
      return { type: (await daemon.setPaused(account, true)) ? 'paused' : 'unknown' };
    case 'resume':
      return { type: (await daemon.setPaused(account, false)) ? 'resumed' : 'unknown' };
  }
}
