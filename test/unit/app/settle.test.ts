// Creates whose answer was lost: found out by a list, never sent twice blindly, also beyond the run (section 5).
import { describe, expect, it } from 'vitest';
import type { ApplyDeps } from '../../../src/app/request.ts';
import type { Doubt } from '../../../src/app/settle.ts';
import { settle } from '../../../src/app/settle.ts';
import type { Entry } from '../../../src/core/catalog.ts';
import { ServiceError } from '../../../src/core/errors.ts';
import type { ServiceReader } from '../../../src/core/ports.ts';
import { entry } from '../core/builders.ts';
import { operations, QuickClock, stage } from './stage.ts';

const SEED = { name: 'acme', id: '42', skills: ['Kept'], resources: [{ id: 'p1' }] };

describe('settling', () => {
  /** A reader whose skill list is what `list` says at this moment; an error when it says null. */
  async function settled(
    doubts: readonly Partial<Doubt>[],
    list: (passedMs: number) => readonly Entry[] | null,
    more: { desired?: readonly string[]; stop?: AbortSignal; setClockBy?: number } = {},
  ) {
    const clock = new QuickClock();
    const startMs = clock.steadyMs();
    let reads = 0;
    const reader: ServiceReader = {
      async listEntries() {
        reads += 1;
        if (reads === 2) clock.setBy(more.setClockBy ?? 0);
        const items = list(clock.steadyMs() - startMs);
        if (items === null) throw new ServiceError('unavailable', 'no answer');
        return { items, warnings: [] };
      },
      listResources: () => Promise.reject(new Error('people are not asked for')),
      traffic: () => ({ requests: 0, retries: 0 }),
    };
    const whole = doubts.map((doubt) => ({
      kind: 'skill' as const,
      name: 'New',
      sinceMs: startMs,
      isKnown: () => false,
      ...doubt,
    }));
    const results = await settle(whole, reader, {
      settleMs: 35_000,
      isDesired: (_, name) => more.desired?.includes(name) === true,
      clock,
      stop: more.stop ?? new AbortController().signal,
    });
    return { results, reads, passedMs: clock.steadyMs() - startMs };
  }

  it('finds an entry of that name with an id not seen before, at once', async () => {
    const { results, reads } = await settled([{}], () => [entry('New', '7')]);
    expect(results).toMatchObject([{ type: 'found', entry: { id: '7' } }]);
    expect(reads).toBe(1);
  });

  it('does not take an entry that was there before', async () => {
    const { results } = await settled([{ isKnown: (key) => key === 'skill:7' }], () => [entry('New', '7')]);
    expect(results).toMatchObject([{ type: 'absent' }]);
  });

  it('waits as long as settle and no longer for an entry that comes late', async () => {
    const late = await settled([{}], (passedMs) => (passedMs >= 34_000 ? [entry('New', '7')] : []));
    expect(late.results).toMatchObject([{ type: 'found' }]);
    const never = await settled([{}], () => []);
    expect(never.results).toMatchObject([{ type: 'absent' }]);
    expect(never.passedMs).toBeGreaterThanOrEqual(35_000);
    expect(never.passedMs).toBeLessThan(38_000);
  });

  it('counts a doubt that is older than settle from its own time', async () => {
    const { results, reads } = await settled([{ sinceMs: -60_000 }], () => []);
    expect([results.map(({ type }) => type), reads]).toEqual([['absent'], 1]);
  });

  it.each([86_400_000, -86_400_000])('waits as long when the clock is set by %i ms meanwhile', async (by) => {
    const { results, passedMs } = await settled([{}], () => [], { setClockBy: by });
    expect(results).toMatchObject([{ type: 'absent' }]);
    expect(passedMs).toBeGreaterThanOrEqual(35_000);
    expect(passedMs).toBeLessThan(38_000);
  });

  it('leaves a doubt open when no list can be read, or when it is stopped', async () => {
    expect((await settled([{}], () => null)).results).toMatchObject([{ type: 'open' }]);
    const stop = new AbortController();
    stop.abort();
    expect((await settled([{}], () => [], { stop: stop.signal })).results).toMatchObject([{ type: 'open' }]);
  });

  it('goes on after a list that could not be read', async () => {
    const { results } = await settled([{}], (passedMs) => (passedMs < 10_000 ? null : [entry('New', '7')]));
    expect(results).toMatchObject([{ type: 'found' }]);
  });

  it('takes a near name that nobody asked for, since a service may change names', async () => {
    const { results } = await settled([{ name: 'New ' }], () => [entry('NEW', '7')], { desired: ['New '] });
    expect(results).toMatchObject([{ type: 'found', entry: { name: 'NEW' } }]);
  });

  it('does not take a near name that the file asks for', async () => {
    const { results } = await settled([{ name: 'New' }], () => [entry('NEW', '7')], {
      desired: ['New', 'NEW'],
    });
    expect(results).toMatchObject([{ type: 'absent' }]);
  });

  it('prefers the exact name to a near one', async () => {
    const { results } = await settled([{}], () => [entry('new', '6'), entry('New', '7')]);
    expect(results).toMatchObject([{ type: 'found', entry: { id: '7' } }]);
  });

  it('gives one entry to one doubt only', async () => {
    const { results } = await settled([{}, {}], () => [entry('New', '7')]);
    expect(results.map(({ type }) => type).toSorted()).toEqual(['absent', 'found']);
  });

  it('lets an exact name go to its own doubt, whatever order they stand in', async () => {
    const { results } = await settled(
      [{ name: 'NEW' }, { name: 'New' }],
      (passedMs) => (passedMs === 0 ? [entry('New', '7')] : [entry('New', '7'), entry('NEW', '8')]),
      { desired: ['New', 'NEW'] },
    );
    const ids = new Map(
      results.map((each) => [each.doubt.name, each.type === 'found' ? each.entry.id : null]),
    );
    expect([ids.get('NEW'), ids.get('New')]).toEqual(['8', '7']);
  });
});

