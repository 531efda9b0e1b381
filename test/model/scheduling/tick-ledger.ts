// What a daemon must do: for each tick of each schedule one run, one counted skip, or a valid reason for neither. Ticks
// are those of the oracle; their outcomes come from the turns of accounts and from the daemon's log.
import { ticksBetween } from './cron-oracle.ts';

const HOUR = 3_600_000;
/** How often the daemon checks the clock, and a moment for the check itself. */
const LOOK_MS = 1100;

export interface Times {
  readonly schedule: string;
  readonly timezone: string;
  readonly jitterMs: number;
}

type RunCause = 'start' | 'manual' | 'approval' | 'tick';

interface OwedTick {
  readonly atWallMs: number;
  /** On the steady clock: between these times a run is requested. */
  readonly fromMs: number;
  byMs: number;
  /** Whether it may be dropped, for a known reason. */
  mayBeDropped: boolean;
  /** Whether the failures at its time may delay it. */
  readonly mayBeDelayed: boolean;
  /** Whether it was found waiting for room after its time. */
  queued: boolean;
}

interface Slot {
  times: Times;
  seenToWallMs: number;
  /** The tick, or the moment of being scheduled, from which a backoff counts. */
  lastTickWallMs: number;
  /** Failures before this moment no longer count. */
  freshFromMs: number;
  owed: OwedTick[];
}

interface Turn {
  kind: RunCause | null;
  readonly atMs: number;
  readonly atWallMs: number;
  /** Its tick, if it is for a tick: the schedule may change by what is read during the turn. */
  readonly owed: OwedTick | null;
}

export interface LedgerFacts {
  readonly wallMs: () => number;
  readonly timerMs: () => number;
  readonly violate: (what: string) => void;
  /** Failed runs in a row that the daemon may count: those that ended after a moment of the steady clock. */
  readonly failures: (account: string, sinceMs: number) => number;
  /** The lane of an account, and how many there are. */
  readonly laneOf: (account: string) => string;
  readonly lanes: () => number;
  readonly maxRuns: () => number;
}

/** The ledger of one daemon from its start to its stop. */
export class TickLedger {
  /** The number of ticks, and of their outcomes. */
  readonly counts = {
    ticks: 0,
    runs: 0,
    skipped: 0,
    held: 0,
    dropped: 0,
    elsewhere: 0,
    paused: 0,
    locked: 0,
  };
  private readonly facts: LedgerFacts;
  private readonly slots = new Map<string, Slot>();
  private readonly requested = new Map<string, RunCause>();
  private readonly turns = new Map<string, Turn>();
  private readonly turnCounts = new Map<string, number>();
  /** How many turns were allowed when the first turn of the latest moment began. */
  private chosen = { atMs: -Infinity, most: 0 };
  /** When the wall clock was set last. */
  private setMs = -Infinity;
  private upTo = { wallMs: 0, ticks: [] as { name: string; atWallMs: number }[] };

  constructor(facts: LedgerFacts) {
    this.facts = facts;
  }

  /** The schedules as the daemon has read them; `revised` are accounts whose files have changed. */
  schedule(all: ReadonlyMap<string, Times>, revised: ReadonlySet<string>, isStart = false): void {
    this.advance();
    for (const [name, slot] of this.slots) {
      if (all.has(name)) continue;
      this.drop(slot);
      this.slots.delete(name);
    }
    const wallMs = this.facts.wallMs();
    for (const [name, times] of all) {
      const slot = this.slots.get(name);
      const isSame = slot !== undefined && JSON.stringify(slot.times) === JSON.stringify(times);
      if (slot !== undefined && isSame && !revised.has(name)) continue;
      if (slot !== undefined && !isSame) this.dropBeforeRequest(slot);
      this.slots.set(name, {
        times,
        seenToWallMs: isSame ? slot.seenToWallMs : wallMs,
        lastTickWallMs: wallMs,
        freshFromMs: isStart ? -Infinity : this.facts.timerMs(),
        owed: slot?.owed ?? [],
      });
    }
    this.upTo = { wallMs: 0, ticks: [] };
  }

