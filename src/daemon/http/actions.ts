// What an operator does over HTTP, the same for programs and for pages: run now, approve, pause, resume.
import type { Log } from '../log.ts';
import type { DaemonApi } from '../daemon-api.ts';
import type { HttpContext } from './context.ts';
import type { HttpLimits } from './limits.ts';

export const ACTIONS = ['sync', 'approve', 'pause', 'resume'] as const;
export type Action = (typeof ACTIONS)[number];

/** What came of it. `unknown`: there is no such account. */
export type ActionOutcome =
  | { readonly type: 'queued' | 'stopping' | 'unknown' | 'paused' | 'resumed' | 'nothing_pending' }
  | { readonly type: 'approved'; readonly digest: string; readonly expiresAtMs: number }
  | { readonly type: 'other_plan'; readonly pending: string };

/** What came of it, in a sentence. */
export const OUTCOME_WORDS: Readonly<Record<ActionOutcome['type'], string>> = {
  queued: 'A run starts as soon as there is room, and after the run that works now.',
  stopping: 'The daemon is stopping and starts nothing new.',
  unknown: 'There is no such account.',
  approved: 'The plan is approved: the next run carries it out, if it is still the same plan.',
  nothing_pending: 'No plan waits for approval.',
  other_plan: 'Another plan waits by now; look at it before you approve it. Nothing was approved.',
  paused: 'The account is paused: no scheduled run starts.',
  resumed: 'The account runs on its schedule again.',
};

/** What handlers of actions need. */
export interface ActionDeps {
  readonly daemon: DaemonApi;
  readonly log: Pick<Log, 'info'>;
  readonly limits: HttpLimits;
}

export interface RequestedAction {
  readonly action: Action;
  readonly account: string;
  /** The plan to approve; null approves whatever waits now. */
  readonly digest: string | null;
}

/** Does it, and logs who did it and from where. */
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
    'an operator asked for something',
  );
  return outcome;
}

/** Does it. `digest` is the plan to approve; null approves whatever waits now. */
export async function perform(
  daemon: DaemonApi,
  action: Action,
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
