// Runs of the daemon that wait for approval: which plan may be applied, when, and how often.
import { describe, expect, it, test } from 'vitest';
import type { Stage, Wish } from './stage.ts';
import { stage } from './stage.ts';

const OPERATOR = { name: 'sam', via: 'cli' } as const;

const HOUR_MS = 3_600_000;
const APPROVE = { mode: 'approve', approvals: true } as const;
const APPLY = { mode: 'apply', approvals: true } as const;

/** The account as the journal records it. */
async function stateOf(on: Stage) {
  return await on.store.journal.accountState('acme');
}

async function approve(on: Stage, digest: string | null = null): Promise<string> {
  return (
    await on.store.operator.operate(
      { action: 'approve', account: 'acme', digest },
      OPERATOR,
      on.clock.nowMs(),
    )
  ).type;
}

function warningsOf(on: Stage, runId: string): string[] {
  const [row] = on.rows<{ warnings: string | null }>('select warnings from runs where id = ?', runId);
  return (JSON.parse(row?.warnings ?? '[]') as { code: string }[]).map(({ code }) => code);
}

describe('a plan in mode approve-deletes', () => {
  const seed = { name: 'acme', id: '42', skills: ['Kept', 'Old'] };
  const wish: Wish = {
    skills: ['Kept', 'New'],
    trigger: 'schedule',
    options: { mode: 'approve-deletes', approvals: true },
  };

  it('creates at once, and deletes what was approved, under one digest', async () => {
    const on = await stage({ seed });
    const first = await on.apply(wish);
    expect([first.status, on.skills()]).toEqual(['planned', ['Kept', 'New', 'Old']]);
    const [row] = on.rows<object>('select status, reason from operations where action = ?', 'delete');
    expect(row).toEqual({ status: 'skipped', reason: 'it waits for an approval' });
    const second = await on.apply(wish);
    expect([second.status, second.plan?.digest]).toEqual(['planned', first.plan?.digest]);
    expect((await stateOf(on)).pending).toMatchObject({ digest: first.plan?.digest, runId: second.runId });
    expect(await approve(on, first.plan?.digest)).toBe('approved');
    expect((await on.apply(wish)).status).toBe('converged');
    expect([on.skills(), (await stateOf(on)).pending]).toEqual([['Kept', 'New'], null]);
  });

  it('waits also while its creates fail, and deletes nothing that was not approved', async () => {
    const on = await stage({
      seed,
      faults: [{ match: { method: 'POST' }, times: 'always', do: { type: 'status', status: 400 } }],
    });
    expect((await on.apply(wish)).status).toBe('partial');
    expect(on.skills()).toEqual(['Kept', 'Old']);
    expect((await stateOf(on)).pending).not.toBeNull();
  });

  it('that was approved lapses when a further delete appears', async () => {
    const on = await stage({ seed });
    await on.apply(wish);
    await approve(on);
    on.sandbox.addSkill('acme', 'Stray');
    const lapsed = await on.apply(wish);
    expect([lapsed.status, on.skills()]).toEqual(['planned', ['Kept', 'New', 'Old', 'Stray']]);
    expect(warningsOf(on, lapsed.runId)).toContain('approval_lapsed');
  });

  it('is applied as a whole where it deletes nothing', async () => {
    const on = await stage({ seed: { ...seed, skills: ['Kept'] } });
    expect([(await on.apply(wish)).status, on.skills()]).toEqual(['converged', ['Kept', 'New']]);
  });
});

test('a run without deletes applies the creates alone, and leaves the pending plan', async () => {
  const on = await stage({ seed: { name: 'acme', id: '42', skills: ['Kept', 'Old'] } });
  const wish: Wish = { skills: ['Kept', 'New'], options: APPROVE };
  await on.apply(wish);
  const { pending } = await stateOf(on);
  const run = await on.apply({ ...wish, options: { mode: 'apply', noDelete: true } });
  expect([run.status, on.skills(), (await stateOf(on)).pending]).toEqual([
    'planned',
    ['Kept', 'New', 'Old'],
    pending,
  ]);
  expect(run.ended.run).toMatchObject({ created: 1, deleted: 0 });
});

