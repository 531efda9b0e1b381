// The turns of several replicas as plain values: what every step must leave in the tables. Shares no code with the store.
import type { DueSchedule } from '../../../src/core/turn-store.ts';
import { type AccountPart, ACCOUNTS, type Commit } from './script.ts';

const MINUTE = 60_000;
export const LEASE_MS = 150_000;

export interface ModelTurn {
  lane: string;
  minutes: number;
  digest: string;
  gen: number;
  isBroken: boolean;
  isRemoved: boolean;
  due: number | null;
  tick: number | null;
  requested: string | null;
  lastTick: number;
  backoff: number | null;
  approved: string | null;
  holder: string | null;
  heldFor: string | null;
  claimedDue: number | null;
}

export interface ModelReplica {
  started: number;
  beat: number;
  isDead: boolean;
  gen: number;
  /** null before it has stored its configuration. */
  files: ModelFiles | null;
}

/** The files of a replica. Commits are places in one line of history. */
export interface ModelFiles {
  /** null without git. */
  readonly commit: number | null;
  readonly content: Commit;
  readonly isEdited: boolean;
}

/** Of other files of the same commit, those with the smaller number count. */
export function flawsOf({ commit, content, isEdited }: ModelFiles): number {
  const isInvalid = Object.values(content).every(({ isBroken }) => isBroken);
  return Number(isInvalid) + (isEdited || commit === null ? 2 : 0);
}

function areSame(one: ModelFiles | null, two: ModelFiles): boolean {
  return one?.commit === two.commit && filesDigest(one.content) === filesDigest(two.content);
}

export function filesDigest(content: Commit): string {
  return JSON.stringify(ACCOUNTS.map((account) => content[account] ?? null));
}

export interface ModelClaim {
  readonly account: string;
  readonly holder: string;
  readonly trigger: string | null;
  readonly lastTick: number;
  minutes: number;
  /** Distinguishes the claims of one account. */
  readonly number: number;
}

/** The tick after a moment, of a line that ticks every so many minutes. */
export function tickAfter(minutes: number, atMs: number): number {
  return (Math.floor(atMs / (minutes * MINUTE)) + 1) * minutes * MINUTE;
}

/** An account that nobody has requested, claimed or approved yet. */
const NEW = {
  isRemoved: false,
  requested: null,
  backoff: null,
  approved: null,
  holder: null,
  heldFor: null,
  claimedDue: null,
};

const GIVEN_BACK = { holder: null, heldFor: null, claimedDue: null };

function wantedColumns({ lane, digest, dueMs, tickMs }: DueSchedule, part: AccountPart) {
  return { lane, digest, minutes: part.minutes, isBroken: part.isBroken, due: dueMs, tick: tickMs };
}

export class Model {
  now: number;
  readonly turns = new Map<string, ModelTurn>();
  readonly replicas = new Map<string, ModelReplica>();
  /** The claim that each held account belongs to. */
  private readonly claims = new Map<string, number>();
  private claimCount = 0;
  /** The files that were the newest, in their order. */
  private readonly generations: ModelFiles[] = [];

  constructor(now: number) {
    this.now = now;
  }

  private isLive(id: string): boolean {
    const replica = this.replicas.get(id);
    return replica !== undefined && !replica.isDead && replica.beat + LEASE_MS > this.now;
  }

  private bury(): string[] {
    const freed: string[] = [];
    for (const [account, turn] of this.turns) {
      if (turn.holder === null || this.replicas.get(turn.holder)?.isDead === false) continue;
      this.free(turn, 'start');
      freed.push(account);
    }
    for (const [id, { isDead }] of this.replicas) if (isDead) this.replicas.delete(id);
    return freed;
  }

  private free(turn: ModelTurn, trigger: string | null): void {
    turn.requested ??= turn.heldFor === 'manual' ? 'manual' : trigger;
    const due = turn.claimedDue ?? this.now;
    turn.due = turn.isRemoved ? null : Math.min(turn.due ?? due, due);
    Object.assign(turn, GIVEN_BACK);
  }

  register(id: string): { replicas: number; isKnown: boolean; isFirst: boolean } {
    this.bury();
    this.replicas.set(id, { started: this.now, beat: this.now, isDead: false, gen: 0, files: null });
    return this.status(id);
  }

  private status(id: string) {
    const own = this.replicas.get(id);
    const others = [...this.replicas].filter(([other]) => other !== id && this.isLive(other));
    const started = own?.started ?? 0;
    return {
      replicas: this.replicas.size,
      isKnown: others.every(([, { beat }]) => beat >= started),
      isFirst: !others.some(
        ([other, each]) => each.started < started || (each.started === started && other < id),
      ),
    };
  }

  beat(id: string): ReturnType<Model['register']> | null {
    const replica = this.replicas.get(id);
    if (replica === undefined) return null;
    replica.beat = this.now;
    return this.status(id);
  }

  reap(): string[] {
    for (const replica of this.replicas.values()) {
      if (replica.beat + LEASE_MS <= this.now) replica.isDead = true;
    }
    return this.bury();
  }

