// Doubtful operations: what lists decide about them, and when.
import { describe, expect, it } from 'vitest';
import {
  type Doubt,
  readKinds,
  settle,
  type SettleOptions,
  type Settlement,
} from '../../../src/run/doubtful-operations.ts';
import type { Entry } from '../../../src/core/catalog.ts';
import { ServiceError } from '../../../src/core/errors.ts';
import type { ServiceReader } from '../../../src/core/ports/service.ts';
import { entry, wanted } from '../core/builders.ts';
import { bareRequest } from './bare-context.ts';
import { QuickClock } from './quick-clock.ts';

interface Setup extends Partial<Pick<SettleOptions, 'isComplete' | 'isStopped'>> {
  readonly desired?: readonly string[];
  readonly setClockBy?: number;
  readonly isAborted?: true;
  readonly onSettled?: (settlement: Settlement<Doubt>) => void;
}

const START_MS = new QuickClock().steadyMs();

/** Settles creates of “New” by default. The list of skills is what `list` returns; null makes the request fail. */
async function settled(
  doubts: readonly Partial<Doubt>[],
  list: (passedMs: number) => readonly Entry[] | null,
  { desired = [], setClockBy = 0, isAborted, onSettled, ...options }: Setup = {},
) {
  const clock = new QuickClock();
  const request = bareRequest({ skill: wanted(...desired) });
  if (isAborted === true) request.stop();
  let reads = 0;
  const reader: ServiceReader = {
    async listEntries() {
      reads += 1;
      if (reads === 2) clock.setBy(setClockBy);
      const items = list(clock.steadyMs() - START_MS);
      if (items === null) throw new ServiceError('unavailable', 'no answer');
      return { items, warnings: [] };
    },
    listResources: () => Promise.reject(new Error('people are not asked for')),
    traffic: () => ({ requests: 0, retries: 0 }),
  };
  const results: (readonly [name: string, hasHappened: boolean, id: string | undefined])[] = [];
  await settle(
    doubts.map((doubt): Doubt => ({
      action: 'create',
      kind: 'skill',
      name: 'New',
      sinceMs: START_MS,
      ...doubt,
    })),
    {
      request,
      clock,
      read: (kinds) => readKinds(reader, kinds, () => true),
      isStopped: () => isAborted === true,
      onWait: () => undefined,
      ...options,
    },
    (settlement) => {
      const { doubt, hasHappened, entry: made } = settlement;
      results.push([doubt.name, hasHappened, made?.id]);
      onSettled?.(settlement);
    },
  );
  return { results, reads, passedMs: clock.steadyMs() - START_MS };
}

const NEW = entry('New', '7');
const near = entry('new', '1');