describe('a plan in approve mode', () => {
  const seed = { name: 'acme', id: '42', skills: ['Old'] };
  const wish: Wish = { skills: ['New'], policy: { maxDeletePercent: 100 }, options: APPROVE };

  it('waits with its digest, run after run, and writes nothing', async () => {
    const on = await stage({ seed });
    const first = await on.apply(wish);
    const second = await on.apply(wish);
    expect([first.status, second.status, on.writes()]).toEqual(['planned', 'planned', []]);
    expect((await stateOf(on)).pending).toMatchObject({ digest: first.plan?.digest, runId: second.runId });
    expect(on.rows('select * from entries where adopted_by_run is not null')).toEqual([]);
  });

  it('that changed after its approval is not applied: the approval lapses with a warning', async () => {
    const on = await stage({ seed: { ...seed, resources: [{ id: 'p1', skills: [] }] } });
    await on.apply(wish);
    await approve(on);
    on.sandbox.addSkill('acme', 'Stray');
    const lapsed = await on.apply(wish);
    expect([lapsed.status, on.writes()]).toEqual(['planned', []]);
    expect(warningsOf(on, lapsed.runId)).toContain('approval_lapsed');
    expect(await stateOf(on)).toMatchObject({ approval: null, pending: { digest: lapsed.plan?.digest } });
    // The plan that was approved is pending again, and is still not approved.
    on.sandbox.removeEntry(
      'acme',
      on.sandbox.state('acme').skills.find(({ name }) => name === 'Stray')?.id ?? '',
    );
    expect((await on.apply(wish)).status).toBe('planned');
  });

  it('is approved for 24 hours', async () => {
    for (const [hours, status] of [
      [23.9, 'converged'],
      [24, 'planned'],
    ] as const) {
      const on = await stage({ seed });
      await on.apply(wish);
      await approve(on);
      on.clock.pass(hours * HOUR_MS);
      const late = await on.apply(wish);
      expect([hours, late.status]).toEqual([hours, status]);
      expect(warningsOf(on, late.runId).includes('approval_lapsed')).toBe(status === 'planned');
    }
  });

  it('that was approved during a pause is applied only after the pause', async () => {
    const on = await stage({ seed });
    await on.apply(wish);
    await on.store.operator.operate({ action: 'pause', account: 'acme' }, OPERATOR, on.clock.nowMs());
    await approve(on);
    expect((await on.apply(wish)).status).toBe('planned');
    await on.store.operator.operate({ action: 'resume', account: 'acme' }, OPERATOR, on.clock.nowMs());
    expect((await on.apply(wish)).status).toBe('converged');
  });

  it('still waits after a failed run and after a dry run of a command', async () => {
    const on = await stage({ seed });
    const { plan } = await on.apply(wish);
    await on.plan({ skills: ['Other'] });
    on.sandbox.setFaults([{ do: { type: 'status', status: 500 } }]);
    expect((await on.apply(wish)).status).toBe('failed');
    expect((await stateOf(on)).pending?.digest).toBe(plan?.digest);
  });
});

describe('assignments that vanished', () => {
  const seed = {
    name: 'acme',
    id: '42',
    skills: ['Old', 'Kept'],
    resources: [{ id: 'p1', skills: ['Old'] }, { id: 'p2' }],
  };

  it.each([APPLY, APPROVE])(
    'are accepted by an approval in mode $mode, which deletes nothing yet',
    async (options) => {
      const on = await stage({ seed });
      const wish: Wish = { skills: ['Kept'], policy: { allowNoPeople: false }, options, accept: [] };
      await on.apply(wish);
      for (const { id } of on.sandbox.state('acme').skills) on.sandbox.unassign('acme', 'p1', id);
      for (const _ of [1, 2]) {
        const held = await on.apply(wish);
        expect(held.plan?.held).toMatchObject([{ name: 'Old', rules: ['no_evidence'] }]);
        expect((await stateOf(on)).pending).toMatchObject({ digest: held.plan?.digest });
      }
      expect(await approve(on)).toBe('approved');
      expect([(await on.apply(wish)).status, on.writes(), (await stateOf(on)).pending]).toEqual([
        'held',
        [],
        null,
      ]);

      const next = await on.apply(wish);
      const writes = options === APPLY ? ['DELETE skill Old'] : [];
      expect([next.plan?.operations.length, on.writes()]).toEqual([1, writes]);
    },
  );
});
