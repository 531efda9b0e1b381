// Decides whether this process leads: the one that does runs all accounts, the others take over when it has stopped.
import { StoreError } from '../core/errors.ts';
import { describeFailure } from '../run/run-result.ts';
import type { LedCommit, Locks } from '../core/ports/locks.ts';
import type { Clock } from '../core/ports/clock.ts';
import type { CommitRelation } from '../core/ports/repository.ts';
import type { ConfigCommit } from '../core/settings.ts';
import type { Log } from './log.ts';

/** The locks of this process; see store/lease-keeper.ts. */
export interface LeaderLock extends Pick<Locks, 'leader' | 'lead' | 'rememberCommit' | 'resign' | 'leaseMs'> {
  isLeading(): boolean;
}

export interface LeadershipOptions {
  readonly lock: LeaderLock;
  readonly clock: Clock;
  readonly log: Log;
  readonly newEpoch: () => string;
  /** The commit of the files now. */
  readonly readCommit: () => Promise<ConfigCommit | null>;
  /** `ancestor`: the second commit descends from the first one. */
  readonly compareCommits: (a: string, b: string) => Promise<CommitRelation>;
  /** Begins a term. `isStart`: no other process has led since this one started. */
  readonly onLead: (epoch: string, isStart: boolean) => Promise<void>;
  /** Resolves when no run of the term is left. */
  readonly onEnd: () => Promise<void>;
  readonly onChange: (isLeading: boolean) => void;
  /** Called with the clock of the store, and how long it took to read it. */
  readonly onStoreClock: (storeMs: number, tookMs: number) => void;
}

export interface Leadership {
  start(): void;
  isLeading(): boolean;
  /**
   * Whether a run with files of this commit may begin: the leader had no newer commit. Remembers a newer one. A process that
   * may not leaves the accounts to others.
   */
  mayRun(commit: ConfigCommit | null): Promise<boolean>;
  /** Why this process runs no account although it could; null otherwise. */
  problem(): string | null;
  /** Ends the term in order: the next leader begins at once. */
  stop(): Promise<void>;
}

/** How often the leader looks whether it still leads, and the others whether it has stopped. */
const LEADER_LOOKS_MS = 2000;
const FOLLOWER_LOOKS_MS = 100;

export function createLeadership(options: LeadershipOptions): Leadership {
  const { lock, clock, log } = options;
  const stopping = new AbortController();
  let wake = new AbortController();
  let loop: Promise<void> | null = null;
  let epoch: string | null = null;
  let led: LedCommit | null = null;
  /** The latest commit of the files; git may fail for a moment. */
  let latest: ConfigCommit | null = null;
  let isBehind = false;
  let heldBy: string | null = null;
  let firstRenewal: string | null = null;
  let isStart = true;

  /** Whether the commit is older than the one that led last. */
  async function isOlder(commit: ConfigCommit | null): Promise<boolean> {
    latest = commit ?? latest;
    if (latest === null || led === null || latest.sha === led.sha) return false;
    const relation = await options.compareCommits(latest.sha, led.sha);
    // In a shallow clone, and where a commit was not fetched yet, only the dates of the commits can be compared.
    if (relation === 'unknown') return Date.parse(latest.committedAt) < Date.parse(led.committedAt);
    return relation === 'ancestor';
  }

  async function mayRun(commit: ConfigCommit | null): Promise<boolean> {
    const wasBehind = isBehind;
    isBehind = await isOlder(commit);
    const data = { event: 'configuration_older', commit: latest?.sha, newest: led?.sha };
    if (isBehind && !wasBehind)
      log.warn(
        data,
        'this process runs no account until it has the commit of the last leader, or a later one',
      );
    if (!isBehind && wasBehind)
      log.info({ ...data, event: 'configuration_current' }, 'the commit is new enough');
    return !isBehind;
  }

  async function rememberCommit(): Promise<void> {
    if (latest === null || latest.sha === led?.sha) return;
    const { sha, committedAt } = latest;
    await lock.rememberCommit({ sha, committedAt });
    led = { sha, committedAt };
  }

  async function follow(): Promise<void> {
    const sentMs = clock.steadyMs();
    const leader = await lock.leader(clock.nowMs());
    options.onStoreClock(leader.nowMs, clock.steadyMs() - sentMs);
    led = leader.commit;
    firstRenewal ??= leader.renewal ?? '';
    // Another process leads or has led, rather than one that was dead already.
    if (leader.heldBy !== null && leader.renewal !== firstRenewal) isStart = false;
    if (leader.heldBy !== null && heldBy === null)
      log.info({ event: 'follows', leader: leader.heldBy }, 'another process runs the accounts');
    heldBy = leader.heldBy;
    if (heldBy !== null || !(await mayRun(await options.readCommit())) || stopping.signal.aborted) return;
    const next = options.newEpoch();
    if (!(await lock.lead(next, clock.nowMs()))) return;
    epoch = next;
    try {
      await rememberCommit();
      log.info({ event: 'leads', epoch }, 'this process runs the accounts from now on');
      options.onChange(true);
      await options.onLead(epoch, isStart);
      isStart = false;
    } catch (error) {
      // Half a term runs no account, and keeps others from leading.
      await endTerm();
      throw error;
    }
  }

  async function endTerm(): Promise<void> {
    const ended = epoch;
    if (ended === null) return;
    options.onChange(false);
    await options.onEnd();
    epoch = null;
    if (lock.isLeading()) await lock.resign(ended);
  }

  async function step(): Promise<void> {
    if (epoch === null) return await follow();
    if (!lock.isLeading()) {
      log.warn(
        { event: 'leadership_lost', epoch },
        'the lease was not renewed in time; the runs are aborted',
      );
      await endTerm();
    } else if (await mayRun(await options.readCommit())) await rememberCommit();
    else await endTerm();
  }

  async function watch(): Promise<void> {
    while (!stopping.signal.aborted) {
      wake = new AbortController();
      try {
        await step();
      } catch (error) {
        // Readiness reports a store that cannot be used; anything else is a bug.
        const level = error instanceof StoreError ? 'debug' : 'error';
        const { code, message } = describeFailure(error);
        log[level]({ event: 'leadership_unknown', code, error: message }, 'who leads cannot be found out');
        if (!lock.isLeading()) await endTerm().catch(() => undefined);
      }
      const everyMs = epoch === null ? FOLLOWER_LOOKS_MS : LEADER_LOOKS_MS;
      if (!stopping.signal.aborted) await clock.sleep(Math.min(everyMs, lock.leaseMs / 8), wake.signal);
    }
  }

  return {
    start: () => void (loop ??= watch()),
    isLeading: () => epoch !== null && lock.isLeading(),
    async mayRun(commit) {
      const isAllowed = await mayRun(commit);
      if (isAllowed) await rememberCommit();
      else wake.abort();
      return isAllowed;
    },
    problem: () =>
      isBehind && heldBy === null
        ? 'no account runs here, because the files are older than those of the process that led last; update them'
        : null,
    async stop() {
      stopping.abort();
      wake.abort();
      await loop;
      await endTerm().catch(() => undefined);
    },
  };
}
