// Runs with lost answers: settled by lists and never sent twice blindly, also by the next run.
import { describe, expect, it } from 'vitest';
import type { ApplyDeps } from '../../../src/run/request.ts';
import type { Entry } from '../../../src/core/catalog.ts';
import { StoreError } from '../../../src/core/errors.ts';
import { operations, stage, type Wish, withLists } from './stage.ts';

const SEED = { name: 'acme', id: '42', skills: ['Kept'], resources: [{ id: 'p1' }] };

/** A journal whose commits fail once something was written to the service. */
function failsAfter({ journal }: ApplyDeps, writes: () => readonly string[]): ApplyDeps['journal'] {
  const commitOperations: ApplyDeps['journal']['commitOperations'] = (...args) => {
    if (writes().length > 0) throw new StoreError('store_full', 'the disk is full');
    return journal.commitOperations(...args);
  };
  return new Proxy(journal, {
    get: (target, key) => (key === 'commitOperations' ? commitOperations : Reflect.get(target, key)),
  });
}

/** A service whose list of skills still shows a deleted entry until a moment (epoch ms). */
function lateService(
  { service, clock }: ApplyDeps,
  deleted: Pick<Entry, 'id' | 'name'>,
  untilMs: number,
): ApplyDeps['service'] {
  const stale: Entry = { ...deleted, accountId: '42', raw: {} };
  return withLists(service, (items, kind) => {
    const isLate = kind === 'skill' && clock.nowMs() < untilMs && items.every(({ id }) => id !== stale.id);
    return isLate ? [...items, stale] : items;
  });
}

/** A service that stores only the first four characters of a name. */
function shortening({ service, ...deps }: ApplyDeps): ApplyDeps {
  const shortened = (items: readonly Entry[]) =>
    items.map((each) => ({ ...each, name: each.name.slice(0, 4) }));
  return { ...deps, service: withLists(service, shortened) };
}

