// Plays a story on PostgreSQL and on the model side by side. After each step both must agree on every row.
import { expect } from 'vitest';
import type { CommitRelation } from '../../../src/core/repository.ts';
import type { ClaimedTurn, CronLine, NextTick } from '../../../src/core/turn-store.ts';
import { rankOf } from '../../../src/daemon/replicas/config-generation.ts';
import { configCommit, type TurnDatabase } from '../../support/turn-database.ts';
import {
  filesDigest,
  flawsOf,
  LEASE_MS,
  Model,
  type ModelClaim,
  type ModelFiles,
  type ModelReplica,
  scheduleOf,
  tickAfter,
} from './model.ts';
import { ACCOUNTS, type Place, type Script, type Step } from './script.ts';

const START = Date.UTC(2026, 0, 5, 10);

interface Process {
  readonly id: string;
  gen: number;
  /** The latest files that it had a commit of. */
  committed: ModelFiles | null;
  /** What it read last. */
  reload: Extract<Step, { type: 'reload' }> | null;
}

interface Claim {
  readonly stored: ClaimedTurn;
  readonly model: ModelClaim;
  readonly process: Process;
}

export type Figures = Record<string, number>;

const ROWS = `
  select coalesce(jsonb_object_agg(account, jsonb_build_object(
    'lane', lane, 'minutes', schedule::int, 'digest', config_digest, 'gen', config_gen,
    'isBroken', is_broken = 1, 'isRemoved', removed = 1, 'due', extract(epoch from due_at) * 1000,
    'tick', extract(epoch from tick_at) * 1000, 'requested', requested,
    'lastTick', extract(epoch from last_tick_at) * 1000, 'backoff', extract(epoch from backoff_until) * 1000,
    'approved', approved_at, 'holder', holder, 'heldFor', held_for,
    'claimedDue', extract(epoch from claimed_due_at) * 1000)), '{}') as turns,
    (select coalesce(jsonb_object_agg(id, jsonb_build_object(
      'started', extract(epoch from started_at) * 1000, 'beat', extract(epoch from beat_at) * 1000,
      'isDead', is_dead = 1, 'gen', config_gen, 'commit', config_commit, 'digest', config_digest)), '{}') from replicas) as replicas
  from turns`;

export async function play(script: Script, database: TurnDatabase, figures: Figures = {}): Promise<void> {
  const story = new Story(script, database, figures);
  await database.query('truncate turns, replicas, config_generations');
  await database.setClock(START);
  for (const step of script.steps) {
    await story.take(step);
    await story.compare(step);
  }
  await story.settle();
  await story.end();
}

/** What one process does for itself. */
type ProcessStep = Extract<Step, { place: Place }>;

class Story {
  private readonly model = new Model(START);
  private readonly processes = new Map<Place, Process>();
  private readonly claims: Claim[] = [];
  private readonly script: Script;
  private readonly database: TurnDatabase;
  private readonly figures: Figures;
  private count = 0;

  constructor(script: Script, database: TurnDatabase, figures: Figures) {
    this.script = script;
    this.database = database;
    this.figures = figures;
  }

  async compare(step: Step): Promise<void> {
    const [row] = await this.database.query<Record<'turns' | 'replicas', unknown>>(ROWS);
    const { turns, replicas } = this.model;
    expect(row, `after ${JSON.stringify(step)}`).toEqual({
      turns: Object.fromEntries(turns),
      replicas: Object.fromEntries([...replicas].map(([id, replica]) => [id, replicaRow(replica)])),
    });
    for (const id of replicas.keys()) expect(this.model.conflicts(id), `${id} has other files`).toEqual([]);
    const held = [...turns.values()].flatMap(({ holder }) => (holder === null ? [] : [holder]));
    this.figures['held'] = (this.figures['held'] ?? 0) + held.length;
  }

  private note(what: string): void {
    this.figures[what] = (this.figures[what] ?? 0) + 1;
  }

  async take(step: Step): Promise<void> {
    const { model } = this;
    const { store } = this.database;
    switch (step.type) {
      case 'pass':
        model.now += step.ms;
        return await this.database.setClock(model.now);
      case 'reap':
        return this.same(await sorted(store.reap()), model.reap().toSorted());
      case 'startAll':
        model.startAll();
        return await store.startAll();
      case 'sync':
        return this.same(await store.sync(step.account), model.sync(step.account));
      case 'approve': {
        const givenAt = String(step.approval);
        return this.same(await store.approve(step.account, givenAt), model.approve(step.account, givenAt));
      }
      case 'resume':
        return await this.endBackoff(step.account);
      case 'end':
      case 'later':
      case 'interrupt':
      case 'locked':
      case 'check':
        return await this.takeTurn(step);
      case 'register':
      case 'beat':
      case 'die':
      case 'retire':
      case 'reload':
      case 'releaseOthers':
      case 'claim':
        return await this.takeProcess(step);
    }
  }