  retire(id: string): void {
    const replica = this.replicas.get(id);
    if (replica !== undefined) replica.isDead = true;
    this.bury();
  }

  /** What the newest files change, by the lower number of their generation. */
  reload(rank: number, commit: Commit): void {
    const gen = rank - 1;
    for (const account of ACCOUNTS) {
      const part = commit[account];
      const turn = this.turns.get(account);
      if (part === undefined) {
        if (turn === undefined || turn.isRemoved || turn.gen > gen) continue;
        Object.assign(turn, { isRemoved: true, gen, due: null, tick: null, requested: null, backoff: null });
        continue;
      }
      const wanted = scheduleOf(account, part, this.now);
      if (turn === undefined) {
        this.turns.set(account, { ...NEW, ...wantedColumns(wanted, part), gen, lastTick: this.now });
        continue;
      }
      if (turn.gen > gen) continue;
      const lane = part.isBroken ? turn.lane : part.lane;
      const isSame =
        turn.digest === wanted.digest &&
        turn.isBroken === part.isBroken &&
        !turn.isRemoved &&
        turn.lane === lane;
      if (!isSame) this.change(turn, part, { gen, wanted, lane });
    }
  }

  private change(
    turn: ModelTurn,
    part: AccountPart,
    { gen, wanted, lane }: { readonly gen: number; readonly wanted: DueSchedule; readonly lane: string },
  ): void {
    const isIdle = turn.holder === null;
    const isLate = turn.due !== null && turn.due <= this.now;
    const isSameTime = turn.minutes === part.minutes && turn.backoff === null;
    const keeps = !turn.isRemoved && (turn.requested !== null || isLate || part.isBroken || isSameTime);
    if (isIdle && !keeps) Object.assign(turn, { due: wanted.dueMs, tick: wanted.tickMs });
    if (turn.isRemoved) Object.assign(turn, { lastTick: this.now, requested: null });
    if (isIdle && !part.isBroken) turn.backoff = null;
    if (!part.isBroken) turn.minutes = part.minutes;
    Object.assign(turn, { lane, gen, digest: wanted.digest, isBroken: part.isBroken, isRemoved: false });
  }

  claim(
    id: string,
    gen: number,
    lanes: readonly string[],
    limits: { room: number; most: number },
  ): ModelClaim[] {
    if (!this.isLive(id)) return [];
    const claimed: ModelClaim[] = [];
    for (const lane of lanes) {
      const due = [...this.turns]
        .filter(
          ([, turn]) => turn.lane === lane && turn.holder === null && !turn.isRemoved && turn.gen <= gen,
        )
        .filter(([, turn]) => turn.due !== null && turn.due <= this.now)
        .toSorted(([one, a], [two, b]) => (a.due ?? 0) - (b.due ?? 0) || (one < two ? -1 : 1));
      for (const [account, turn] of due.slice(0, Math.min(limits.room, limits.most - claimed.length))) {
        this.claimCount += 1;
        this.claims.set(account, this.claimCount);
        const trigger = turn.requested;
        if (turn.tick !== null && turn.tick <= this.now) turn.lastTick = turn.tick;
        Object.assign(turn, {
          holder: id,
          due: null,
          requested: null,
          heldFor: trigger,
          claimedDue: turn.due,
        });
        const { lastTick, minutes } = turn;
        claimed.push({ account, holder: id, trigger, lastTick, minutes, number: this.claimCount });
      }
    }
    return claimed;
  }

  private held({ account, holder, number }: ModelClaim): ModelTurn | null {
    const turn = this.turns.get(account);
    return turn?.holder === holder && this.claims.get(account) === number ? turn : null;
  }

  isCurrent(claim: ModelClaim, gen: number): boolean {
    const turn = this.held(claim);
    return turn !== null && !turn.isRemoved && turn.gen <= gen && this.isLive(claim.holder);
  }

  /** The minutes of the changed line, or null when the turn has ended or is lost. */
  end(claim: ModelClaim, backoff: number | null): number | null {
    const turn = this.held(claim);
    if (turn === null) return null;
    if (turn.minutes !== claim.minutes) return turn.minutes;
    const tick = tickAfter(claim.minutes, this.now);
    turn.due = turn.isRemoved ? null : (turn.due ?? tick);
    Object.assign(turn, { ...GIVEN_BACK, tick, backoff });
    return null;
  }

  release(claim: ModelClaim, why: 'interrupted' | 'later' | 'locked'): void {
    const turn = this.held(claim);
    if (turn === null) return;
    if (why !== 'locked') return this.free(turn, why === 'interrupted' ? 'start' : turn.heldFor);
    turn.requested ??= turn.heldFor;
    turn.due = turn.isRemoved ? null : this.now + 1000;
    Object.assign(turn, GIVEN_BACK);
  }

  /** Frees what a replica holds without knowing it. */
  releaseOthers(id: string, known: ReadonlySet<string>): void {
    for (const [account, turn] of this.turns)
      if (turn.holder === id && !known.has(account)) this.free(turn, turn.heldFor);
  }

