// The operator's words over HTTP, the same for programs and for pages: run now, approve, pause, resume.
import type { Panel } from '../panel.ts';

export const ACTIONS = ['sync', 'approve', 'pause', 'resume'] as const;
export type Action = (typeof ACTIONS)[number];

/** What came of it. `unknown`: there is no such account. */
export type ActionOutcome =
  | { readonly type: 'queued' | 'busy' | 'stopping' | 'unknown' | 'paused' | 'resumed' | 'nothing_pending' }
  | { readonly type: 'approved'; readonly digest: string; readonly expiresAtMs: number }
  | { readonly type: 'other_plan'; readonly pending: string };

/** What came of it, in a sentence. */
export const OUTCOME_WORDS: Readonly<Record<ActionOutcome['type'], string>> = {
  queued: 'A run starts as soon as there is room.',
  busy: 'The account runs already, or waits for room to.',
  stopping: 'The daemon is stopping and starts nothing new.',
  unknown: 'There is no such account.',
  approved: 'The plan is approved: the next run carries it out, if it is still the same plan.',
  nothing_pending: 'No plan waits for approval.',
  other_plan: 'Another plan waits by now; look at it before you approve it. Nothing was approved.',
  paused: 'The account is paused: no scheduled run starts.',
  resumed: 'The account runs on its schedule again.',
};

/** Does it. `digest` is which plan is meant by `approve`; null means whatever waits now. */
export async function perform(
  panel: Panel,
  action: Action,
  account: string,
  digest: string | null,
): Promise<ActionOutcome> {
  switch (action) {
    case 'sync':
      return { type: panel.sync(account) };
    case 'approve':
      return await panel.approve(account, digest);
    case 'pause':
      return { type: (await panel.setPaused(account, true)) ? 'paused' : 'unknown' };
    case 'resume':
      return { type: (await panel.setPaused(account, false)) ? 'resumed' : 'unknown' };
  }
}
