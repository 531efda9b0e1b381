// Doubtful creates: found by a list, absent, or open when no list decides.
import { describe, expect, it } from 'vitest';
import type { Doubt, SettleOptions, Settlement } from '../../../src/run/settle.ts';
import { settle } from '../../../src/run/settle.ts';
import type { Entry } from '../../../src/core/catalog.ts';
import { ServiceError } from '../../../src/core/errors.ts';
import type { ServiceReader } from '../../../src/core/ports/service.ts';
import { entry } from '../core/builders.ts';
import { QuickClock } from './quick-clock.ts';

describe('settling creates in doubt', () => {
  /** A reader whose skill list is what `list` returns at this time; null makes the request fail. */
  async function settled(
    doubts: readonly Partial<Doubt>[],
    list: (passedMs: number) => readonly Entry[] | null | Promise<never>,
    more: {
      desired?: readonly string[];
      stop?: AbortSignal;
      setClockBy?: number;
      isStopped?: () => boolean;
      halted?: Promise<void>;
      isComplete?: SettleOptions['isComplete'];
      answered?: () => Promise<unknown>;
      /** Doubts that join after a settlement. */
      join?: (settlement: Settlement<Doubt>) => readonly Partial<Doubt>[];
    } = {},
  ) {
    const clock = new QuickClock();
    const startMs = clock.steadyMs();
    let reads = 0;
    const reader: ServiceReader = {
      async listEntries() {
        reads += 1;
        if (reads === 2) clock.setBy(more.setClockBy ?? 0);
        const items = await list(clock.steadyMs() - startMs);
        if (items === null) throw new ServiceError('unavailable', 'no answer');
        return { items, warnings: [] };
      },
      listResources: () => Promise.reject(new Error('people are not asked for')),
      traffic: () => ({ requests: 0, retries: 0 }),
    };
    const complete = (doubt: Partial<Doubt>): Doubt => ({
      kind: 'skill',
      name: 'New',
      sinceMs: clock.steadyMs(),
      isKnown: () => false,
      ...doubt,
    });
    const open = new Set(doubts.map(complete));
    const results: Settlement<Doubt>[] = [];
    const settlements = settle(open, reader, {
      settleMs: 35_000,
      recheckMs: 2000,
      desired: {
        skill: (more.desired ?? []).map((name) => ({ name, formerly: [] })),
        approvedDeletes: [],
      },
      clock,
      stop: more.stop ?? new AbortController().signal,
      isStopped: more.isStopped ?? (() => more.stop?.aborted === true),
      ...(more.answered === undefined ? {} : { answered: more.answered }),
      ...(more.halted === undefined ? {} : { halted: more.halted }),
      ...(more.isComplete === undefined ? {} : { isComplete: more.isComplete }),
    });
    for await (const settlement of settlements) {
      results.push(settlement);
      for (const doubt of more.join?.(settlement) ?? []) open.add(complete(doubt));
    }
    return { results, reads, open: open.size, passedMs: clock.steadyMs() - startMs };
  }

  it('finds a new entry of that name immediately', async () => {
    const { results, reads } = await settled([{}], () => [entry('New', '7')]);
    expect(results).toMatchObject([{ type: 'found', entry: { id: '7' } }]);
    expect(reads).toBe(1);
  });

  it('does not accept an older entry', async () => {
    const { results } = await settled([{ isKnown: (key) => key === 'skill:7' }], () => [entry('New', '7')]);
    expect(results).toMatchObject([{ type: 'absent', candidate: { id: '7' } }]);
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

  it('settles nothing when no list can be read, or when it is stopped', async () => {
    expect(await settled([{}], () => null)).toMatchObject({ results: [], open: 0, passedMs: 35_000 });
    const stop = new AbortController();
    stop.abort();
    expect(await settled([{}], () => [], { stop: stop.signal })).toMatchObject({ results: [], open: 1 });
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

  it('settles each create by its own clock, and reads once for those that are due almost together', async () => {
    const startMs = new QuickClock().steadyMs();
    const ages = [20_000, 10_300, 10_000, 0];
    const settledAt: Record<string, number> = {};
    let readAtMs = 0;
    await settled(
      ages.map((ageMs, index) => ({ name: String(index), sinceMs: startMs - ageMs })),
      (passedMs) => {
        readAtMs = passedMs;
        return [];
      },
      {
        join: ({ doubt }) => {
          settledAt[doubt.name] = readAtMs;
          return [];
        },
      },
    );
    expect(settledAt).toEqual({ '0': 15_000, '1': 25_000, '2': 25_000, '3': 35_000 });
  });

  it('settles creates that join meanwhile, each by its own clock', async () => {
    const { results, passedMs, open } = await settled([{ name: 'A' }], () => [], {
      join: ({ doubt }) => (doubt.name === 'A' ? [{ name: 'B' }] : []),
    });
    expect(results.map(({ doubt, type }) => [doubt.name, type])).toEqual([
      ['A', 'absent'],
      ['B', 'absent'],
    ]);
    expect([passedMs >= 70_000, passedMs < 73_000, open]).toEqual([true, true, 0]);
  });

  it('waits for the answers to the creates in flight before it matches the entries of a list', async () => {
    let known = false;
    const { results } = await settled(
      [{ isKnown: () => known, sinceMs: -60_000 }],
      () => [entry('New', '7')],
      {
        // The entry turns out to be that of another create.
        answered: async () => void (known = true),
      },
    );
    expect(results).toMatchObject([{ type: 'absent', candidate: { id: '7' } }]);
  });

  it('reads nothing more, and settles nothing, when the run is halted during a wait or a reading', async () => {
    let isStopped = false;
    const duringWait = await settled([{}], () => [], {
      isStopped: () => isStopped,
      answered: async () => void setImmediate(() => (isStopped = true)),
    });
    expect(duringWait).toMatchObject({ results: [], reads: 1, open: 1 });
    isStopped = false;
    const duringReading = await settled([{}], () => [entry('New', '7')], {
      isStopped: () => isStopped,
      answered: async () => void (isStopped = true),
    });
    expect(duringReading).toMatchObject({ results: [], reads: 1, open: 1 });
  });

  it('reads once more after `recheck` when a list that lacks the entry lacks others too', async () => {
    const present = entry('Present');
    const isComplete = (_: string, list: readonly Entry[]) => list.includes(present);
    // Wrong at the moment when the create is due.
    const wrong = await settled(
      [{}],
      (passedMs) => (passedMs === 35_000 ? [] : passedMs < 35_000 ? [present] : [present, entry('New', '7')]),
      { isComplete },
    );
    expect(wrong).toMatchObject({ results: [{ type: 'found' }], passedMs: 37_000 });
    const twice = await settled([{}], () => [], { isComplete });
    expect(twice).toMatchObject({ results: [{ type: 'absent' }], passedMs: 37_000 });
    const complete = await settled([{}], () => [present], { isComplete });
    expect(complete).toMatchObject({ results: [{ type: 'absent' }], passedMs: 35_000 });
  });

  it('does not wait for a list that does not arrive after a halt', async () => {
    let isStopped = false;
    const halted = new Promise<void>((resolve) =>
      setImmediate(() => {
        isStopped = true;
        resolve();
      }),
    );
    const started = settled([{}], () => new Promise<never>(() => undefined), {
      isStopped: () => isStopped,
      halted,
    });
    expect(await started).toMatchObject({ results: [], reads: 1, open: 1 });
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