describe('a doubtful create', () => {
  it.each<
    [
      string,
      (passedMs: number) => readonly Entry[],
      Partial<Doubt> & Setup,
      [boolean, string | undefined, number],
    ]
  >([
    ['is found by its name at once', () => [NEW], {}, [true, '7', 0]],
    ['is found within `settle`', (ms) => (ms < 34_000 ? [] : [NEW]), {}, [true, '7', 35_000]],
    ['is absent when `settle` has passed', () => [], {}, [false, undefined, 35_000]],
    ['is absent at once when it is older', () => [], { sinceMs: -60_000 }, [false, undefined, 0]],
    ['is not an older entry', () => [NEW], { isKnown: (key) => key === 'skill:7' }, [false, '7', 35_000]],
    ['is a near name after `settle`', () => [near], {}, [true, '1', 35_000]],
    ['is not a near name that is desired', () => [near], { desired: ['New', 'new'] }, [false, '1', 35_000]],
    [
      'is its exact name rather than a near one',
      (ms) => (ms < 9000 ? [near] : [near, NEW]),
      {},
      [true, '7', 9100],
    ],
    ['may be an unexplained new entry', () => [entry('Other', '8')], {}, [false, '8', 35_000]],
    [
      'waits equally long when the clock is set forward',
      () => [],
      { setClockBy: 86_400_000 },
      [false, undefined, 35_000],
    ],
    ['waits equally when it is set back', () => [], { setClockBy: -86_400_000 }, [false, undefined, 35_000]],
  ])('%s', async (_, list, { sinceMs = START_MS, isKnown, ...setup }, [hasHappened, id, passedMs]) => {
    const doubt = { sinceMs, ...(isKnown === undefined ? {} : { isKnown }) };
    const got = await settled([doubt], list, setup);
    expect(got).toMatchObject({ results: [['New', hasHappened, id]], passedMs });
  });

  it('is not settled when no list can be read, or when the run is stopped', async () => {
    expect(await settled([{}], () => null)).toMatchObject({ results: [], passedMs: 35_000 });
    expect(await settled([{}], () => [], { isAborted: true })).toMatchObject({ results: [], reads: 0 });
  });

  it('is settled after a list that could not be read', async () => {
    const { results } = await settled([{}], (passedMs) => (passedMs < 10_000 ? null : [NEW]));
    expect(results).toEqual([['New', true, '7']]);
  });

  it('is settled by its own clock, a little later when one reading serves several', async () => {
    const settledAt: Record<string, number> = {};
    let readAtMs = 0;
    await settled(
      [20_000, 10_300, 10_000, 0].map((ageMs, index) => ({ name: String(index), sinceMs: START_MS - ageMs })),
      (passedMs) => {
        readAtMs = passedMs;
        return [];
      },
      { onSettled: ({ doubt }) => void (settledAt[doubt.name] = readAtMs) },
    );
    const delays = [15_000, 24_700, 25_000, 35_000].map((dueMs, index) => (settledAt[index] ?? 0) - dueMs);
    expect(delays.every((delayMs) => delayMs >= 0 && delayMs <= 2000)).toBe(true);
  });

  it('is neither read for nor settled after the run is halted', async () => {
    let reads = 0;
    const list = (): readonly Entry[] => {
      reads += 1;
      return [NEW];
    };
    const halted = await settled([{}], list, { isStopped: () => reads > 0 });
    expect(halted).toMatchObject({ results: [], reads: 1 });
  });

  it('is decided by one more list after `recheck` when the one that lacks it lacks others too', async () => {
    const present = entry('Present');
    const isComplete = (_: string, list: readonly Entry[]) => list.includes(present);
    // Wrong at the moment when the create is due.
    const wrong = (ms: number) => (ms === 35_000 ? [] : ms < 35_000 ? [present] : [present, NEW]);
    const found = { results: [['New', true, '7']], passedMs: 37_000 };
    expect(await settled([{}], wrong, { isComplete })).toMatchObject(found);
    const absent = { results: [['New', false, undefined]] };
    expect(await settled([{}], () => [], { isComplete })).toMatchObject({ ...absent, passedMs: 37_000 });
    const complete = await settled([{}], () => [present], { isComplete: () => true });
    expect(complete).toMatchObject({ passedMs: 35_000 });
  });

  it('of a delete is not decided by one list that lacks more than the entry', async () => {
    const old = entry('Old', '9');
    const doubt = { action: 'delete', name: 'Old', remoteId: '9' } as const;
    const isComplete = (_: unknown, list: readonly Entry[]) => list.some(({ id }) => id === '1');
    const emptyOnce = (ms: number) => (ms === 0 ? [] : [near, old]);
    const kept = await settled([doubt], emptyOnce, { isComplete });
    expect(kept).toMatchObject({ results: [['Old', false, undefined]] });
    expect(await settled([doubt], () => [near], { isComplete })).toMatchObject({ passedMs: 0 });
    expect((await settled([doubt], () => [], { isComplete })).results).toEqual([['Old', true, undefined]]);
  });

  it('fails the reading when a list is of another account, or because of a bug', async () => {
    const failing = (error: Error) =>
      settled([{}], () => {
        throw error;
      });
    await expect(failing(new ServiceError('identity', 'not ours'))).rejects.toThrow('not ours');
    await expect(failing(new TypeError('a bug'))).rejects.toThrow('a bug');
  });

  it('shares its entry with no other create', async () => {
    const { results } = await settled([{}, {}], () => [NEW]);
    expect(results.map(([, hasHappened]) => hasHappened)).toEqual([true, false]);
  });

  it('receives its exact name, whatever the order', async () => {
    const { results } = await settled(
      [{ name: 'NEW' }, { name: 'New' }],
      (passedMs) => (passedMs === 0 ? [NEW] : [NEW, entry('NEW', '8')]),
      { desired: ['New', 'NEW'] },
    );
    expect(results).toEqual([
      ['New', true, '7'],
      ['NEW', true, '8'],
    ]);
  });
});

describe('a doubtful delete', () => {
  const doubt = { action: 'delete', name: 'Old', remoteId: '7' } as const;

  it.each<[string, (passedMs: number) => readonly Entry[], Partial<Doubt>, [boolean, number]]>([
    ['has happened as soon as the list lacks it', (ms) => (ms < 3000 ? [NEW] : []), {}, [true, 3100]],
    ['has not happened when `settle` has passed', () => [NEW], {}, [false, 35_000]],
    ['has not happened when it was refused', () => [NEW], { sinceMs: -Infinity }, [false, 0]],
    ['of an unknown id proves nothing', () => [], { remoteId: null }, [false, 35_000]],
  ])('%s', async (_, list, more, [hasHappened, passedMs]) => {
    const got = await settled([{ ...doubt, ...more }], list);
    expect(got).toMatchObject({ results: [['Old', hasHappened, undefined]], passedMs });
  });
});
