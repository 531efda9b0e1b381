// a line of allowedDeletes releases one entry: another entry of the same name needs another allowance.
import { describe, expect, it } from 'vitest';
import { stage, type Stage, type Wish } from './stage.ts';

const DAY_MS = 86_400_000;

function wish(expires = '2999-12-31', rest: Partial<Wish> = {}): Wish {
  return { skills: ['Kept'], allowedDeletes: [{ kind: 'skill', name: 'Perl', expires }], ...rest };
}

function account(...skills: string[]): Promise<Stage> {
  const resources = [{ id: 'ada', skills: ['Kept', ...skills] }];
  return stage({ seed: { name: 'acme', id: '42', skills: ['Kept', ...skills], resources } });
}

/** Somebody creates the entry in the service and gives it to a person. */
function addPerl(on: Stage, id?: string): string {
  const entry = on.sandbox.addSkill('acme', 'Perl', id === undefined ? {} : { id });
  on.sandbox.assign('acme', 'ada', entry.id);
  return entry.id;
}

function removePerl(on: Stage): void {
  for (const { id, name } of on.sandbox.state('acme').skills)
    if (name === 'Perl') on.sandbox.removeEntry('acme', id);
}

function marks(on: Stage): unknown[] {
  return on.rows('select name, released_as from entries where released_as is not null');
}

describe('an allowed delete', () => {
  it('that was carried out does not release another entry of the same name, and the report says why', async () => {
    const on = await account('Perl');
    const used = await on.apply(wish());
    expect([used.status, on.skills()]).toEqual(['converged', ['Kept']]);

    on.clock.pass(3 * DAY_MS);
    const id = addPerl(on);
    const made = await on.apply(wish());
    expect([made.status, on.skills()]).toEqual(['held', ['Kept', 'Perl']]);
    const [held] = made.plan?.held ?? [];
    expect(held).toMatchObject({ remoteId: id, usedBy: ['ada'], rules: ['in_use'] });
    expect(held?.reason).toContain(
      `the line for “Perl” until 2999-12-31 was used for another entry, which run ${used.runId} deleted`,
    );
    expect(held?.release).toMatch(/set `expires` of its line in allowedDeletes to \d{4}-\d\d-\d\d/u);
    expect(made.plan?.warnings.map(({ code }) => code)).toContain('allowed_delete_used');
  });

  it('is released again by an allowance with another date', async () => {
    const on = await account('Perl');
    await on.apply(wish());
    addPerl(on);
    expect((await on.apply(wish('2998-12-31'))).status).toBe('converged');
    expect(on.skills()).toEqual(['Kept']);
    addPerl(on);
    expect((await on.apply(wish('2998-12-31'))).status).toBe('held');
    expect((await on.apply(wish())).status).toBe('held');
  });

  it('uses the allowance up for an id that the service gives to another entry later', async () => {
    const on = await account();
    const id = addPerl(on);
    await on.apply(wish());
    on.clock.pass(DAY_MS);
    addPerl(on, id);
    expect((await on.apply(wish())).status).toBe('held');
    expect(on.skills()).toEqual(['Kept', 'Perl']);
  });

  it('that failed is tried again, and the allowance stays that of this entry', async () => {
    const on = await account('Perl');
    on.sandbox.setFaults([{ match: { method: 'DELETE' }, do: { type: 'status', status: 500 } }]);
    expect((await on.apply(wish())).status).toBe('partial');
    expect(on.skills()).toEqual(['Kept', 'Perl']);
    on.sandbox.setFaults([]);
    expect((await on.apply(wish())).status).toBe('converged');
    expect(on.skills()).toEqual(['Kept']);

    addPerl(on);
    expect((await on.apply(wish())).status).toBe('held');
  });

  it('that was only planned, held by another rule or refused as stale does not use the allowance up', async () => {
    const on = await account('Perl');
    await on.plan(wish());
    await on.apply(wish('2999-12-31', { policy: { maxDeletes: 0 } }));
    const agreed = { digest: 'sha256:other', firstObserved: null };
    const stale = await on.apply(wish('2999-12-31', { options: { agreed } }));
    expect(stale.failure?.code).toBe('plan_stale');
    await on.apply(wish('2999-12-31', { options: { mode: 'approve', approvals: true } }));
    expect([on.writes(), marks(on)]).toEqual([[], []]);
    removePerl(on);
    addPerl(on);
    expect((await on.apply(wish())).status).toBe('converged');
    expect(marks(on)).toEqual([{ name: 'Perl', released_as: '2999-12-31 Perl' }]);
  });
});
