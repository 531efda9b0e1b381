// Watches the store for what other processes write: a sync or an approval starts a run of its account, and a request of the
// newest configuration a fetch. The metric of a pause of all accounts follows the store.
import { ALL_ACCOUNTS } from '../core/operator.ts';
import type { JournalReader } from '../core/ports/journal-reader.ts';
import type { Clock } from '../core/ports/clock.ts';
import type { AccountRegistry } from './account-registry.ts';
import type { Log } from './log.ts';
import type { Metrics } from './metrics.ts';
import type { Term } from './term.ts';

const INTERVAL_MS = 250;
/** As many are read at once. */
const MOST_COMMANDS = 10_000;

export interface JournalWatchOptions {
  readonly registry: Pick<AccountRegistry, 'account'>;
  readonly term: Pick<Term, 'request'>;
  readonly reader: Pick<JournalReader, 'requests' | 'operatorActions' | 'pauseOfAll'>;
  readonly metrics: Pick<Metrics, 'account'>;
  /** Fetches the configuration. */
  readonly fetchSource: () => Promise<void>;
  readonly clock: Clock;
  readonly log: Log;
}

export interface JournalWatch {
  start(): void;
  /** Looks at once: an operator has requested something. */
  lookNow(): void;
  stop(): Promise<void>;
}

/** Each request starts one run at once. If the run of an approval fails, scheduled runs use the approval while it is valid. */
export function createJournalWatch(options: JournalWatchOptions): JournalWatch {
  const { registry, term, reader, metrics, clock, log } = options;
  const stopping = new AbortController();
  let wake = new AbortController();
  let isWanted = false;
  let loop: Promise<void> | null = null;
  /** The newest command that was seen; null before the first look. */
  let lastSeq: number | null = null;

  /** Whether a run of the account can use an approval now. */
  function canApply(account: string): boolean {
    const { settings = null, errors = [] } = registry.account(account) ?? {};
    return settings !== null && errors.length === 0;
  }

  /** Logs new commands, of which those over HTTP are logged already, and fetches the configuration for one that requests it. */
  async function lookAtCommands(): Promise<void> {
    const isFirst = lastSeq === null;
    const filter = lastSeq === null ? { limit: 1 } : { after: lastSeq, limit: MOST_COMMANDS };
    const commands = await reader.operatorActions(filter);
    lastSeq = commands[0]?.seq ?? lastSeq ?? 0;
    if (isFirst) return;
    for (const { account, action, by, via, at, detail } of commands.toReversed()) {
      const command = { event: 'operator_action', action, account, by, at, detail };
      if (via === 'cli') log.info(command, 'an operator requested an action');
      if (action === 'fetch') void options.fetchSource();
    }
  }

  async function look(): Promise<void> {
    await lookAtCommands();
    const pause = await reader.pauseOfAll(clock.nowMs());
    metrics.account(ALL_ACCOUNTS, { isPaused: pause !== null, pending: null });
    for (const request of await reader.requests()) {
      const { account, trigger, by } = request;
      // An approval that a pause of all accounts kept is requested again when the pause ends.
      const at = trigger === 'manual' ? request.at : `${request.at} ${JSON.stringify(pause)}`;
      const canRun = trigger === 'manual' ? registry.account(account) !== undefined : canApply(account);
      if (canRun && term.request({ ...request, at }))
        log.info(
          { event: trigger === 'manual' ? 'synced' : 'approved', account, by },
          'an operator requested a run',
        );
    }
  }

  async function watch(): Promise<void> {
    while (!stopping.signal.aborted) {
      wake = new AbortController();
      isWanted = false;
      // Readiness and every run report a store that cannot be read.
      await look().catch(() => undefined);
      if (!stopping.signal.aborted && !isWanted) await clock.sleep(INTERVAL_MS, wake.signal);
    }
  }

  return {
    start() {
      loop ??= watch();
    },
    lookNow() {
      isWanted = true;
      wake.abort();
    },
    async stop() {
      stopping.abort();
      wake.abort();
      await loop;
    },
  };
}