  private async takeProcess(step: ProcessStep): Promise<void> {
    const { model } = this;
    const { store } = this.database;
    const process = this.processes.get(step.place);
    if (step.type === 'register') {
      if (process !== undefined) return;
      const fresh = this.newProcess();
      this.processes.set(step.place, fresh);
      this.same(await store.register(fresh.id, 'test', LEASE_MS), {
        nowMs: model.now,
        ...model.register(fresh.id),
      });
      return;
    }
    if (process === undefined) return;
    const { id } = process;
    switch (step.type) {
      case 'beat': {
        const expected = model.beat(id);
        const beat = await store.beat(id, LEASE_MS);
        this.same(beat, expected === null ? null : { nowMs: model.now, ...expected });
        if (beat === null) this.note('declared dead');
        return;
      }
      case 'die':
        // It may only be suspended, so its claims remain, and it ends them later.
        return void this.processes.delete(step.place);
      case 'retire':
        this.processes.delete(step.place);
        model.retire(id);
        return await store.retire(id);
      case 'reload':
        return await this.reload(process, step);
      case 'releaseOthers': {
        const known = this.claims.filter((claim) => claim.process === process);
        const accounts = known.map(({ model: { account } }) => account);
        model.releaseOthers(id, new Set(accounts));
        return await store.releaseOthers(id, accounts);
      }
      case 'claim':
        return await this.claim(process, step);
    }
  }

  private newProcess(): Process {
    this.count += 1;
    return { id: `replica ${this.count}`, gen: 0, committed: null, reload: null };
  }

  private async reload(process: Process, step: Extract<Step, { type: 'reload' }>): Promise<void> {
    const { commit, edit, hasGit } = step;
    process.reload = step;
    const { model } = this;
    const { store } = this.database;
    const content = this.script.contents[edit ?? this.script.line[commit] ?? 0] ?? {};
    let files: ModelFiles = { commit: hasGit ? commit : null, content, isEdited: edit !== null };
    if (hasGit) process.committed = files;
    // The files of a commit remain its files while git fails.
    else if (process.committed !== null && filesDigest(process.committed.content) === filesDigest(content))
      files = process.committed;
    const hadCommit = process.committed !== null;
    const newest = model.newest();
    const rank = model.rank(process.id, files, hadCommit);
    process.gen = rank.gen;
    model.publish(process.id, files, rank);
    if (rank.isNewest) model.reload(rank.gen, content);
    else model.leave(rank.gen, content);
    this.note(rank.isNewest ? 'newest' : files.commit === newest?.commit ? 'other files' : 'older');

    const situation = await store.situation(process.id);
    const read = {
      commit: files.commit === null ? null : configCommit(String(files.commit), files.isEdited),
      digest: filesDigest(content),
      flaws: flawsOf(files),
      hadCommit,
    };
    const found = await rankOf(read, situation, compareCommits);
    this.same(found, { generation: rank.gen, isNewest: rank.isNewest });
    const schedules = ACCOUNTS.flatMap((name) => {
      const part = content[name];
      return part === undefined ? [] : [scheduleOf(name, part, model.now)];
    });
    this.same(await store.update(process.id, situation, { ...found, ...read }, schedules), true);
  }

  /** Replicas whose files differ do not replace each other's for ever. */
  async settle(): Promise<void> {
    for (const place of this.processes.keys()) await this.takeProcess({ type: 'beat', place });
    const live = [...this.processes.values()].filter(({ id }) => this.model.replicas.has(id));
    for (const isSettled of [false, true]) {
      const before = this.model.newest();
      for (const process of live) if (process.reload !== null) await this.reload(process, process.reload);
      if (isSettled) expect(this.model.newest()).toBe(before);
    }
  }

