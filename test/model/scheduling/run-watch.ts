// What must hold for every run, checked when it begins, when it writes and when it ends: one run at a time, in the mode
// of the file, with an approval where one is needed, and never while paused, removed or throttled.
import type { SQLite } from '../../../src/platform/sqlite.ts';
import type { NewRun, RunEnd } from '../../../src/core/ports.ts';
import type { ArrivedRequest } from './remote-service.ts';

const DAY = 86_400_000;
const RENEWED_AFTER_MS = 6000;

/** The account file when the turn of the run came. */
export interface FileAtTurn {
  readonly exists: boolean;
  readonly valid: boolean;
  readonly mode: 'plan' | 'approve' | 'apply';
}

export interface SeenRun {
  readonly id: string;
  readonly account: string;
  readonly owner: string;
  readonly trigger: NewRun['trigger'];
  readonly mode: NewRun['mode'];
  readonly file: FileAtTurn | null;
  readonly startedWallMs: number;
  readonly begunMs: number;
  endedMs: number | null;
  status: RunEnd['status'] | null;
  approved: boolean;
  writes: number;
  /** Whether its lock was taken over during the run; requests that it has sent may still arrive. */
  lost: boolean;
}

interface GivenApproval {
  readonly digest: string;
  readonly givenWallMs: number;
}

export interface RunWatchFacts {
  readonly db: SQLite.Database;
  readonly wallMs: () => number;
  readonly timerMs: () => number;
  readonly violate: (what: string) => void;
}

export class RunWatch {
  readonly runs = new Map<string, SeenRun>();
  /** When the wall clock was last set forward by more than the validity of a lock. */
  setForwardMs = -Infinity;
  private readonly facts: RunWatchFacts;
  private readonly open = new Set<SeenRun>();
  private readonly approvals = new Map<string, GivenApproval>();
  private readonly quiet = new Map<string, { readonly untilWallMs: number; readonly sinceMs: number }>();
  private readonly failures = new Map<string, { readonly atMs: number; readonly count: number }[]>();

  constructor(facts: RunWatchFacts) {
    this.facts = facts;
  }

  begins(run: NewRun, owner: string, file: FileAtTurn | null): void {
    const { account, id, trigger, mode } = run;
    for (const other of this.open) {
      // A run that lost its lock is ended by the process that took it; its own process only finds that out.
      if (other.account !== account || other.lost) continue;
      const bothWrite = other.mode !== 'plan' && mode !== 'plan';
      if (bothWrite && other.owner !== owner && this.mayHaveLost()) other.lost = true;
      else if (bothWrite || other.owner === owner) {
        this.facts.violate(
          `two runs of ${account} at once: ${other.trigger} of ${other.owner} and ${trigger} of ${owner}`,
        );
      }
    }
    if (trigger !== 'manual' && trigger !== 'cli' && this.isPaused(account)) {
      this.facts.violate(`${account} is paused and was run (${trigger})`);
    }
    if (file !== null && !file.exists) this.facts.violate(`${account} has no file and was run (${trigger})`);
    if (file !== null && file.valid && file.mode !== mode) {
      this.facts.violate(`${account} was run in mode ${mode}, and its file sets ${file.mode}`);
    }
    const seen: SeenRun = {
      id,
      account,
      owner,
      trigger,
      mode,
      file,
      endedMs: null,
      status: null,
      approved: false,
      writes: 0,
      lost: false,
      startedWallMs: run.startedAtMs,
      begunMs: this.facts.timerMs(),
    };
    this.runs.set(id, seen);
    this.open.add(seen);
  }

  /** Another process has ended the run, and its result is kept. */
  wasEnded(id: string): void {
    const run = this.runs.get(id);
    if (run !== undefined) this.closes(run);
  }

  ends(id: string, end: RunEnd): void {
    const run = this.runs.get(id);
    if (run === undefined) return this.facts.violate(`a run ended that never began: ${id}`);
    run.status = end.status;
    this.closes(run);
    const { account, file } = run;
    if (file !== null && !file.valid && (end.status !== 'failed' || end.errorCode !== 'config_invalid')) {
      this.facts.violate(
        `the file of ${account} is broken, and its run ended ${end.status} (${String(end.errorCode)})`,
      );
    }
    if (end.errorCode === 'internal') this.facts.violate(`a bug: ${String(end.error)}`);
    const row = this.row<{ throttled_until: string | null; consecutive_failures: number }>(
      'select throttled_until, consecutive_failures from accounts where name = ?',
      account,
    );
    if (end.errorCode === 'throttled' && typeof row?.throttled_until === 'string') {
      this.quiet.set(account, {
        untilWallMs: Date.parse(row.throttled_until),
        sinceMs: this.facts.timerMs(),
      });
    }
    const history = this.failures.get(account) ?? [];
    history.push({ atMs: this.facts.timerMs(), count: row?.consecutive_failures ?? 0 });
    this.failures.set(account, history);
  }

