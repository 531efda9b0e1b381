// Renders a page from the store. A page of a large run is rendered in another process.
import type { RunView } from './run-view.ts';

/** `busy`: too many large pages are being rendered. `failed`: what a large page shows could not be read. */
export type PageOutcome =
  | { readonly type: 'page'; readonly html: string }
  | { readonly type: 'unknown' | 'busy' }
  | { readonly type: 'failed'; readonly runId: string; readonly reason: string };

/** Renders a page; `signal` aborts when nobody waits for it any more. */
export type ShowPage = (view: RunView, signal: AbortSignal) => Promise<PageOutcome>;