  private othersOf(id: string): ModelReplica[] {
    return [...this.replicas].flatMap(([other, each]) => (other !== id && this.isLive(other) ? [each] : []));
  }

  newest(): ModelFiles | null {
    return this.generations.at(-1) ?? null;
  }

  /**
   * The files that count are those of the latest commit; among equals, those with fewer flaws, and then those that a live
   * replica has had first. Each generation has two numbers: the lower one for what it changed, the higher one for itself.
   */
  rank(id: string, own: ModelFiles, hadCommit: boolean): { gen: number; isNewest: boolean } {
    const newest = this.newest();
    const latest = 2 * this.generations.length;
    const next = { gen: latest + 2, isNewest: true };
    if (newest === null) return next;
    const { commit } = own;
    if (areSame(newest, commit === null ? { ...own, commit: newest.commit } : own))
      return { gen: latest, isNewest: true };
    const others = this.othersOf(id).flatMap(({ files }) => files ?? []);
    // Files that are equal to those of a commit count like them, also without git.
    const isFree = !others.some(
      (other) =>
        areSame(other, newest) || areSame({ ...other, commit: other.commit ?? newest.commit }, newest),
    );
    const counts = isFree || flawsOf(own) < flawsOf(newest);
    if (commit === null) {
      if (!hadCommit && counts && others.every((other) => other.commit === null)) return next;
      return { gen: newest.commit === null ? latest - 1 : 1, isNewest: false };
    }
    const known = Math.max(-1, ...this.generations.map((each) => each.commit ?? -1));
    if (commit > known || (commit === known && (newest.commit === null || counts))) return next;
    if (commit === newest.commit) return { gen: latest - 1, isNewest: false };
    const contained = this.generations
      .slice(0, -1)
      .findLastIndex((each) => each.commit !== null && each.commit <= commit);
    return { gen: Math.max(1, 2 * (contained + 1)), isNewest: false };
  }

  publish(id: string, files: ModelFiles, { gen, isNewest }: { gen: number; isNewest: boolean }): void {
    if (isNewest && gen > 2 * this.generations.length) this.generations.push(files);
    const replica = this.replicas.get(id);
    if (replica !== undefined) Object.assign(replica, { gen, files });
  }

  /** Accounts that a replica could run although its files differ from those that are stored. */
  conflicts(id: string): string[] {
    const { gen, files } = this.replicas.get(id) ?? { gen: 0, files: null };
    return [...this.turns].flatMap(([account, turn]) => {
      const part = files?.content[account as (typeof ACCOUNTS)[number]];
      if (turn.isRemoved || turn.gen > gen || (part !== undefined && digestOf(part) === turn.digest))
        return [];
      return [account];
    });
  }

  /** Accounts that differ from an older configuration belong to the newest one. */
  leave(gen: number, content: Commit): void {
    for (const account of ACCOUNTS) {
      const turn = this.turns.get(account);
      const part = content[account];
      if (turn === undefined || turn.isRemoved || turn.gen > gen) continue;
      const isSame =
        part !== undefined && digestOf(part) === turn.digest && (part.isBroken || part.lane === turn.lane);
      if (!isSame) turn.gen = 2 * this.generations.length;
    }
  }

  sync(account: string): boolean {
    const turn = this.turns.get(account);
    if (turn === undefined || turn.isRemoved) return false;
    turn.due = Math.min(turn.due ?? this.now, this.now);
    turn.requested = 'manual';
    return true;
  }

  approve(account: string, givenAt: string): boolean {
    const turn = this.turns.get(account);
    if (turn === undefined || turn.isRemoved || turn.holder !== null || turn.approved === givenAt)
      return false;
    turn.due = Math.min(turn.due ?? this.now, this.now);
    turn.requested ??= 'approval';
    turn.approved = givenAt;
    return true;
  }

  startAll(): void {
    for (const turn of this.turns.values()) {
      if (turn.isRemoved || turn.holder !== null) continue;
      turn.due = Math.min(turn.due ?? this.now, this.now);
      turn.requested ??= 'start';
    }
  }

  /** The failures of the account ended with an apply of a person. */
  endBackoff(account: string): void {
    const turn = this.turns.get(account);
    if (turn === undefined || turn.isRemoved || turn.holder !== null || turn.backoff === null) return;
    const tick = tickAfter(turn.minutes, this.now);
    turn.due = Math.min(turn.due ?? tick, tick);
    turn.tick = Math.min(turn.tick ?? tick, tick);
    turn.backoff = null;
  }
}

function digestOf({ minutes, version, isBroken }: AccountPart): string {
  return JSON.stringify([minutes, version, isBroken]);
}

/** The schedule of an account in a commit. */
export function scheduleOf(name: string, part: AccountPart, nowMs: number): DueSchedule {
  const tick = tickAfter(part.minutes, nowMs);
  return {
    name,
    lane: part.lane,
    schedule: String(part.minutes),
    timezone: 'Etc/UTC',
    jitterMs: 0,
    revision: '',
    digest: digestOf(part),
    isBroken: part.isBroken,
    dueMs: tick,
    tickMs: tick,
    backoffUntilMs: null,
  };
}
