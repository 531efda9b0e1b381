// A pause of all accounts binds every run, also one that is under way.
import { describe, expect, it } from 'vitest';
import type { ProgressObserver } from '../../../src/core/ports/progress.ts';
import { onResult, operations, stage, type Stage, type StageOptions, type Wish } from './stage.ts';

const SAM = { name: 'sam', via: 'cli' } as const;
const SEED = {
  name: 'acme',
  id: '42',
  skills: ['Kept', 'Old', 'Older'],
  resources: [{ id: 'p1', skills: [] }],
};
const MANY = Array.from({ length: 40 }, (_, index) => `New ${index}`);
const DAEMON = { trigger: 'schedule', options: { mode: 'apply', approvals: true } } as const;
const APPROVE = { trigger: 'schedule', options: { mode: 'approve', approvals: true } } as const;
const SPLIT = { trigger: 'schedule', options: { mode: 'approve-deletes', approvals: true } } as const;

function pauseAll(on: Stage, { onlyDeletes = false } = {}) {
  return on.store.operator.pauseAll({ reason: 'stop it', onlyDeletes, forMs: null }, SAM, on.clock.nowMs());
}

const resumeAll = (on: Stage) => on.store.operator.resumeAll(SAM, on.clock.nowMs());

/** A stage whose runs pause all accounts at their first result, and how often the service had received a write then. */
async function pausedMeanwhile(
  wish: Wish,
  pause: { onlyDeletes?: boolean },
  options: Partial<StageOptions> = {},
) {
  const on = await stage({ seed: SEED, api: { concurrency: 2 }, ...options });
  let paused: Promise<unknown> | undefined;
  let before = 0;
  const progress: ProgressObserver = onResult(() => {
    paused ??= pauseAll(on, pause).then(() => (before = on.writes().length));
  });
  const run = await on.apply({ ...wish, progress });
  await paused;
  return { on, run, before, counts: countsOf(on) };
}

function countsOf(on: Stage): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const { action, status } of operations(on)) {
    const key = `${action} ${status}`;
    counts[key] = (counts[key] ?? 0) + 1;
  }
  return counts;
}