describe('a create whose answer was lost', () => {
  it('is sent once and unknown, nothing of its kind is deleted, and the next run does both', async () => {
    const on = await stage({
      seed: { ...SEED, skills: ['Kept', 'Old'] },
      faults: [{ match: { method: 'POST' }, do: { type: 'drop-before-effect' } }],
      api: { retries: 1 },
    });
    expect(await on.apply({ skills: ['Kept', 'New'] })).toMatchObject({
      status: 'partial',
      isDoubtful: true,
    });
    expect([on.writes().length, on.skills()]).toEqual([1, ['Kept', 'Old']]);
    expect(operations(on)).toMatchObject([
      { name: 'New', status: 'unknown' },
      { name: 'Old', status: 'held', rule: 'failed_creates' },
    ]);
    const startMs = on.clock.steadyMs();
    expect(await on.apply({ skills: ['Kept', 'New'] })).toMatchObject({
      status: 'converged',
      isDoubtful: false,
    });
    expect(on.skills()).toEqual(['Kept', 'New']);
    // The first run waited for `settle` already.
    expect(on.clock.steadyMs() - startMs).toBeLessThan(5000);
  });

  it('whose name the service changed is found by its near name and remembered', async () => {
    const on = await stage({
      seed: SEED,
      settings: { trimNames: true, caseNames: 'lower' },
      faults: [{ match: { method: 'POST' }, do: { type: 'drop-after-effect' } }],
    });
    expect((await on.apply({ skills: ['Kept', 'Type Script'] })).status).toBe('converged');
    expect((await on.apply({ skills: ['Kept', 'Type Script'] })).status).toBe('converged');
    expect([on.writes().length, on.skills()]).toEqual([1, ['Kept', 'type script']]);
  });

  it('while the lists are frozen is sent in three runs of a day, once in each', async () => {
    const on = await stage({
      seed: SEED,
      settings: { listDelayMs: 86_400_000 },
      faults: [{ match: { method: 'POST' }, times: 'always', do: { type: 'drop-after-effect' } }],
      api: { retries: 4 },
    });
    const writes: number[] = [];
    for (let run = 0; run < 5; run += 1) {
      const { isDoubtful } = await on.apply({ skills: ['Kept', 'New'] });
      expect(isDoubtful).toBe(run < 3);
      writes.push(on.writes().length);
    }
    expect(writes).toEqual([1, 2, 3, 3, 3]);
    const { plan } = await on.plan({ skills: ['Kept', 'New'] });
    expect(plan?.held).toMatchObject([{ action: 'create', name: 'New', rules: ['flapping'] }]);
  });

  it('and whose name the service shortened is not sent again while its entry is listed', async () => {
    const on = await stage({
      seed: SEED,
      faults: [{ match: { method: 'POST' }, do: { type: 'drop-after-effect' } }],
      api: { retries: 4 },
    });
    const wish: Wish = { skills: ['Kept', 'Long name'], policy: { delete: 'never' }, deps: shortening };
    expect((await on.apply(wish)).status).toBe('partial');
    for (const { plan: next } of [await on.plan(wish), await on.apply(wish)]) {
      expect(next?.held).toMatchObject([{ action: 'create', name: 'Long name', rules: ['flapping'] }]);
      expect(next?.held[0]?.reason).toContain('“Long”');
    }
    expect(on.writes()).toEqual(['POST skill Long name']);
    // Named by the file, or deleted by somebody, the new entry prevents nothing.
    expect((await on.apply({ ...wish, skills: ['Kept', 'Long'] })).status).toBe('converged');
    const long = on.sandbox.state('acme').skills.find(({ name }) => name === 'Long name');
    on.sandbox.removeEntry('acme', long?.id ?? '');
    await on.apply({ ...wish, deps: (deps) => deps });
    expect(on.writes()).toEqual(['POST skill Long name', 'POST skill Long name']);
  });

  it('and whose name the service shortened is not deleted, since it shows that the create happened', async () => {
    const on = await stage({
      seed: SEED,
      faults: [{ match: { method: 'POST' }, times: 'always', do: { type: 'drop-after-effect' } }],
    });
    const wish: Wish = { skills: ['Kept', 'Long name', 'Tall name'], deps: shortening };
    for (let run = 0; run < 4; run += 1) {
      const { plan } = await on.apply(wish);
      if (run === 0) continue;
      expect(plan?.held.map(({ action, name, rules }) => [action, name, rules])).toEqual([
        ['create', 'Long name', ['flapping']],
        ['create', 'Tall name', ['flapping']],
        ['delete', 'Long', ['flapping']],
        ['delete', 'Tall', ['flapping']],
      ]);
      expect(plan?.held[0]?.reason).toContain('one of the new skills “Long”');
      expect(plan?.held[2]?.reason).toContain('“Long name”, “Tall name”');
    }
    expect(on.writes().toSorted()).toEqual(['POST skill Long name', 'POST skill Tall name']);
    // The file does not ask for them any more: nothing needs the new entries as evidence.
    await on.apply({ ...wish, skills: ['Kept'] });
    expect(on.writes().filter((each) => each.startsWith('DELETE'))).toHaveLength(2);
  });
});

it('a confirmed create that the lists show under another name is not created again', async () => {
  const on = await stage({ seed: SEED });
  const wish: Wish = { skills: ['Kept', 'Long name'], deps: shortening };
  for (let run = 0; run < 2; run += 1) {
    const { status, ended } = await on.apply(wish);
    expect([status, ended.warnings.at(-1)?.code]).toEqual(['converged', 'name_changed']);
  }
  expect(on.writes()).toEqual(['POST skill Long name']);
});

