// Reads the lists of accounts for commands that journal no run: checks by the store whose lists they are, shows the
// progress, and stops at a signal.
import { type ReadAccount, readAccount } from '../run/observe.ts';
import { describeFailure, rememberThrottle, type RunFailure } from '../run/run-result.ts';
import type { ConfiguredAccount } from '../core/settings.ts';
import { systemClock } from '../system/clock.ts';
import { count } from '../report/formatting.ts';
import { showFailure, showWarnings, listenForSignals } from './console.ts';
import { ACCEPT_NOTHING, type Acceptance } from '../run/request.ts';
import { type CommandContext, connect, openExistingJournal } from './compose.ts';
import { type Loaded, settingsOf } from './load-accounts.ts';
import { mapAccounts, type Observe, showProgress } from './progress.ts';

export type AccountReading = Awaited<ReturnType<typeof openReading>>;

/** Opens connections, and the store for reading. A missing store is not created. Listens to signals until it is closed. */
export async function openReading(
  context: CommandContext,
  { configuration, service }: Pick<Loaded, 'configuration' | 'service'>,
  accept: Acceptance = ACCEPT_NOTHING,
) {
  const signals = listenForSignals();
  const configured = new Set(configuration.accounts.map(({ name }) => name));
  const store = await openExistingJournal(service);
  const journal = store && { ...store.journal, claimant: store.reader.claimant.bind(store.reader) };
  const connections = await connect(context, service);
  async function readWith(account: ConfiguredAccount, progress: Observe): Promise<ReadAccount> {
    const settings = settingsOf(account);
    const request = { settings, api: service.api, configured, signals, progress, accept };
    try {
      const reader = await connections.reader(settings, signals);
      return await readAccount({ reader, request, clock: systemClock }, journal);
    } catch (error) {
      if (journal !== null) await rememberThrottle(account.name, error, { journal, clock: systemClock });
      throw error;
    }
  }
  const failureOf = (error: unknown): RunFailure => describeFailure(error, signals.stop);
  return {
    /**
     * Reads an account's lists, and again where entries of the last good lists, or entries that people have, are missing. Throws
     * ServiceError `identity` when they belong to another account. Journals the Retry-After time of a failure.
     */
    read: (account: ConfiguredAccount) =>
      showProgress({ verb: 'read', accounts: 1 }, (track) =>
        track(account.name, (observe) => readWith(account, observe)),
      ),
    /** Calls `use` for each account, a few at the same time. Results are in the order of the accounts. */
    readEach: <T>(
      accounts: readonly ConfiguredAccount[],
      use: (account: ConfiguredAccount, read: () => Promise<ReadAccount>) => Promise<T>,
    ) =>
      mapAccounts('read', accounts, service, (account, observe) =>
        use(account, () => readWith(account, observe)),
      ),
    /** Whether a signal stopped the reading. */
    isInterrupted: () => signals.stop.aborted,
    failureOf,
    /** Shows the failure and returns it. */
    reportFailure(account: string, error: unknown): RunFailure {
      const failure = failureOf(error);
      showFailure(account, failure);
      return failure;
    },
    async close(): Promise<void> {
      await connections.close();
      await store?.close();
      signals.release();
    },
  };
}

/** Why lists may lack entries, without a full stop; null if nothing suggests that. */
export function listDoubt({
  implausible,
  unlisted,
}: Pick<ReadAccount, 'implausible' | 'unlisted'>): string | null {
  if (unlisted.length === 0)
    return implausible === null
      ? null
      : 'the lists lack or rename much of what the last good run saw, in two readings';
  const entries = count(unlisted.length, 'entry', 'entries');
  return `the lists ${implausible === null ? 'may be' : 'are'} incomplete: people refer to ${entries} that no list contains`;
}

/** Warns of lists that are written to a file nevertheless. */
export function showDoubt(account: string, doubt: string | null): void {
  if (doubt !== null)
    showWarnings([`${account}: ${doubt}; a later apply deletes what the new file does not name`]);
}