  /** The next tick after now and not after `wallMs`; null when none is. */
  nextTickWallMs(untilWallMs: number): number | null {
    const nowMs = this.facts.wallMs();
    if (untilWallMs > this.upTo.wallMs || (this.upTo.ticks[0]?.atWallMs ?? Infinity) > nowMs + HOUR) {
      const ticks = [...this.slots].flatMap(([name, { times }]) =>
        ticksBetween(times.schedule, times.timezone, nowMs, untilWallMs).map((atWallMs) => ({
          name,
          atWallMs,
        })),
      );
      this.upTo = { wallMs: untilWallMs, ticks: ticks.toSorted((a, b) => a.atWallMs - b.atWallMs) };
    }
    return (
      this.upTo.ticks.find(({ atWallMs }) => atWallMs > nowMs && atWallMs <= untilWallMs)?.atWallMs ?? null
    );
  }

  nextTickOf(name: string): number | null {
    const slot = this.slots.get(name);
    if (slot === undefined) return null;
    const { schedule, timezone } = slot.times;
    const nowMs = this.facts.wallMs();
    for (const width of [HOUR, 26 * HOUR, 8 * 24 * HOUR]) {
      const [tick] = ticksBetween(schedule, timezone, nowMs, nowMs + width);
      if (tick !== undefined) return tick;
    }
    return null;
  }

  /** Whether a tick of the account lies after a moment and not after now. */
  hasTickedSince(name: string, sinceWallMs: number): boolean {
    const slot = this.slots.get(name);
    if (slot === undefined) return false;
    const { schedule, timezone } = slot.times;
    return ticksBetween(schedule, timezone, sinceWallMs, this.facts.wallMs()).length > 0;
  }

  /** Adds the ticks until now. */
  advance(): void {
    for (const [name, slot] of this.slots) this.advanceSlot(name, slot, false);
  }

  /** The wall clock has just been set by `byMs`; the daemon detects that at its next check. */
  clockSet(byMs: number): void {
    this.setMs = this.facts.timerMs();
    const wallMs = this.facts.wallMs();
    for (const [name, slot] of this.slots) {
      if (byMs >= 0) this.advanceSlot(name, slot, true);
      else if (byMs > -2000) for (const owed of slot.owed) owed.byMs -= byMs;
      else {
        // Schedules restart from the new time on.
        this.drop(slot);
        slot.seenToWallMs = wallMs;
        slot.lastTickWallMs = Math.min(slot.lastTickWallMs, wallMs);
      }
    }
    this.upTo = { wallMs: 0, ticks: [] };
  }

  /** Somebody requests a run now, and the request is accepted. */
  request(name: string, what: Exclude<RunCause, 'tick'>): void {
    this.requested.set(name, what);
  }

  /** The run that waits for room no longer belongs to the tick: somebody requested it. */
  replaceTick(name: string): void {
    this.advance();
    const slot = this.slots.get(name);
    const index = slot?.owed.findIndex(({ fromMs }) => fromMs <= this.facts.timerMs()) ?? -1;
    if (slot === undefined || index < 0) return;
    const [owed] = slot.owed.splice(index, 1);
    if (owed !== undefined) slot.lastTickWallMs = owed.atWallMs;
    this.counts.dropped += 1;
  }

  withdraw(name: string): void {
    this.requested.delete(name);
  }

  /** Whether nobody has requested a run and none is running; a tick may be due. */
  isFree(name: string): boolean {
    return !this.turns.has(name) && !this.requested.has(name);
  }

  isBusy(name: string): boolean {
    return !this.isFree(name) || (this.slots.get(name)?.owed.length ?? 0) > 0;
  }

  isIdle(): boolean {
    return (
      this.turns.size === 0 &&
      this.requested.size === 0 &&
      [...this.slots.values()].every(({ owed }) => owed.length === 0)
    );
  }

  /** When the next due tick must have its outcome, on the steady clock. */
  nextDueMs(): number {
    const owed = [...this.slots.values()].flatMap((slot) => slot.owed.filter(({ queued }) => !queued));
    return Math.min(...owed.map(({ byMs }) => byMs));
  }