describe('a delete', () => {
  const seed = { ...SEED, skills: ['Kept', 'Old'] };

  it('that is never answered does not make the account due at once, again and again', async () => {
    const faults = [
      { match: { method: 'DELETE' }, times: 'always', do: { type: 'drop-before-effect' } },
    ] as const;
    const on = await stage({ seed, faults: [...faults], api: { retries: 1 } });
    expect(await on.apply({ skills: ['Kept'] })).toMatchObject({ status: 'partial', isDoubtful: false });
    expect(operations(on)).toMatchObject([{ name: 'Old', status: 'unknown' }]);
  });

  it.each([
    ['had an effect that the lists show late, so the entry is created again', 'drop-after-effect', 1, 'done'],
    ['had no effect', 'drop-before-effect', 0, 'unknown'],
  ] as const)('of a killed run whose entry is desired again %s', async (_, type, creates, status) => {
    const on = await stage({ seed, faults: [{ match: { method: 'DELETE' }, do: { type } }] });
    const killed = (deps: ApplyDeps): ApplyDeps => ({
      ...deps,
      journal: failsAfter(deps, () => on.writes()),
    });
    await expect(on.apply({ skills: ['Kept'], deps: killed })).rejects.toBeInstanceOf(StoreError);
    const startMs = on.clock.nowMs();
    const [old = { id: '', name: '' }] = on.rows<{ id: string; name: string }>(
      "select remote_id as id, name from operations where action = 'delete'",
    );
    const stale = (deps: ApplyDeps): ApplyDeps => ({
      ...deps,
      service: lateService(deps, old, startMs + 10_000),
    });
    const result = await on.apply({ skills: ['Kept', 'Old'], deps: stale });
    expect([result.status, on.skills()]).toEqual(['converged', ['Kept', 'Old']]);
    expect(on.writes().filter((each) => each.startsWith('POST'))).toHaveLength(creates);
    expect(on.clock.nowMs() - startMs).toBeGreaterThanOrEqual(35_000);
    expect(on.clock.nowMs() - startMs).toBeLessThan(40_000);
    expect(on.rows("select status from operations where action = 'delete'")).toEqual([{ status }]);
  });
});

describe('a create that a service with unique names refuses because of a near name', () => {
  const allowedDeletes = [{ kind: 'skill', name: 'typescript', expires: '2999-12-31' }] as const;
  const staged = (skills: readonly string[]) =>
    stage({
      seed: { ...SEED, skills: ['typescript'], resources: [{ id: 'p1', skills }, { id: 'p2' }] },
      settings: { uniqueNames: 'caseless' },
    });
  const wish: Wish = { skills: [{ name: 'TypeScript', formerly: ['typescript'] }] };

  it.each([
    ['people have it and its delete is approved', ['typescript'], { ...wish, allowedDeletes }],
    ['nobody has it', [], wish],
  ])('succeeds in the next run, however late, after the old entry, if %s', async (_, skills, next) => {
    const on = await staged(skills);
    const refused = await on.apply(next);
    expect([refused.status, on.writes()]).toEqual(['partial', ['POST skill TypeScript']]);
    expect(on.rows('select reason from operations where http_status = 409')).toMatchObject([
      {
        reason: expect.stringContaining(
          '“typescript” exists: if the file has both names, remove one; otherwise the next plan deletes it first',
        ),
      },
    ]);
    on.clock.pass(8 * 86_400_000);
    expect((await on.apply(next)).status).toBe('converged');
    expect(on.writes().slice(1)).toEqual(['DELETE skill typescript', 'POST skill TypeScript']);
    expect(on.skills()).toEqual(['TypeScript']);
  });

  it('is sent again by the next run if it fails after the delete, and the failure names the delete', async () => {
    const on = await staged(['typescript']);
    await on.apply({ ...wish, allowedDeletes });
    on.sandbox.setFaults([{ match: { method: 'POST' }, do: { type: 'status', status: 422 } }]);
    expect((await on.apply({ ...wish, allowedDeletes })).status).toBe('partial');
    expect(on.rows('select reason from operations where http_status = 422')).toMatchObject([
      {
        reason: expect.stringContaining('“typescript” was deleted first; the next run creates “TypeScript”'),
      },
    ]);
    on.sandbox.setFaults([]);
    expect([(await on.apply(wish)).status, on.skills()]).toEqual(['converged', ['TypeScript']]);
  });

  it('keeps an old entry that one more person was given since the plan, although its delete is approved', async () => {
    const on = await staged(['typescript']);
    await on.apply({ ...wish, allowedDeletes });
    const [old] = on.sandbox.state('acme').skills;
    const onPlan = () => void on.sandbox.assign('acme', 'p2', old?.id ?? '');
    const made = await on.apply({ ...wish, allowedDeletes, options: { onPlan } });
    expect([made.status, on.skills()]).toEqual(['partial', ['typescript']]);
    expect(operations(on)[0]).toMatchObject({ action: 'delete', status: 'held', rule: 'in_use' });
  });
});
