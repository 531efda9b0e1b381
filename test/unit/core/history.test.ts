// The facts that a plan takes from the journal: flapping names, awaited and deleted entries.
import { describe, expect, it } from 'vitest';
import type { AccountHistory, RecentOperation } from '../../../src/core/history.ts';
import { DAY_MS } from '../../../src/core/durations-and-sizes.ts';
import { judgeHistory, NO_RECORDS } from '../../../src/core/history.ts';
import type { ObservedCatalog } from '../../../src/core/catalog.ts';
import { entry, NOW_MS, observed } from './builders.ts';

const STALENESS_MS = 120_000;
const HOUR_MS = 3_600_000;

function operation(of: Partial<RecentOperation>): RecentOperation {
  return {
    runId: 'run',
    action: 'create',
    kind: 'skill',
    name: 'a',
    remoteId: '1',
    status: 'done',
    attempts: 1,
    finishedAtMs: NOW_MS - HOUR_MS,
    listed: true,
    ...of,
  };
}

function judge(
  recent: readonly RecentOperation[],
  lists: Partial<ObservedCatalog> = {},
  changedNames: AccountHistory['changedNames'] = new Map(),
  records: Partial<AccountHistory> = {},
) {
  const memory: AccountHistory = { ...NO_RECORDS, recent, changedNames, ...records };
  const options = { nowMs: NOW_MS, missingUse: new Set<never>(), hasSnapshot: true, releasedRuns: new Map() };
  return judgeHistory(memory, observed(lists), options);
}

const thrice = (of: Partial<RecentOperation>): RecentOperation[] =>
  ['1', '2', '3'].map((remoteId) => operation({ remoteId, ...of }));

describe('a create that others undo', () => {
  it('flaps when the created entry disappeared three times within a day', () => {
    expect([...judge(thrice({})).flappingCreates.keys()]).toEqual(['skill:a']);
  });

  it('does not flap after two times', () => {
    expect(judge(thrice({}).slice(1)).flappingCreates.size).toBe(0);
  });

  it('flaps when somebody renamed the created entries', () => {
    const skill = [entry('b', '1'), entry('c', '2'), entry('d', '3')];
    expect([...judge(thrice({}), { skill }).flappingCreates.keys()]).toEqual(['skill:a']);
  });

  it.each<RecentOperation['status']>(['unknown', 'sent'])('counts one that is %s', (status) => {
    expect([...judge(thrice({ status, remoteId: null })).flappingCreates.keys()]).toEqual(['skill:a']);
  });

  it('does not flap when rolecall deleted one of them', () => {
    const deleted = operation({ action: 'delete', remoteId: '2' });
    expect(judge([...thrice({}), deleted]).flappingCreates.size).toBe(0);
  });

  it('does not flap when one of the three is a day old', () => {
    const [first, second] = thrice({});
    const old = operation({ remoteId: '3', finishedAtMs: NOW_MS - DAY_MS });
    expect(judge([old, ...[first, second].flatMap((each) => each ?? [])]).flappingCreates.size).toBe(0);
  });

  it.each<RecentOperation['status']>(['failed', 'skipped', 'held'])(
    'does not count one that is %s',
    (status) => {
      expect(judge(thrice({ status })).flappingCreates.size).toBe(0);
    },
  );

  it('is distinguished by kind and by name, in any Unicode form', () => {
    const mixed = [
      operation({ remoteId: '1', name: 'Caf\u00e9' }),
      operation({ remoteId: '2', name: 'Cafe\u0301' }),
      operation({ remoteId: '3', name: 'Caf\u00e9' }),
      operation({ remoteId: '4', name: 'Caf\u00e9', kind: 'role' }),
    ];
    expect([...judge(mixed).flappingCreates.keys()]).toEqual(['skill:Caf\u00e9']);
  });
});

describe('a delete that others undo', () => {
  it('flaps when the name was deleted three times within a day', () => {
    expect([...judge(thrice({ action: 'delete' })).flappingDeletes.keys()]).toEqual(['skill:a']);
  });

  it('does not flap after two deletes, or for entries that were gone already', () => {
    expect(judge(thrice({ action: 'delete' }).slice(1)).flappingDeletes.size).toBe(0);
    expect(judge(thrice({ action: 'delete', attempts: 0 })).flappingDeletes.size).toBe(0);
  });
});

