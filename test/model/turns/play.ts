// Plays a story on PostgreSQL and on the model side by side. After each step both must agree on every row.
import { expect } from 'vitest';
import type { ClaimedTurn, CronLine, NextTick } from '../../../src/core/turn-store.ts';
import type { TurnDatabase } from '../../support/turn-database.ts';
import { LEASE_MS, Model, type ModelClaim, scheduleOf, tickAfter } from './model.ts';
import { ACCOUNTS, type Place, type Script, type Step } from './script.ts';

const START = Date.UTC(2026, 0, 5, 10);
const LANES = ['eu', 'us'] as const;

interface Process {
  readonly id: string;
  gen: number;
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
    'isBroken', is_broken = 1, 'isDirty', is_dirty = 1, 'isRemoved', removed = 1, 'due', extract(epoch from due_at) * 1000,
    'tick', extract(epoch from tick_at) * 1000, 'requested', requested,
    'lastTick', extract(epoch from last_tick_at) * 1000, 'backoff', extract(epoch from backoff_until) * 1000,
    'approved', approved_at, 'holder', holder, 'heldFor', held_for)), '{}') as turns,
    (select coalesce(jsonb_object_agg(id, jsonb_build_object(
      'started', extract(epoch from started_at) * 1000, 'beat', extract(epoch from beat_at) * 1000,
      'isDead', is_dead = 1)), '{}') from replicas) as replicas
  from turns`;

export async function play(script: Script, database: TurnDatabase, figures: Figures = {}): Promise<void> {
  const story = new Story(script, database, figures);
  await database.query('truncate turns, replicas');
  await database.setClock(START);
  for (const step of script.steps) {
    await story.take(step);
    await story.compare(step);
  }
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
      replicas: Object.fromEntries(replicas),
    });
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
      case 'check':
        return await this.takeTurn(step);
      case 'register':
      case 'beat':
      case 'die':
      case 'retire':
      case 'reload':
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
      this.count += 1;
      const fresh: Process = { id: `replica ${this.count}`, gen: 0 };
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
        const beat = await store.beat(id, LEASE_MS, { generation: process.gen, commit: null });
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
      case 'reload': {
        const commit = this.script.commits[step.commit] ?? {};
        process.gen = step.commit;
        model.reload(step.commit, step.isDirty, commit);
        return await store.update(
          step.commit,
          step.isDirty,
          ACCOUNTS.flatMap((name) => {
            const part = commit[name];
            return part === undefined ? [] : [scheduleOf(name, part, model.now)];
          }),
        );
      }
      case 'claim':
        return await this.claim(process, step);
    }
  }

  private async claim(process: Process, { room, most }: Extract<Step, { type: 'claim' }>): Promise<void> {
    const rooms = LANES.map((lane) => ({ lane, room }));
    const limits = { most, except: [] };
    const { turns } = await this.database.store.claim(process.id, process.gen, rooms, limits);
    const expected = this.model.claim(process.id, process.gen, LANES, { room, most });
    const found = turns.map(({ account, requested, lastTickMs }) => `${account} ${requested} ${lastTickMs}`);
    const wanted = expected.map(({ account, trigger, lastTick }) => `${account} ${trigger} ${lastTick}`);
    this.same(found.toSorted(), wanted.toSorted());
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
      const why = type === 'later' ? 'later' : 'interrupted';
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

function nextOf({ schedule }: CronLine, nowMs: number, backoffUntilMs: number | null): NextTick {
  const ms = tickAfter(Number(schedule), nowMs);
  return { dueMs: ms, tickMs: ms, backoffUntilMs };
}

async function sorted(names: Promise<readonly string[]>): Promise<string[]> {
  return (await names).toSorted();
}