describe('a run during a pause of all accounts', () => {
  it.each(['cli', 'schedule', 'manual', 'approval', 'start', 'catch_up'] as const)(
    'by %s plans and writes nothing, also in an account that never ran',
    async (trigger) => {
      const on = await stage({ seed: SEED });
      await pauseAll(on);
      const run = await on.apply({ skills: ['Kept', 'New'], trigger });
      expect([run.status, run.failure?.code, on.writes()]).toEqual(['planned', 'paused', []]);
      expect(run.failure?.message).toMatch(/All accounts are paused since .* by sam: “stop it”/u);
      expect(on.rows('select * from entries where adopted_by_run is not null')).toEqual([]);
      await resumeAll(on);
      expect((await on.apply({ skills: ['Kept', 'New'], trigger })).status).toBe('converged');
    },
  );

  it('that has nothing to write converges', async () => {
    const on = await stage({ seed: SEED });
    await pauseAll(on);
    expect((await on.apply({ skills: SEED.skills })).status).toBe('converged');
  });

  it('keeps an approval for the run after the pause, and the plan that waits', async () => {
    const on = await stage({ seed: SEED });
    const wish = { skills: ['Kept', 'New'], ...APPROVE };
    const { plan } = await on.apply(wish);
    await on.store.operator.operate({ action: 'approve', account: 'acme' }, SAM, on.clock.nowMs());
    for (const onlyDeletes of [false, true]) {
      await pauseAll(on, { onlyDeletes });
      const run = await on.apply(wish);
      expect([run.status, run.failure?.code, on.writes()]).toEqual(['planned', 'paused', []]);
      const { pending, approval } = await on.store.journal.accountState('acme');
      expect([pending?.digest, approval?.digest]).toEqual([plan?.digest, plan?.digest]);
    }
    await resumeAll(on);
    expect((await on.apply(wish)).status).toBe('converged');
  });

  it('of deletes creates what its mode allows, and keeps the deletes for later', async () => {
    const on = await stage({ seed: SEED });
    await pauseAll(on, { onlyDeletes: true });
    const run = await on.apply({ skills: ['Kept', 'New'], ...DAEMON });
    expect([run.status, run.failure?.code, on.writes()]).toEqual(['planned', 'paused', ['POST skill New']]);
    const reasons = on.rows<{ reason: string }>(
      "select distinct reason from operations where status = 'skipped'",
    );
    expect(reasons).toEqual([{ reason: run.failure?.message.split('. Run ')[0] }]);
    expect(run.failure?.message).toContain('The deletes of all accounts are paused');
    expect(await on.apply({ skills: ['Kept', 'New', 'Newer', 'Old', 'Older'] })).toMatchObject({
      status: 'converged',
      failure: null,
    });
    await resumeAll(on);
    expect((await on.apply({ skills: ['Kept', 'New', 'Newer'], ...DAEMON })).status).toBe('converged');
  });

  it('of deletes creates at once in mode approve-deletes, and deletes what was approved after the pause', async () => {
    const on = await stage({ seed: SEED });
    const wish = { skills: ['Kept', 'New'], ...SPLIT };
    await pauseAll(on, { onlyDeletes: true });
    const run = await on.apply(wish);
    expect([run.status, on.writes()]).toEqual(['planned', ['POST skill New']]);
    await on.store.operator.operate(
      { action: 'approve', account: 'acme', digest: run.plan?.digest ?? '' },
      SAM,
      on.clock.nowMs(),
    );
    expect(await on.apply(wish)).toMatchObject({ status: 'planned', failure: { code: 'paused' } });
    await resumeAll(on);
    expect([(await on.apply(wish)).status, on.skills()]).toEqual(['converged', ['Kept', 'New']]);
  });

  it('keeps the approval of a run that a guard blocked', async () => {
    const skills = Array.from({ length: 12 }, (_, index) => `S${index}`);
    const on = await stage({ seed: { ...SEED, skills } });
    const wish = { skills, ...DAEMON };
    await on.apply(wish);
    for (const { id } of on.sandbox.state('acme').skills.slice(1)) on.sandbox.removeEntry('acme', id);
    expect((await on.apply(wish)).status).toBe('blocked');
    await on.store.operator.operate({ action: 'approve', account: 'acme' }, SAM, on.clock.nowMs());
    await pauseAll(on, { onlyDeletes: true });
    expect([(await on.apply(wish)).status, on.writes()]).toEqual(['blocked', []]);
    await resumeAll(on);
    expect((await on.apply(wish)).status).toBe('converged');
  });
});

describe('a run that is under way when all accounts are paused', () => {
  it('sends no further delete, and is interrupted', async () => {
    const seed = { ...SEED, skills: ['Kept', ...MANY] };
    const { on, run, before, counts } = await pausedMeanwhile({ skills: ['Kept'] }, {}, { seed });
    expect([run.status, run.failure?.code]).toEqual(['interrupted', 'paused']);
    // What is sent right before the commit of the pause may arrive right after it.
    expect(on.writes().length).toBeLessThanOrEqual(before + 2);
    expect(counts).toEqual({
      'delete done': on.writes().length,
      'delete skipped': MANY.length - on.writes().length,
    });
    const [row] = on.rows<object>("select reason, attempts from operations where status = 'skipped' limit 1");
    expect(row).toEqual({ reason: run.failure?.message, attempts: 0 });
  });

  it('completes its creates in a pause of deletes, and deletes nothing more', async () => {
    const wish = { skills: ['Kept', ...MANY] };
    const { on, run, counts } = await pausedMeanwhile(wish, { onlyDeletes: true });
    expect(counts).toEqual({ 'create done': MANY.length, 'delete skipped': 2 });
    expect(run.status).toBe('partial');
    const warnings = (await on.store.reader.run(run.runId))?.warnings ?? [];
    expect(warnings.find(({ code }) => code === 'deletes_stopped')?.message).toContain('by sam: “stop it”');
  });

  it('completes its creates also when a delete that precedes them was stopped', async () => {
    const seed = { ...SEED, skills: ['Kept', 'new 0', 'new 1', 'new 2'] };
    const allowedDeletes = [0, 1, 2].map(
      (at) => ({ kind: 'skill', name: `new ${at}`, expires: '2999-12-31' }) as const,
    );
    const wish = { skills: ['Kept', ...MANY.slice(0, 3)], allowedDeletes };
    const { counts } = await pausedMeanwhile(wish, { onlyDeletes: true }, { seed, api: { concurrency: 1 } });
    expect(counts).toMatchObject({ 'create done': 3, 'delete skipped': expect.any(Number) as number });
  });
});
