// Decides which run starts next: at most `maxRuns` at a time, one for each account, and no base address delays the others.
import type { Trigger } from '../core/journal.ts';

export interface RunQueueOptions {
  /** The base address of an account: the accounts of one address can be slow together. */
  readonly addressOf: (account: string) => string;
  /** How many addresses are configured. */
  readonly addressCount: () => number;
  readonly maxRuns: () => number;
}

export interface RunQueue {
  /** Starts runs from now on; accounts that were requested before wait until then. `run` never rejects. */
  start(run: (account: string, trigger: Trigger) => Promise<void>): void;
  /** Runs the account as soon as a place is free. False when it runs or waits already, or the queue is stopped. */
  request(account: string, trigger: Trigger): boolean;
  /**
   * As `request`, but during a run of the account one more run follows, however often it is requested. False when the
   * queue is stopped.
   */
  requestOneMore(account: string, trigger: Trigger): boolean;
  /**
   * Lets a running account run once more after that, but not before `waited` has resolved. A request meanwhile is joined.
   */
  requestAfter(account: string, trigger: Trigger, waited: Promise<void>): void;
  /** Reads the addresses of the waiting accounts again, after a change of the configuration. */
  updateAddresses(): void;
  activity(account: string): 'running' | 'queued' | 'idle';
  /** The accounts that are not idle. */
  active(): ReadonlyMap<string, 'running' | 'queued'>;
  /** Starts no more runs, and resolves when the running ones have ended. */
  stop(): Promise<void>;
}

interface Waiting {
  readonly account: string;
  readonly trigger: Trigger;
  /** Read when it begins to wait and after each change of the configuration. */
  readonly address: string;
  /** Grows with each account that begins to wait. */
  readonly position: number;
}

export function createRunQueue(options: RunQueueOptions): RunQueue {
  const waiting = new Map<string, Waiting>();
  /** The waiting accounts of each address by position. To scan ten thousand accounts for each start takes seconds. */
  const waitingByAddress = new Map<string, Map<string, Waiting>>();
  let lastPosition = 0;
  const running = new Map<string, { readonly address: string; readonly ended: Promise<void> }>();
  /** Running accounts that run once more after that. */
  const followed = new Map<string, Trigger>();
  /** Waiting accounts that must not start yet. */
  const deferred = new Set<string>();
  let runAccount: ((account: string, trigger: Trigger) => Promise<void>) | null = null;
  let isStopped = false;

  /** An account that waits already keeps its position, and its trigger is replaced. */
  function enqueue(account: string, trigger: Trigger): void {
    const queued = waiting.get(account);
    if (queued === undefined)
      put({ account, trigger, address: options.addressOf(account), position: (lastPosition += 1) });
    else put({ ...queued, trigger });
  }

  function put(item: Waiting): void {
    waiting.set(item.account, item);
    const accounts = waitingByAddress.get(item.address) ?? new Map<string, Waiting>();
    waitingByAddress.set(item.address, accounts.set(item.account, item));
  }

  function dequeue({ account, address }: Waiting): void {
    waiting.delete(account);
    const accounts = waitingByAddress.get(address);
    accounts?.delete(account);
    if (accounts?.size === 0) waitingByAddress.delete(address);
  }

  function startNext(): void {
    while (runAccount !== null && !isStopped && running.size < options.maxRuns()) {
      const next = pickNext();
      if (next === null) return;
      dequeue(next);
      const { account, trigger, address } = next;
      const ended = runAccount(account, trigger).finally(() => {
        running.delete(account);
        const following = followed.get(account);
        followed.delete(account);
        if (following !== undefined && !isStopped) enqueue(account, following);
        startNext();
      });
      running.set(account, { address, ended });
    }
  }

  /** The account that has waited longest at the address with the fewest runs. A full address delays only itself. */
  function pickNext(): Waiting | null {
    const load = new Map<string, number>();
    for (const { address } of running.values()) load.set(address, (load.get(address) ?? 0) + 1);
    const limit = addressLimit(options.maxRuns(), options.addressCount());
    let best: { readonly item: Waiting; readonly load: number } | null = null;
    for (const [address, accounts] of waitingByAddress) {
      const itsLoad = load.get(address) ?? 0;
      if (itsLoad >= limit || (best !== null && itsLoad > best.load)) continue;
      const item = firstStartable(accounts);
      if (item === null) continue;
      if (best === null || itsLoad < best.load || item.position < best.item.position)
        best = { item, load: itsLoad };
    }
    return best?.item ?? null;
  }

  function firstStartable(accounts: ReadonlyMap<string, Waiting>): Waiting | null {
    for (const item of accounts.values()) {
      if (!deferred.has(item.account)) return item;
    }
    return null;
  }

  return {
    start(run) {
      runAccount = run;
      startNext();
    },
    request(account, trigger) {
      if (isStopped || waiting.has(account) || running.has(account)) return false;
      enqueue(account, trigger);
      startNext();
      return true;
    },
    requestOneMore(account, trigger) {
      if (isStopped) return false;
      // A scheduled request must not replace that of an operator.
      if (running.has(account) && followed.get(account) === 'manual') return true;
      if (running.has(account)) followed.set(account, trigger);
      // The waiting run serves this request too, with the rights of this trigger.
      else {
        enqueue(account, trigger);
        startNext();
      }
      return true;
    },
    requestAfter(account, trigger, waited) {
      if (isStopped) return;
      // A request of an operator that came during the run is served by the same run.
      if (followed.get(account) !== 'manual') followed.set(account, trigger);
      deferred.add(account);
      void waited.then(() => {
        deferred.delete(account);
        startNext();
      });
    },
    updateAddresses() {
      waitingByAddress.clear();
      for (const item of waiting.values()) put({ ...item, address: options.addressOf(item.account) });
      startNext();
    },
    activity: (account) => (running.has(account) ? 'running' : waiting.has(account) ? 'queued' : 'idle'),
    active: () =>
      new Map([
        ...[...waiting.keys()].map((account) => [account, 'queued'] as const),
        ...[...running.keys()].map((account) => [account, 'running'] as const),
      ]),
    async stop() {
      isStopped = true;
      waiting.clear();
      waitingByAddress.clear();
      await Promise.all([...running.values()].map(({ ended }) => ended));
    },
  };
}

/** How many runs one address may have: a quarter of all places is kept for the others, if there are others. */
export function addressLimit(maxRuns: number, addresses: number): number {
  return addresses < 2 || maxRuns < 2 ? maxRuns : maxRuns - Math.ceil(maxRuns / 4);
}
