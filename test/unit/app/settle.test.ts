// Doubtful creates: found by a list, absent, or open when no list decides.
import { describe, expect, it } from 'vitest';
import type { Doubt } from '../../../src/app/settle.ts';
import { settle } from '../../../src/app/settle.ts';
import type { Entry } from '../../../src/core/catalog.ts';
import { ServiceError } from '../../../src/core/errors.ts';
import type { ServiceReader } from '../../../src/core/ports.ts';
import { entry } from '../core/builders.ts';
import { QuickClock } from './quick-clock.ts';

describe('settling creates in doubt', () => {
  /** A reader whose skill list is what `list` returns at this time; null makes the request fail. */
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
    const complete = doubts.map((doubt) => ({
      kind: 'skill' as const,
      name: 'New',
      sinceMs: startMs,
      isKnown: () => false,
      ...doubt,
    }));
    const results = await settle(complete, reader, {
      settleMs: 35_000,
      desired: {
        skill: (more.desired ?? []).map((name) => ({ name, formerly: [] })),
        approvedDeletes: [],
      },
      clock,
      stop: more.stop ?? new AbortController().signal,
    });
    return { results, reads, passedMs: clock.steadyMs() - startMs };
  }

  it('finds a new entry of that name immediately', async () => {
    const { results, reads } = await settled([{}], () => [entry('New', '7')]);
    expect(results).toMatchObject([{ type: 'found', entry: { id: '7' } }]);
    expect(reads).toBe(1);
  });

  it('does not accept an older entry', async () => {
    const { results } = await settled([{ isKnown: (key) => key === 'skill:7' }], () => [entry('New', '7')]);
    expect(results).toMatchObject([{ type: 'absent', existing: { id: '7' } }]);
  });

  it('waits at most for `settle`', async () => {
    const late = await settled([{}], (passedMs) => (passedMs >= 34_000 ? [entry('New', '7')] : []));
    expect(late.results).toMatchObject([{ type: 'found' }]);
    const never = await settled([{}], () => []);
    expect(never.results).toMatchObject([{ type: 'absent' }]);
    expect(never.passedMs).toBeGreaterThanOrEqual(35_000);
    expect(never.passedMs).toBeLessThan(38_000);
  });

  it('does not wait for a create that is older than `settle`', async () => {
    const { results, reads } = await settled([{ sinceMs: -60_000 }], () => []);
    expect([results.map(({ type }) => type), reads]).toEqual([['absent'], 1]);
  });

  it.each([86_400_000, -86_400_000])(
    'waits equally long when the clock is changed by %i ms meanwhile',
    async (by) => {
      const { results, passedMs } = await settled([{}], () => [], { setClockBy: by });
      expect(results).toMatchObject([{ type: 'absent' }]);
      expect(passedMs).toBeGreaterThanOrEqual(35_000);
      expect(passedMs).toBeLessThan(38_000);
    },
  );

  it('leaves a create open when no list can be read, or when it is stopped', async () => {
    expect((await settled([{}], () => null)).results).toMatchObject([{ type: 'open' }]);
    const stop = new AbortController();
    stop.abort();
    expect((await settled([{}], () => [], { stop: stop.signal })).results).toMatchObject([{ type: 'open' }]);
  });

  it('continues after a list that could not be read', async () => {
    const { results } = await settled([{}], (passedMs) => (passedMs < 10_000 ? null : [entry('New', '7')]));
    expect(results).toMatchObject([{ type: 'found' }]);
  });

  it('accepts a near name that is not desired, because a service may change names', async () => {
    const { results } = await settled([{ name: 'New ' }], () => [entry('NEW', '7')], { desired: ['New '] });
    expect(results).toMatchObject([{ type: 'found', entry: { name: 'NEW' } }]);
  });

  it('waits for the exact name for settle before it accepts a near one', async () => {
    const near = entry('new', '1');
    const late = await settled([{}], (ms) => (ms < 10_000 ? [near] : [near, entry('New', '7')]));
    expect(late.results).toMatchObject([{ type: 'found', entry: { id: '7' } }]);
    const never = await settled([{}], () => [near]);
    expect([never.results, never.passedMs]).toMatchObject([[{ type: 'found', entry: { id: '1' } }], 35_000]);
  });

  it('does not accept a near name that is desired', async () => {
    const { results } = await settled([{ name: 'New' }], () => [entry('NEW', '7')], {
      desired: ['New', 'NEW'],
    });
    expect(results).toMatchObject([{ type: 'absent' }]);
  });

  it('prefers the exact name to a near one', async () => {
    const { results } = await settled([{}], () => [entry('new', '6'), entry('New', '7')]);
    expect(results).toMatchObject([{ type: 'found', entry: { id: '7' } }]);
  });

  it('accepts no other new entry when settle has passed', async () => {
    const { results } = await settled([{}], () => [entry('Other', '7')]);
    expect(results).toMatchObject([{ type: 'absent' }]);
  });

  it('reads the list when the first of several creates is due', async () => {
    const startMs = new QuickClock().steadyMs();
    const { passedMs } = await settled([{ sinceMs: startMs - 34_900 }, { name: 'B' }], () => []);
    expect(passedMs).toBe(35_000);
  });

  it('rejects a list of another account, and throws any other error', async () => {
    const failing = (error: Error) =>
      settled([{}], () => {
        throw error;
      });
    await expect(failing(new ServiceError('identity', 'not ours'))).rejects.toThrow('not ours');
    await expect(failing(new TypeError('a bug'))).rejects.toThrow('a bug');
  });

  it('assigns an entry to one create only', async () => {
    const { results } = await settled([{}, {}], () => [entry('New', '7')]);
    expect(results.map(({ type }) => type).toSorted()).toEqual(['absent', 'found']);
  });

  it('assigns an exact name to its own create, whatever the order', async () => {
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