describe('a create whose answer was lost', () => {
  it('after the effect is found in the list and not sent again', async () => {
    const on = await stage({
      seed: SEED,
      faults: [{ match: { method: 'POST' }, do: { type: 'drop-after-effect' } }],
    });
    expect((await on.apply({ skills: ['Kept', 'New'] })).status).toBe('converged');
    expect([on.writes(), on.skills()]).toEqual([['POST skill New'], ['Kept', 'New']]);
    expect(on.rows("select 1 from entries where name = 'New' and created_by_run is not null")).toHaveLength(
      1,
    );
  });

  it('before the effect is sent again after settle, up to retries times', async () => {
    const drop = { match: { method: 'POST' }, do: { type: 'drop-before-effect' } } as const;
    const on = await stage({ seed: SEED, faults: [{ ...drop, times: 2 }], api: { retries: 2 } });
    expect((await on.apply({ skills: ['Kept', 'New'] })).status).toBe('converged');
    expect(on.writes()).toHaveLength(3);
    expect(on.rows("select attempts from operations where name = 'New'")).toEqual([{ attempts: 3 }]);
  });

  it('again and again is given up as unknown, and nothing of its kind is deleted', async () => {
    const on = await stage({
      seed: { ...SEED, skills: ['Kept', 'Old'] },
      faults: [{ match: { method: 'POST' }, times: 'always', do: { type: 'drop-before-effect' } }],
      api: { retries: 1 },
    });
    expect((await on.apply({ skills: ['Kept', 'New'] })).status).toBe('partial');
    expect([on.writes().length, on.skills()]).toEqual([2, ['Kept', 'Old']]);
    expect(operations(on)).toMatchObject([
      { name: 'New', status: 'unknown' },
      { name: 'Old', status: 'held', rule: 'failed_creates' },
    ]);
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

  it('in an earlier run is found out by the next one before it plans', async () => {
    const on = await stage({
      seed: SEED,
      faults: [
        { match: { method: 'POST' }, do: { type: 'drop-after-effect' } },
        {
          match: { method: 'GET', path: 'skill' },
          skip: 1,
          times: 'always',
          do: { type: 'status', status: 400 },
        },
      ],
    });
    const first = await on.apply({ skills: ['Kept', 'New'] });
    expect(first.status).toBe('partial');
    on.sandbox.setFaults([]);
    expect((await on.apply({ skills: ['Kept', 'New'] })).status).toBe('converged');
    expect([on.writes(), on.skills()]).toEqual([['POST skill New'], ['Kept', 'New']]);
    expect((await on.store.reader.run(first.runId))?.run.created).toBe(1);
  });

  it('and which only the last list of its run shows, under a changed name, is not created again', async () => {
    const on = await stage({
      seed: SEED,
      settings: { caseNames: 'lower' },
      faults: [{ match: { method: 'POST' }, do: { type: 'drop-after-effect' } }],
    });
    // While the create is settled the list of skills cannot be read; when the run is verified it can.
    const blind = (deps: ApplyDeps): ApplyDeps => ({
      ...deps,
      service: {
        writer: (account, signals) => deps.service.writer(account, signals),
        reader: async (account, signals) => {
          const reader = await deps.service.reader(account, signals);
          let verifying = false;
          return {
            async listEntries(kind) {
              verifying ||= kind === 'role' && on.writes().length > 0;
              // Whoever settles asks for skills alone, whoever verifies asks for roles in the same breath.
              await new Promise((resolve) => setImmediate(resolve));
              const settling = kind === 'skill' && on.writes().length > 0 && !verifying;
              if (settling) throw new ServiceError('unavailable', 'no answer');
              return await reader.listEntries(kind);
            },
            listResources: () => reader.listResources(),
            traffic: () => reader.traffic(),
          };
        },
      },
    });
    expect(
      (await on.apply({ skills: ['Kept', 'TypeScript'], deps: blind, policy: { delete: 'never' } })).status,
    ).toBe('partial');
    on.sandbox.clearRequests();
    await on.apply({ skills: ['Kept', 'TypeScript'], policy: { delete: 'never' } });
    expect(on.writes()).toEqual([]);
    expect(on.skills().filter((name) => name === 'typescript')).toHaveLength(1);
  });

  it('of a 2xx answer without _id is found in the list', async () => {
    const on = await stage({ seed: SEED, faults: [{ match: { method: 'POST' }, do: { type: 'no-id' } }] });
    expect((await on.apply({ skills: ['Kept', 'New'] })).status).toBe('converged');
    expect(on.writes()).toHaveLength(1);
  });
});

describe('a delete', () => {
  const seed = { ...SEED, skills: ['Kept', 'Old'] };

  it('whose answer was lost is done when the list shows that the entry is gone', async () => {
    const on = await stage({
      seed,
      faults: [{ match: { method: 'DELETE' }, do: { type: 'drop-after-effect' } }],
    });
    expect((await on.apply({ skills: ['Kept'] })).status).toBe('converged');
    expect(on.writes()).toHaveLength(1);
  });

  it.each([200, 400, 404, 409, 410, 422, 500] as const)(
    'of an entry that is gone is done, answered with %d',
    async (unknownIdStatus) => {
      const on = await stage({
        seed,
        settings: { unknownIdStatus },
        faults: [{ match: { method: 'DELETE' }, do: { type: 'drop-after-effect' } }],
        api: { retries: 1 },
      });
      expect((await on.apply({ skills: ['Kept'] })).status).toBe('converged');
      expect(operations(on)).toMatchObject([{ name: 'Old', status: 'done' }]);
    },
  );

  it('that is refused and whose entry stays has failed', async () => {
    const on = await stage({
      seed,
      faults: [{ match: { method: 'DELETE' }, do: { type: 'status', status: 422 } }],
    });
    expect((await on.apply({ skills: ['Kept'] })).status).toBe('partial');
    expect(operations(on)).toMatchObject([{ name: 'Old', status: 'failed' }]);
  });
});

describe('lists that show a change late', () => {
  it('make the run partial when settle is not enough, and the next run writes nothing again', async () => {
    const on = await stage({
      seed: { ...SEED, skills: ['Kept', 'Old'] },
      settings: { listDelayMs: 3_000_000 },
    });
    const made = await on.apply({ skills: ['Kept', 'New'] });
    expect(made.status).toBe('partial');
    const detail = await on.store.reader.run(made.runId);
    expect(detail?.warnings.filter(({ code }) => code === 'not_shown_yet')).toHaveLength(2);
    on.sandbox.clearRequests();
    const next = await on.apply({ skills: ['Kept', 'New'] });
    expect(on.writes()).toEqual([]);
    const late = next.plan?.warnings.filter(({ code }) => code === 'not_shown_yet');
    expect(late?.map(({ name }) => name)).toEqual(['New', 'Old']);
    expect(next.status).toBe('partial');
  });
});

describe('a create that a near twin stands in the way of', () => {
  it('is refused with a hint, and goes when the twin is approved to go first', async () => {
    const on = await stage({
      seed: { ...SEED, skills: ['typescript'] },
      settings: { uniqueNames: 'caseless' },
    });
    await on.apply({ skills: ['TypeScript'] });
    const [refused] = on.rows<{ status: string; reason: string }>(
      "select status, reason from operations where action = 'create'",
    );
    expect(refused?.status).toBe('failed');
    expect(refused?.reason).toContain('approvedDeletes');
    const made = await on.apply({
      skills: ['TypeScript'],
      approvedDeletes: [{ kind: 'skill', name: 'typescript' }],
    });
    expect([made.status, on.skills()]).toEqual(['converged', ['TypeScript']]);
  });
});
