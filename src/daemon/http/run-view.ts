// The pages that show the plan or the operations of a run. A page of a large run is rendered in another process.
import type { RunRecord } from '../../core/journal.ts';
import type { AccountView } from '../daemon-api.ts';
import type { ActionOutcome } from './actions.ts';
import type { Visitor } from './context.ts';

export type RunView =
  | { readonly type: 'run'; readonly id: string; readonly visitor: Visitor | undefined }
  | {
      readonly type: 'account';
      readonly account: AccountView;
      /** The latest ones. */
      readonly runs: readonly RunRecord[];
      /** The result of the button that led to the page. */
      readonly said: ActionOutcome['type'] | null;
      readonly visitor: Visitor | undefined;
    };

/** `busy`: too many pages of large runs are being rendered. `failed`: the large run could not be read. */
export type RunViewOutcome =
  | { readonly type: 'page'; readonly html: string }
  | { readonly type: 'unknown' | 'busy' }
  | { readonly type: 'failed'; readonly runId: string; readonly reason: string };

/** Renders a page; `signal` aborts when nobody waits for it any more. */
export type ShowRun = (view: RunView, signal: AbortSignal) => Promise<RunViewOutcome>;