  /** The account's turn has come: the daemon begins with a run of it. */
  turnBegins(name: string): void {
    this.advance();
    if (this.turns.has(name)) this.facts.violate(`${name} has two turns at once`);
    this.turnCounts.set(name, this.turnsOf(name) + 1);
    const atMs = this.facts.timerMs();
    const owed = this.slots.get(name)?.owed.find(({ fromMs }) => fromMs <= atMs) ?? null;
    this.turns.set(name, {
      kind: this.requested.get(name) ?? null,
      atMs,
      atWallMs: this.facts.wallMs(),
      owed,
    });
    this.requested.delete(name);
    // Turns of one moment were chosen together, before the first of them read the files again.
    if (this.chosen.atMs !== atMs) this.chosen = { atMs, most: this.facts.maxRuns() };
    if (this.turns.size > this.chosen.most) {
      this.facts.violate(`${String(this.turns.size)} runs at a time, of ${String(this.chosen.most)}`);
    }
  }

  /** How often the account's turn has come. */
  turnsOf(name: string): number {
    return this.turnCounts.get(name) ?? 0;
  }

  /** The daemon reports that it requested a run because of an approval. */
  approvalSeen(name: string): void {
    const turn = this.turns.get(name);
    if (turn !== undefined && turn.kind === null) turn.kind = 'approval';
    else this.requested.set(name, 'approval');
  }

  /** The cause of the account's turn; a turn that nobody requested is for a tick. */
  kindOf(name: string): RunCause | null {
    const turn = this.turns.get(name);
    if (turn === undefined) return null;
    if (turn.kind !== null) return turn.kind;
    turn.kind = 'tick';
    this.counts.runs += 1;
    this.settleTick(name, turn);
    return 'tick';
  }

  /** The tick of the account's turn; for a turn without a tick the moment at which it came. */
  tickOf(name: string): number {
    const kind = this.kindOf(name);
    const turn = this.turns.get(name);
    return (kind === 'tick' ? turn?.owed?.atWallMs : turn?.atWallMs) ?? Infinity;
  }

  turnEnds(name: string): void {
    this.kindOf(name);
    this.turns.delete(name);
  }

  /** The daemon reports that a tick found the account busy. */
  skipped(name: string): void {
    this.advance();
    const slot = this.slots.get(name);
    const index =
      slot?.owed.findLastIndex(({ fromMs, queued }) => !queued && fromMs <= this.facts.timerMs()) ?? -1;
    if (slot === undefined || index < 0) return this.facts.violate(`a skip of ${name} at no tick`);
    const [owed] = slot.owed.splice(index, 1);
    if (owed !== undefined) slot.lastTickWallMs = owed.atWallMs;
    this.counts.skipped += 1;
    if (!this.isBusy(name)) this.facts.violate(`a tick of ${name} was skipped although it did not run`);
  }

  /** Checks the ticks that are due by now. `activity` returns what the daemon reports about an account. */
  async judge(activity: (name: string) => Promise<'running' | 'queued' | 'idle'>): Promise<void> {
    this.advance();
    for (const name of this.turns.keys()) this.kindOf(name);
    const nowMs = this.facts.timerMs();
    for (const [name, slot] of this.slots) {
      const byNow = slot.owed.filter(({ byMs }) => byMs <= nowMs);
      for (const owed of byNow) {
        if (this.requested.get(name) === undefined && (await activity(name)) === 'queued') {
          owed.queued = true;
          continue;
        }
        slot.owed = slot.owed.filter((each) => each !== owed);
        if (owed.mayBeDropped) this.counts.dropped += 1;
        else if (owed.mayBeDelayed) this.counts.held += 1;
        else this.facts.violate(`the tick of ${name} at ${iso(owed.atWallMs)} had no outcome`);
      }
    }
    const waiting = [
      ...this.requested.keys(),
      ...[...this.slots].flatMap(([name, { owed }]) => (owed.some(({ queued }) => queued) ? [name] : [])),
    ];
    for (const name of waiting) {
      if (!this.hasRoom(name)) continue;
      this.facts.violate(`${name} waits although there is room: ${[...this.turns.keys()].join()} run`);
    }
  }