describe('the deletes of a day', () => {
  it.each<[RecentOperation['status'], number]>([
    ['done', 1],
    ['unknown', 1],
    ['sent', 1],
    ['failed', 0],
    ['held', 0],
    ['skipped', 0],
    ['pending', 0],
  ])('count one that is %s as %d', (status, count) => {
    expect(judge([operation({ action: 'delete', status })]).recentDeletesMs).toHaveLength(count);
  });

  it('are those that were sent and may have happened', () => {
    const deletes = [
      operation({ action: 'delete', status: 'done' }),
      operation({ action: 'delete', status: 'unknown' }),
      operation({ action: 'delete', status: 'sent' }),
      operation({ action: 'delete', status: 'failed' }),
      operation({ action: 'delete', status: 'skipped', attempts: 0 }),
      operation({ action: 'delete', status: 'done', attempts: 0 }),
      operation({ action: 'delete', finishedAtMs: NOW_MS - DAY_MS }),
      operation({ action: 'delete', finishedAtMs: NOW_MS - DAY_MS + 1 }),
      operation({ action: 'create' }),
    ];
    expect(judge(deletes).recentDeletesMs).toHaveLength(4);
  });
});

describe('an entry that was created a moment ago', () => {
  const fresh = operation({ listed: false, finishedAtMs: NOW_MS - STALENESS_MS + 1 });

  it('is awaited when no list has shown it yet', () => {
    expect(judge([fresh]).awaited).toEqual([{ kind: 'skill', remoteId: '1', name: 'a' }]);
  });

  it('is not awaited once the list shows it', () => {
    expect(judge([fresh], { skill: [entry('a', '1')] }).awaited).toEqual([]);
  });

  it('is not awaited when an earlier list has shown it, because somebody removed it then', () => {
    expect(judge([{ ...fresh, listed: true }]).awaited).toEqual([]);
  });

  it('is not awaited for longer than staleness, in the future neither', () => {
    const awaited = (inMs: number) => judge([{ ...fresh, finishedAtMs: NOW_MS + inMs }]).awaited.length;
    expect([-STALENESS_MS, 5000, STALENESS_MS, HOUR_MS].map(awaited)).toEqual([0, 1, 0, 0]);
  });

  it('is not awaited when rolecall deleted it since', () => {
    expect(judge([fresh, operation({ action: 'delete', finishedAtMs: NOW_MS })]).awaited).toEqual([]);
  });
});

describe('an entry that was gone before its delete', () => {
  const found = { action: 'delete', attempts: 0, listed: false } as const;

  it('is neither awaited nor a lost create', () => {
    const recent = operation({ ...found, finishedAtMs: NOW_MS - 1 });
    expect(judge([recent]).awaited).toEqual([]);
    expect(judge(thrice(found)).flappingCreates.size).toBe(0);
  });
});

describe('an entry that was deleted a moment ago', () => {
  const fresh = operation({ action: 'delete', finishedAtMs: NOW_MS - STALENESS_MS + 1 });

  it('is gone although a stale list still shows it', () => {
    expect([...judge([fresh], { skill: [entry('a', '1')] }).gone]).toEqual(['skill:1']);
  });

  it('exists again when staleness has passed', () => {
    expect(judge([{ ...fresh, finishedAtMs: NOW_MS - STALENESS_MS }]).gone.size).toBe(0);
  });

  it('exists when its delete lies in the future, which still counts for the day', () => {
    const { gone, recentDeletesMs } = judge([{ ...fresh, finishedAtMs: NOW_MS + 1 }], {
      skill: [entry('a', '1')],
    });
    expect([gone.size, recentDeletesMs]).toEqual([0, [NOW_MS + 1]]);
  });

  it('is not gone under another name, because somebody reused its id', () => {
    expect(judge([fresh], { skill: [entry('b', '1')] }).gone.size).toBe(0);
  });

  it('is gone when a create got its id earlier, and not when a create got it later', () => {
    const made = (finishedAtMs: number) => operation({ finishedAtMs, listed: false });
    const [before, since] = [made(fresh.finishedAtMs - 1), made(fresh.finishedAtMs + 1)];
    expect(judge([fresh, before], { skill: [entry('a', '1')] }).gone.size).toBe(1);
    expect(judge([fresh, since], { skill: [entry('a', '1')] }).gone.size).toBe(0);
    expect([judge([fresh, before]).awaited.length, judge([fresh, since]).awaited.length]).toEqual([0, 1]);
  });

  it.each<[string, Partial<RecentOperation>]>([
    ['a create that failed', { status: 'failed' }],
    ['a create that may have happened', { status: 'unknown' }],
    ['a delete that found nothing', { action: 'delete', attempts: 0 }],
  ])('is gone although %s has its id since', (_, of) => {
    const since = operation({ finishedAtMs: fresh.finishedAtMs + 1, listed: false, ...of });
    expect([...judge([fresh, since], { skill: [entry('a', '1')] }).gone]).toEqual(['skill:1']);
  });

  it('is gone only when its delete was confirmed', () => {
    expect(judge([{ ...fresh, status: 'unknown' }]).gone.size).toBe(0);
  });
});

