// The daemon's loop: takes the lease of what is due, whichever process made it due, and runs it. All replicas do the same.
import { StoreError } from '../core/errors.ts';
import type { Clock, RunSignals } from '../core/ports/clock.ts';
import type { DueAccount, DueAccounts, DueReason, Lease, Locks } from '../core/ports/locks.ts';
import { describeFailure } from '../run/run-result.ts';
import type { AccountRegistry } from './account-registry.ts';
import { latestTickMs, Ticks } from './cron.ts';
import type { Log } from './log.ts';

const POLL_MS = 250;
/** How often rarer work is done, at least: a bit more often than once a second. */
const SECOND_MS = 900;
/** A look at ten thousand due accounts takes long, so others follow less often: up to this time after it. */
const MOST_POLL_MS = 1000;

/** One run that is to be made now. */
export interface DueRun extends DueReason {
  readonly account: string;
  readonly isPaused: boolean;
  readonly lease: Lease;
  /** An object of this run only. */
  readonly signals: RunSignals;
}

export interface RunLoopOptions {
  readonly registry: Pick<
    AccountRegistry,
    'account' | 'accounts' | 'schedules' | 'addressOf' | 'addressCount' | 'onChange'
  >;
  readonly due: DueAccounts;
  readonly locks: Pick<Locks, 'take' | 'release'> & { signals(of: RunSignals): RunSignals };
  /** The clock of the store. */
  readonly clock: Clock;
  /** The store reported its time; the question and the answer took so long. */
  readonly onStoreClock: (storeMs: number, tookMs: number) => void;
  readonly newRunId: () => string;
  readonly signals: RunSignals;
  /** So many runs at a time. */
  readonly places: number;
  /** Never rejects. Resolves with the reason if the account is due again at once. */
  readonly run: (due: DueRun) => Promise<DueReason | null>;
  /** Done about once a second. */
  readonly everySecond: () => Promise<void>;
  /** A tick found the account still running. */
  readonly onSkipped: (account: string) => void;
  readonly log: Log;
}

export class RunLoop {
  readonly #options: RunLoopOptions;
  readonly #ticks = new Ticks();
  readonly #stopping = new AbortController();
  /** The runs of this process, by account. */
  readonly #running = new Map<string, { readonly address: string; readonly ended: Promise<void> }>();
  /** What was due when the store was read last. */
  #waiting: readonly DueAccount[] = [];
  /** The digest of the files of each account that the store has to know of. */
  readonly #news = new Map<string, string | null>();
  #known = new Map<string, string | null>();
  #fresh = new Set<string>();
  #wake = new AbortController();
  #isWanted = false;
  #problem: string | null = null;
  #secondMs = Number.NEGATIVE_INFINITY;
  #loop: Promise<void> | null = null;

  constructor(options: RunLoopOptions) {
    this.#options = options;
    options.registry.onChange(() => this.configure());
    this.configure();
  }