  private advanceSlot(name: string, slot: Slot, isJump: boolean): void {
    const wallMs = this.facts.wallMs();
    if (wallMs <= slot.seenToWallMs) return;
    const { schedule, timezone, jitterMs } = slot.times;
    const ticks = ticksBetween(schedule, timezone, slot.seenToWallMs, wallMs);
    slot.seenToWallMs = wallMs;
    // All ticks that a clock jumped over count as one.
    for (const atWallMs of isJump ? ticks.slice(0, 1) : ticks) {
      const wasJustSet = this.facts.timerMs() - (wallMs - atWallMs) <= this.setMs + LOOK_MS;
      this.counts.ticks += 1;
      const gapMs =
        (ticksBetween(schedule, timezone, atWallMs, atWallMs + 2 * HOUR)[0] ?? Infinity) - atWallMs;
      const latestWallMs = Math.max(atWallMs + Math.min(jitterMs, gapMs / 10), isJump ? wallMs : 0);
      const timerMs = this.facts.timerMs();
      slot.owed.push({
        atWallMs,
        fromMs: timerMs - (wallMs - atWallMs),
        byMs: timerMs + (latestWallMs - wallMs) + LOOK_MS,
        // Right after the clock was set, a tick may count together with those before it, or come before the daemon
        // detects it.
        mayBeDropped: wasJustSet && !isJump,
        mayBeDelayed: this.mayDelay(name, slot, atWallMs),
        queued: false,
      });
    }
  }

  private settleTick(name: string, turn: Turn): void {
    const slot = this.slots.get(name);
    const { owed } = turn;
    if (owed === null) {
      return this.facts.violate(`${name} was run by schedule although no tick was due`);
    }
    if (slot?.owed.includes(owed) === true) {
      slot.owed = slot.owed.filter((each) => each !== owed);
      slot.lastTickWallMs = owed.atWallMs;
    }
    if (turn.atMs > owed.byMs && !owed.queued) {
      this.facts.violate(`the run for the tick of ${name} at ${iso(owed.atWallMs)} came too late`);
    }
  }

  /** Whether failures may delay a tick: by the interval, doubled with each failure, and by at most an hour. */
  private mayDelay(name: string, slot: Slot, atWallMs: number): boolean {
    const failures = this.facts.failures(name, slot.freshFromMs);
    const { schedule, timezone } = slot.times;
    const ticks = ticksBetween(schedule, timezone, atWallMs - 1, atWallMs + 4 * HOUR);
    const gaps = ticks.slice(1).map((ms, index) => ms - (ticks[index] ?? ms));
    const everyMs = Math.min(...gaps);
    if (failures < 2 || everyMs >= HOUR) return false;
    return atWallMs < slot.lastTickWallMs + Math.min(everyMs * 2 ** (failures - 1), HOUR);
  }

  /** One lane may have at most three quarters of all places if there are other lanes. */
  hasRoom(name: string): boolean {
    const most = this.facts.maxRuns();
    const ofLane = this.facts.lanes() < 2 || most < 2 ? most : Math.floor(most * 0.75);
    const lane = this.facts.laneOf(name);
    const inLane = [...this.turns.keys()].filter((each) => this.facts.laneOf(each) === lane).length;
    return this.turns.size < most && inLane < ofLane;
  }

  /**
   * Drops the ticks of a schedule that no longer holds. A run for a tick whose time has come may be requested already: the
   * new schedule was read at the turn of another account with a tick at the same time.
   */
  private dropBeforeRequest(slot: Slot): void {
    const due = slot.owed.filter(({ fromMs }) => fromMs <= this.facts.timerMs());
    for (const owed of due) owed.mayBeDropped = true;
    this.counts.dropped += slot.owed.length - due.length;
    slot.owed = due;
  }

  private drop(slot: Slot): void {
    this.counts.dropped += slot.owed.length;
    slot.owed = [];
  }
}

function iso(ms: number): string {
  return new Date(ms).toISOString();
}