describe('an entry whose name the service changed', () => {
  const changed = { requested: 'Type Script ', name: 'Type Script', listed: false };

  it('counts as the requested one under whatever name the first list shows', () => {
    const first = { skill: [entry('Type', '1')] };
    expect(judge([], first, new Map([['skill:1', changed]])).requestedNames.get('skill:1')).toBe(
      'Type Script ',
    );
    const known = new Map([['skill:1', { ...changed, listed: true }]] as const);
    expect(judge([], first, known).requestedNames.size).toBe(0);
  });

  it('counts as the requested one although the answer to its create had the requested name', () => {
    const neverListed = [{ kind: 'skill', remoteId: '1', name: 'Long name' }] as const;
    const { requestedNames } = judge([], { skill: [entry('Long', '1')] }, new Map(), { neverListed });
    expect([...requestedNames]).toEqual([['skill:1', 'Long name']]);
  });

  it('is found by its stored name when the service lists it under a new id', () => {
    const changedNames = new Map([['skill:1', { ...changed, listed: true }]] as const);
    const lists = { skill: [entry('Type Script', '9')], role: [entry('Type Script', '9')] };
    expect(judge([], lists, changedNames).requestedNames.get('skill:9')).toBe('Type Script ');
    expect(judge([], lists, changedNames).requestedNames.has('role:9')).toBe(false);
    const both = { skill: [entry('Type Script', '9'), entry('Type Script', '1')] };
    expect([...judge([], both, changedNames).requestedNames.keys()]).toEqual(['skill:1']);
  });

  it('is found for each requested name when the service stored several of them as one', () => {
    const changedNames = new Map([
      ['skill:1', { requested: 'Long b', name: 'Long', listed: true }],
      ['skill:2', { requested: 'Long a', name: 'Long', listed: true }],
    ] as const);
    const skill = [entry('Long', '8'), entry('Long', '7')];
    const { requestedNames } = judge([], { skill }, changedNames);
    expect([requestedNames.get('skill:7'), requestedNames.get('skill:8')]).toEqual(['Long a', 'Long b']);
  });

  it('keeps the requested name while it is listed unchanged or not listed', () => {
    const changedNames = new Map([
      ['skill:1', changed],
      ['skill:2', { ...changed, listed: true }],
      ['skill:3', changed],
    ] as const);
    const skill = [entry('Type Script', '1'), entry('JavaScript', '2')];
    expect(judge([], { skill }, changedNames).requestedNames).toEqual(
      new Map([
        ['skill:1', 'Type Script '],
        ['skill:3', 'Type Script '],
      ]),
    );
  });
});

describe('an entry that rolecall created', () => {
  const owned = new Set(['skill:1'] as const);
  const knownNames = new Map([['skill:1', ['a', 'A']]] as const);
  const ownedAs = (name: string, records: Partial<AccountHistory>) =>
    judge([], { skill: [entry(name, '1')] }, new Map(), { owned, ...records }).owned.size;

  it('is owned under a name that the journal knows, and while no list shows it', () => {
    expect([ownedAs('a', { knownNames }), ownedAs('A', { knownNames })]).toEqual([1, 1]);
    expect(judge([], {}, new Map(), { owned, knownNames }).owned.size).toBe(1);
  });

  it('is not owned under another name, because somebody renamed it or reused its id', () => {
    expect(ownedAs('b', { knownNames })).toBe(0);
  });

  it('is not owned when it was deleted and its id is listed again', () => {
    expect(ownedAs('a', { knownNames: new Map() })).toBe(0);
  });

  it('is owned under the name that the first list shows', () => {
    const neverListed = [{ kind: 'skill', remoteId: '1', name: 'a' }] as const;
    expect(ownedAs('b', { knownNames, neverListed })).toBe(1);
  });
});

describe('a create whose outcome is unknown', () => {
  const known = new Set(['skill:old'] as const);
  const knownBefore = new Map([['run', known]]);
  const doubt = operation({ status: 'unknown', remoteId: null });

  it('is in doubt for a day, with the entries that it cannot have made', () => {
    const { doubtfulCreates } = judge([doubt], {}, new Map(), { knownBefore });
    expect([...doubtfulCreates]).toEqual([['skill:a', { known, untilMs: NOW_MS - HOUR_MS + DAY_MS }]]);
  });

  it('is no longer in doubt when a later create of the name is done', () => {
    const later = operation({ finishedAtMs: NOW_MS - 1 });
    expect(judge([later, doubt], {}, new Map(), { knownBefore }).doubtfulCreates.size).toBe(0);
  });
});