  /** Takes the schedules and the accounts of the configuration. */
  configure(): void {
    const { registry, log } = this.#options;
    this.#ticks.update(registry.schedules());
    const known = new Map<string, string | null>();
    for (const { name, settings } of registry.accounts()) {
      const digest = settings?.configDigest ?? null;
      known.set(name, digest);
      if (!this.#known.has(name)) this.#fresh.add(name);
      if (this.#known.get(name) !== digest) this.#news.set(name, digest);
    }
    for (const account of this.#known.keys()) {
      if (known.has(account)) continue;
      this.#fresh.delete(account);
      this.#news.delete(account);
      log.info({ event: 'unscheduled', account }, 'account removed from the configuration');
    }
    this.#known = known;
  }

  start(): void {
    this.#loop ??= this.#watch();
  }

  /** Looks at once: an operator has requested something here. */
  wake(): void {
    this.#isWanted = true;
    this.#wake.abort();
  }

  /** Why no account runs; null while they do. */
  problem(): string | null {
    return this.#problem;
  }

  nextTickMs(account: string): number | null {
    return this.#ticks.nextMs(account);
  }

  longestGapMs(account: string): number | null {
    return this.#ticks.longestGapMs(account);
  }

  /** Starts no more runs, and resolves when the running ones have ended. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    this.#wake.abort();
    await this.#loop;
    await Promise.all([...this.#running.values()].map(({ ended }) => ended));
  }

  async #watch(): Promise<void> {
    const { clock } = this.#options;
    while (!this.#stopping.signal.aborted) {
      this.#wake = new AbortController();
      this.#isWanted = false;
      const began = clock.steadyMs();
      await this.#try(() => this.#look());
      const pauseMs = Math.min(Math.max(POLL_MS, 20 * (clock.steadyMs() - began)), MOST_POLL_MS);
      if (!this.#stopping.signal.aborted && !this.#isWanted) await clock.sleep(pauseMs, this.#wake.signal);
    }
  }

  async #try(work: () => Promise<void>): Promise<void> {
    try {
      await work();
    } catch (error) {
      const { code, message } = describeFailure(error);
      // Readiness reports a database that does not answer.
      const isKnown =
        message === this.#problem || (error instanceof StoreError && code === 'store_unavailable');
      const data = { event: 'due_unknown', code, error: message };
      this.#options.log[isKnown ? 'debug' : 'error'](data, 'accounts that are due cannot be run');
      this.#problem = message;
    }
  }

  async #look(): Promise<void> {
    const { clock, due, registry, onStoreClock } = this.#options;
    const began = clock.steadyMs();
    const { nowMs, accounts } = await due.due(clock.nowMs());
    onStoreClock(nowMs, clock.steadyMs() - began);
    this.#waiting = accounts.filter(({ account }) => registry.account(account) !== undefined);
    this.#startNext();
    await this.#tick(this.#ticks.passed(nowMs), nowMs);
    this.#ticks.advance(nowMs);
    this.#problem = null;
    if (began - this.#secondMs < SECOND_MS) return;
    await due.endPause(nowMs);
    if (this.#news.size + this.#fresh.size > 0) await this.#announce(nowMs);
    await this.#options.everySecond();
    this.#secondMs = began;
  }

  /** Makes accounts due that no daemon knows, that missed a tick while none ran, and whose files have changed. */
  async #announce(nowMs: number): Promise<void> {
    const { due, registry } = this.#options;
    const fresh = new Set(this.#fresh);
    // A run of this process may have read the new files already, and not have begun in the journal.
    const news = [...this.#news].filter(([account]) => !this.#running.has(account));
    if (fresh.size > 0) {
      const ticked = await due.ticked();
      await due.appear(
        [...fresh].filter((name) => !ticked.has(name)),
        nowMs,
      );
      const missed = registry.schedules().flatMap(({ name, schedule, timezone }) => {
        const knownMs = fresh.has(name) ? ticked.get(name) : undefined;
        const tickMs = knownMs === undefined ? null : latestTickMs(schedule, timezone, knownMs, nowMs);
        return tickMs === null ? [] : [{ account: name, tickMs, dueMs: nowMs, trigger: 'catch_up' as const }];
      });
      await this.#tick(missed, nowMs);
    }
    const changed = news.flatMap(([account, digest]) => (digest === null ? [] : [{ account, digest }]));
    await due.change(changed, nowMs);
    for (const name of fresh) this.#fresh.delete(name);
    this.#isWanted = true;
    for (const [name, digest] of news) if (this.#news.get(name) === digest) this.#news.delete(name);
  }

  async #tick(ticks: Parameters<DueAccounts['tick']>[0], nowMs: number): Promise<void> {
    for (const account of await this.#options.due.tick(ticks, nowMs)) this.#options.onSkipped(account);
    if (ticks.length > 0) this.#isWanted = true;
  }

  /** Starts what has been due longest; a full address delays only its own accounts. */
  #startNext(): void {
    const { registry, places } = this.#options;
    const limit = addressLimit(places, registry.addressCount());
    const load = new Map<string, number>();
    for (const { address } of this.#running.values()) load.set(address, (load.get(address) ?? 0) + 1);
    this.#waiting = this.#waiting.filter((each) => {
      if (this.#stopping.signal.aborted || this.#running.size >= places) return true;
      const address = registry.addressOf(each.account);
      if (this.#running.has(each.account) || (load.get(address) ?? 0) >= limit) return true;
      load.set(address, (load.get(address) ?? 0) + 1);
      const ended = this.#try(() => this.#run(each)).finally(() => {
        this.#running.delete(each.account);
        this.#startNext();
      });
      this.#running.set(each.account, { address, ended });
      return false;
    });
  }

  async #run(each: DueAccount): Promise<void> {
    const { locks, clock, newRunId, signals, run } = this.#options;
    const lease = await locks.take(each, newRunId(), clock.nowMs());
    if (lease === null) return;
    const { account, trigger, by, isPaused } = each;
    const again = await run({ account, trigger, by, isPaused, lease, signals: locks.signals(signals) });
    await locks.release(lease, again);
  }
}

/** How many runs one address may have: a quarter of all places is kept for the others, if there are others. */
function addressLimit(places: number, addresses: number): number {
  return addresses < 2 || places < 2 ? places : places - Math.ceil(places / 4);
}
