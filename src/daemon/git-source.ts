// Keeps the daemon's own checkout of its configuration at the newest acceptable commit.
import type { Log } from './log.ts';
import type { Metrics } from './metrics.ts';

/** The part of git/checkout.ts that is used here. */
interface RefreshedCheckout {
  /** Never rejects. An aborted signal ends a running refresh. */
  refresh(
    signal?: AbortSignal,
  ): Promise<{ readonly type: string; readonly sha?: string; readonly reason?: string }>;
}

export interface GitSourceOptions {
  readonly checkout: RefreshedCheckout;
  readonly intervalMs: number;
  readonly log: Log;
  readonly metrics: Pick<Metrics, 'sourceFetched' | 'sourceRefused'>;
}

export type GitSource = Awaited<ReturnType<typeof openGitSource>>;

/** For a configuration that is not fetched. */
export const NO_GIT_SOURCE: GitSource = {
  refresh: async () => undefined,
  problem: () => null,
  onUpdate: () => undefined,
  close: async () => undefined,
};

/** Fetches once before it resolves, and then at each interval. */
export async function openGitSource({ checkout, intervalMs, log, metrics }: GitSourceOptions) {
  const listeners: (() => void)[] = [];
  const stopping = new AbortController();
  let problem: string | null = null;

  function setProblem(found: string | null): void {
    if (found === problem) return;
    problem = found;
    if (found !== null) log.error({ event: 'source_failed', reason: found }, 'the newest commit is not used');
    else log.info({ event: 'source_fixed' }, 'the newest commit is used again');
  }

  async function fetchOnce(): Promise<void> {
    const { type, sha, reason = null } = await checkout.refresh(stopping.signal);
    if (stopping.signal.aborted) return;
    metrics.sourceRefused(type === 'refused');
    if (type !== 'failed') metrics.sourceFetched();
    setProblem(reason);
    if (type !== 'updated') return;
    log.info({ event: 'source_updated', commit: sha }, 'a new commit is used');
    for (const listener of listeners) listener();
  }

  let last: Promise<void> = Promise.resolve();
  let next: Promise<void> | null = null;
  const refresh = (): Promise<void> =>
    (next ??= last.then(() => {
      next = null;
      return (last = fetchOnce());
    }));

  // The age of the last fetch starts here, so that an alert also fires when the first fetch never succeeds.
  metrics.sourceFetched();
  await refresh();
  const timer = setInterval(() => void refresh(), intervalMs);
  return {
    /** Fetches now, and after a fetch that is under way: that one may have missed the newest commit. All callers share it. */
    refresh,
    /** Why the newest commit is not used; null when it is. */
    problem: (): string | null => problem,
    /** Calls the listener after each new commit. */
    onUpdate(listener: () => void): void {
      listeners.push(listener);
    },
    async close(): Promise<void> {
      clearInterval(timer);
      stopping.abort();
      // Waits until a running fetch has ended and its folder is in order.
      await checkout.refresh(AbortSignal.abort());
    },
  };
}
