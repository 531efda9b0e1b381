// The pages that show the plan or the operations of a run. A page of a large run is rendered in another process.
import type { TrendPoint } from '../../core/journal-reader.ts';
import type { RunRecord } from '../../core/journal.ts';
import type { OperatorActionRecord } from '../../core/operator.ts';
import type { AccountView } from '../daemon-api.ts';
import type { ActionOutcome } from './actions.ts';
import type { Visitor } from './context.ts';
import type { SectionPlace } from './pages/paged-sections.tsx';

interface AnyView {
  /** The part of the changes that the page shows; null: each section from its first row. */
  readonly place: SectionPlace | null;
  readonly nowMs: number;
  readonly visitor: Visitor | undefined;
}

export type RunView =
  | (AnyView & { readonly type: 'run'; readonly id: string })
  | (AnyView & {
      readonly type: 'account';
      readonly account: AccountView;
      /** The latest ones, newest first. */
      readonly runs: readonly RunRecord[];
      readonly trend: readonly TrendPoint[];
      readonly actions: readonly OperatorActionRecord[];
      /** The result of the button that led to the page. */
      readonly said: ActionOutcome['type'] | null;
    });

/** `busy`: too many pages of large runs are being rendered. `failed`: the large run could not be read. */
export type RunViewOutcome =
  | { readonly type: 'page'; readonly html: string }
  | { readonly type: 'unknown' | 'busy' }
  | { readonly type: 'failed'; readonly runId: string; readonly reason: string };

/** Renders a page; `signal` aborts when nobody waits for it any more. */
export type ShowRun = (view: RunView, signal: AbortSignal) => Promise<RunViewOutcome>;
