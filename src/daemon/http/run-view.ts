// The pages that show the plan or the operations of a run.
import type { RunRecord } from '../../core/journal.ts';
import type { OperatorActionRecord } from '../../core/operator.ts';
import type { AccountView } from '../daemon-api.ts';
import type { ActionMessage } from './actions.ts';
import type { Visitor } from './context.ts';
import type { SectionPlace } from './pages/paged-sections.tsx';

/** What every page needs that is rendered from the store. */
export interface AnyView {
  /** The part of the changes that the page shows; null: each section from its first row. */
  readonly place: SectionPlace | null;
  readonly nowMs: number;
  readonly visitor: Visitor | undefined;
  /** Whether the process that answers is stopping. */
  readonly isStopping: boolean;
}

export type RunView =
  | (AnyView & { readonly type: 'run'; readonly id: string })
  | (AnyView & {
      readonly type: 'account';
      readonly account: AccountView;
      /** The latest ones, newest first. */
      readonly runs: readonly RunRecord[];
      readonly actions: readonly OperatorActionRecord[];
      /** The result of the button that led to the page. */
      readonly message: ActionMessage | null;
    });