  /** The daemon reports that a run could not be journaled: it has ended, whatever the journal contains. */
  lost(account: string, owner: string, failures: number): void {
    for (const run of this.open) if (run.account === account && run.owner === owner) this.closes(run);
    const history = this.failures.get(account) ?? [];
    history.push({ atMs: this.facts.timerMs(), count: failures });
    this.failures.set(account, history);
  }

  /** How many failures in a row a daemon may count that has seen those since `sinceMs`. */
  failuresSince(account: string, sinceMs: number): number {
    const history = (this.failures.get(account) ?? []).filter(({ atMs }) => atMs >= sinceMs);
    const nowMs = this.facts.timerMs();
    const recent = history.filter(
      ({ atMs }, index) => (history[index + 1]?.atMs ?? Infinity) > nowMs - 4000 || atMs > nowMs - 4000,
    );
    return Math.max(0, ...recent.map(({ count }) => count));
  }

  approved(account: string, digest: string, givenWallMs: number): void {
    this.approvals.set(account, { digest, givenWallMs });
  }

  /** A run has taken its approval. */
  taken(account: string, digest: string): void {
    const approval = this.approvals.get(account);
    this.approvals.delete(account);
    if (approval === undefined)
      return this.facts.violate(`${account} used an approval that nobody gave, or twice`);
    if (approval.digest !== digest) this.facts.violate(`${account} used the approval of another plan`);
    if (this.facts.wallMs() >= approval.givenWallMs + DAY)
      this.facts.violate(`${account} used an old approval`);
    const run = [...this.open].find((each) => each.account === account && each.mode !== 'plan');
    if (run === undefined) return this.facts.violate(`${account} used an approval outside of a run`);
    if (run.trigger !== 'manual' && this.isPaused(account)) {
      this.facts.violate(`${account} is paused and used an approval`);
    }
    run.approved = true;
  }

  requestArrived({ account, write, openedMs, sentWallMs }: ArrivedRequest): void {
    const quiet = this.quiet.get(account);
    if (quiet !== undefined && quiet.sinceMs < openedMs && sentWallMs < quiet.untilWallMs) {
      this.facts.violate(
        `${account} received a request although it is throttled until ${iso(quiet.untilWallMs)}`,
      );
    }
    if (write === null) return;
    const lock = this.row<{ run_id: string }>('select run_id from locks where account = ?', account);
    const run = this.runs.get(lock?.run_id ?? '');
    const what = `${write.action} of ${write.name} for ${account}`;
    if ([...this.open].some((each) => each.account === account && each.lost)) return;
    if (run === undefined || !this.open.has(run))
      return this.facts.violate(`a ${what} by no run that has its lock`);
    run.writes += 1;
    const rows = this.row<{ n: number }>(
      `select count(*) as n from operations where run_id = ? and action = ? and kind = ? and name = ? and status = 'sent'`,
      run.id,
      write.action,
      write.kind,
      write.name,
    );
    if (rows?.n !== 1) this.facts.violate(`a ${what} that the journal does not show as sent`);
    if (run.trigger === 'cli') return;
    if (run.mode === 'plan' || run.file?.mode === 'plan') this.facts.violate(`a ${what} in mode plan`);
    if (run.mode === 'approve' && !run.approved) this.facts.violate(`a ${what} without an approval`);
    if (run.file?.valid === false) this.facts.violate(`a ${what} by a broken file`);
  }

  isOpen(account: string, except: string): boolean {
    return [...this.open].some(
      (run) => run.account === account && run.owner !== except && run.mode !== 'plan',
    );
  }

  /** Whether the scheduled run of the account that was begun last was for the tick at `tickWallMs`. */
  isMade(account: string, tickWallMs: number): boolean {
    const last = [...this.runs.values()].findLast(
      (run) => run.account === account && (run.trigger === 'schedule' || run.trigger === 'catch_up'),
    );
    return (
      last !== undefined && last.startedWallMs >= tickWallMs && last.startedWallMs <= this.facts.wallMs()
    );
  }

  isPaused(account: string): boolean {
    return this.row<{ paused: number }>('select paused from accounts where name = ?', account)?.paused === 1;
  }

  /** Runs that this owner began and that have not ended. */
  openOf(owner: string): readonly SeenRun[] {
    return [...this.open].filter((run) => run.owner === owner);
  }

  /** A clock that is set forward makes a lock expire until its holder renews it; the lease handles that. */
  private mayHaveLost(): boolean {
    return this.facts.timerMs() - this.setForwardMs < RENEWED_AFTER_MS;
  }

  private closes(run: SeenRun): void {
    run.endedMs = this.facts.timerMs();
    this.open.delete(run);
  }

  private row<T>(sql: string, ...values: unknown[]): T | undefined {
    return this.facts.db.prepare(sql).get(...values) as T | undefined;
  }
}

function iso(ms: number): string {
  return new Date(ms).toISOString();
}
