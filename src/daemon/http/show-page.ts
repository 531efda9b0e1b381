// Renders a page from the store. A page of a large run or of large lists is rendered in another process.
import type { RunView } from './run-view.ts';
import type { SnapshotView } from './snapshot-view.ts';

export type StoredView = RunView | SnapshotView;

/** `busy`: too many large pages are being rendered. `failed`: what a large page shows could not be read. */
export type PageOutcome =
  | { readonly type: 'page'; readonly html: string }
  | { readonly type: 'unknown' | 'busy' }
  | { readonly type: 'failed'; readonly runId: string; readonly reason: string };

/** Renders a page; `signal` aborts when nobody waits for it any more. */
export type ShowPage = (view: StoredView, signal: AbortSignal) => Promise<PageOutcome>;