  /** When all other replicas have died, one with the newest commit runs every account within a lease and one interval. */
  async end(): Promise<void> {
    const { model } = this;
    const { store } = this.database;
    const commit = model.newest()?.commit ?? 0;
    model.now += LEASE_MS;
    await this.database.setClock(model.now);
    this.same(await sorted(store.reap()), model.reap().toSorted());
    this.processes.clear();
    await this.takeProcess({ type: 'register', place: 0 });
    await this.takeProcess({ type: 'reload', place: 0, commit, edit: null, hasGit: true });
    model.now += 5 * 60_000;
    await this.database.setClock(model.now);
    await this.takeProcess({ type: 'beat', place: 0 });
    // Accounts that failed wait longer.
    await this.database.query('update turns set due_at = tick_at where backoff_until is not null');
    const { lanes } = await store.stored();
    const rooms = [...lanes].map((lane) => ({ lane, room: 9 }));
    const id = this.processes.get(0)?.id ?? '';
    const { turns } = await store.claim(id, this.processes.get(0)?.gen ?? 0, rooms, { most: 9, except: [] });
    const wanted = Object.keys(this.script.contents[this.script.line[commit] ?? 0] ?? {});
    this.same(turns.map(({ account }) => account).toSorted(), wanted.toSorted());
  }

  private async claim(
    process: Process,
    { room, most, isLost }: Extract<Step, { type: 'claim' }>,
  ): Promise<void> {
    const { lanes: stored } = await this.database.store.stored();
    const lanes = [...stored].toSorted();
    const rooms = lanes.map((lane) => ({ lane, room }));
    const limits = { most, except: [] };
    const { turns } = await this.database.store.claim(process.id, process.gen, rooms, limits);
    const expected = this.model.claim(process.id, process.gen, lanes, { room, most });
    const found = turns.map(({ account, requested, lastTickMs }) => `${account} ${requested} ${lastTickMs}`);
    const wanted = expected.map(({ account, trigger, lastTick }) => `${account} ${trigger} ${lastTick}`);
    this.same(found.toSorted(), wanted.toSorted());
    if (isLost) return;
    for (const stored of turns) {
      const model = expected.find(({ account }) => account === stored.account);
      if (model !== undefined) this.claims.push({ stored, model, process });
      this.note('claims');
    }
  }

  private async takeTurn({ type, turn, failures }: Extract<Step, { turn: number }>): Promise<void> {
    const { model, claims } = this;
    const { store } = this.database;
    const [claim] = type === 'check' ? claims.slice(turn, turn + 1) : claims.splice(turn, 1);
    if (claim === undefined) return;
    const { stored, process } = claim;
    if (type === 'check') {
      const isCurrent = await store.isCurrent(process.id, stored, process.gen);
      this.note(isCurrent ? 'current' : 'stale');
      return this.same(isCurrent, model.isCurrent(claim.model, process.gen));
    }
    if (type !== 'end') {
      const why = type === 'interrupt' ? 'interrupted' : type;
      model.release(claim.model, why);
      return await store.release(process.id, stored, why);
    }
    const backoffUntilMs = failures === 0 ? null : model.now + 600_000;
    let current = stored;
    for (;;) {
      const next = nextOf(current.line, model.now, backoffUntilMs);
      const line = await store.end(process.id, current, next);
      const expected = model.end(claim.model, backoffUntilMs);
      this.same(line === null ? null : Number(line.schedule), expected);
      if (line === null || expected === null) return;
      this.note('changed while it ran');
      current = { ...current, line };
      claim.model.minutes = expected;
    }
  }

  private async endBackoff(account: string): Promise<void> {
    const { model } = this;
    const minutes = model.turns.get(account)?.minutes;
    if (minutes === undefined) return;
    const line = { schedule: String(minutes), timezone: 'Etc/UTC', jitterMs: 0 };
    model.endBackoff(account);
    await this.database.store.endBackoff(account, line, nextOf(line, model.now, null));
  }

  private same(found: unknown, expected: unknown): void {
    expect(found).toEqual(expected);
  }
}

function replicaRow({ files, ...columns }: ModelReplica) {
  const commit = files === null ? null : String(files.commit ?? '');
  return { ...columns, commit, digest: files === null ? null : filesDigest(files.content) };
}

/** Commits are places in one line of history. */
async function compareCommits(a: string, b: string): Promise<CommitRelation> {
  return a === b ? 'same' : Number(a) < Number(b) ? 'ancestor' : 'descendant';
}

function nextOf({ schedule }: CronLine, nowMs: number, backoffUntilMs: number | null): NextTick {
  const ms = tickAfter(Number(schedule), nowMs);
  return { dueMs: ms, tickMs: ms, backoffUntilMs };
}

async function sorted(names: Promise<readonly string[]>): Promise<string[]> {
  return (await names).toSorted();
}
