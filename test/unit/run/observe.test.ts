// The first steps of a run: lists, second readings, and the account id of both.
import { describe, expect, it } from 'vitest';
import { type AccountJournal, observe, readAccount } from '../../../src/run/observe.ts';
import type { Acceptance, PlanningDeps } from '../../../src/run/request.ts';
import type { ObservedCatalog } from '../../../src/core/catalog.ts';
import type { EntryOwner } from '../../../src/core/identity.ts';
import { NO_RECORDS } from '../../../src/core/history.ts';
import { keysOf } from '../../../src/core/usage.ts';
import type { AccountState, IdentityClaim, Journal, LastGood } from '../../../src/core/ports/journal.ts';
import { entry, observed, person, wanted } from '../core/builders.ts';
import { bareRequest, readerOf, unused } from './bare-context.ts';
import { QuickClock } from './quick-clock.ts';

const NOTHING_JOURNALED = { ...NO_RECORDS, lastGood: null, unsettled: [] };

interface Setting {
  readonly lastGood?: Partial<ObservedCatalog>;
  readonly deletedSince?: LastGood['deletedSince'];
  readonly createdSince?: LastGood['createdSince'];
  readonly remembered?: string | null;
  readonly accountId?: string;
  /** Who has claimed the remote account before. */
  readonly claimedBy?: string;
  readonly formerName?: string;
  /** Keys of entries that were created in another account. */
  readonly foreign?: ReadonlySet<string>;
  /** Until when the service asked for a pause, from now. */
  readonly throttledForMs?: number;
  readonly accept?: Acceptance;
  /** Whether the store finds the lists equal to the last good ones. */
  readonly same?: boolean;
}

/** Observes what the n-th reading (from 1) returns. */
async function observing(of: Setting, lists: (reading: number) => Partial<ObservedCatalog> | Error) {
  const clock = new QuickClock();
  const startMs = clock.nowMs();
  const claims: IdentityClaim[] = [];
  const state = {
    ...unused<AccountState>('state'),
    remoteAccountId: of.remembered ?? null,
    throttledUntilMs: of.throttledForMs === undefined ? null : startMs + of.throttledForMs,
  };
  const journal: Journal = {
    ...unused<Journal>('journal'),
    accountState: async () => state,
    adoptRenamedAccount: async () => of.formerName ?? null,
    claimRemoteAccount: async (claim) => {
      claims.push(claim);
      return of.claimedBy ?? null;
    },
    foreignOwner: async ({ account, listed, identified }) =>
      !identified && [...keysOf(listed)].some((key) => of.foreign?.has(key) === true)
        ? { account, remoteAccountId: '666' }
        : null,
    accountHistory: async (_account, _remoteAccountId, now) => ({
      ...NOTHING_JOURNALED,
      lastGood:
        of.lastGood === undefined && of.same !== true
          ? null
          : {
              observed: of.same === true ? now : observed(of.lastGood),
              deletedSince: of.deletedSince ?? new Set(),
              createdSince: of.createdSince ?? new Map(),
            },
    }),
  };
  const reader = readerOf(() => lists(reader.readings));
  const bare = bareRequest({ skill: wanted('Kept') });
  const settings = {
    ...bare.settings,
    ...(of.accountId === undefined ? {} : { accountId: of.accountId }),
  };
  const deps: PlanningDeps = { ...unused<PlanningDeps>('deps'), journal, clock };
  const observation = await observe(
    { runId: 'run', request: { ...bare, settings, accept: of.accept ?? new Set() }, deps, reader },
    { state, writes: false },
  );
  return { observation, claims, readings: reader.readings, passedMs: clock.nowMs() - startMs, startMs };
}

const skills = (...names: string[]) => ({ skill: names.map((name) => entry(name)) });

function of(accountId: string, names: readonly string[]): Partial<ObservedCatalog> {
  return { skill: names.map((name) => ({ ...entry(name), accountId })) };
}

it('nothing is read before the end of a pause that an earlier process was asked for, unless it is accepted', async () => {
  const nothing = (): Error => new Error('read');
  const hour = 3_600_000;
  await expect(observing({ throttledForMs: hour }, nothing)).rejects.toMatchObject({ kind: 'throttled' });
  await expect(
    observing({ throttledForMs: hour, accept: new Set(['retry_after']) }, nothing),
  ).rejects.toThrow('read');
  // A time that far ahead comes from a clock that was set back.
  await expect(observing({ throttledForMs: 200 * hour }, nothing)).rejects.toThrow('read');
});

describe('one reading', () => {
  it.each<[string, Setting, Partial<ObservedCatalog>]>([
    ['of an account that was never seen', {}, skills('A')],
    ['that shows every entry of the last good one, and more', { lastGood: skills('A') }, skills('A', 'B')],
    [
      'that misses only what rolecall deleted',
      { lastGood: skills('A', 'B'), deletedSince: new Set(['skill:B']) },
      skills('A'),
    ],
    ['that the store finds unchanged', { same: true }, skills('A')],
  ])('is enough: %s', async (_, setting, lists) => {
    const { observation, readings, passedMs } = await observing(setting, () => lists);
    expect([readings, passedMs, observation.implausible]).toEqual([1, 0, null]);
    expect(observation.observed.skill).toEqual(lists.skill);
  });
});

describe('an entry of the last good lists that is missing', () => {
  it('is used when a second reading after `recheck` shows it', async () => {
    const { observation, readings, passedMs } = await observing({ lastGood: skills('A', 'B') }, (reading) =>
      reading === 1 ? skills('A') : skills('A', 'B'),
    );
    expect([readings, passedMs]).toEqual([2, 2000]);
    expect(observation.observed.skill.map(({ id }) => id)).toEqual(['A', 'B']);
  });

  it.each<[string, Setting]>([
    ['with unchanged lists', { same: true }],
    ['with changed lists', { lastGood: skills('A') }],
  ])('can be one created since then, and causes a second reading: %s', async (_, setting) => {
    const created = { ...setting, createdSince: new Map([['skill:New', 'New']] as const) };
    for (const wrong of [skills('A'), { skill: [entry('A'), entry('N?', 'New')] }]) {
      const { observation, readings } = await observing(created, (reading) =>
        reading === 1 ? wrong : skills('A', 'New'),
      );
      expect([readings, observation.observed.skill.map(({ id }) => id)]).toEqual([2, ['A', 'New']]);
    }
    expect((await observing(created, () => skills('A', 'New'))).readings).toBe(1);
  });

  it('is gone when both readings lack it', async () => {
    const { observation, readings } = await observing({ lastGood: skills('A', 'B') }, () => skills('A'));
    expect([readings, observation.observed.skill.map(({ id }) => id), observation.implausible]).toEqual([
      2,
      ['A'],
      null,
    ]);
  });

  it('is not a suspicious shrink when only the second reading shrank', async () => {
    const lastGood = skills('A', 'B', 'C', 'D', 'E');
    const { observation } = await observing({ lastGood }, (reading) =>
      reading === 1 ? skills('A', 'B', 'C', 'D') : {},
    );
    expect([observation.implausible, observation.observed.skill.length]).toEqual([null, 4]);
  });

  it('is ignored when the file omits the kind', async () => {
    const lastGood = { role: ['A', 'B', 'C', 'D', 'E'].map((name) => entry(name)) };
    const { observation } = await observing({ lastGood }, () => ({}));
    expect(observation.implausible).toBeNull();
  });
});

describe('names that are garbled', () => {
  const lastGood = skills('Go', 'Zig', 'Perl', 'Rust', 'Ada');
  const garbled = { skill: lastGood.skill.map(({ id, name }) => entry(name.toLowerCase(), id)) };

  it.each<[string, (reading: number) => Partial<ObservedCatalog>, boolean]>([
    ['in the first reading are read again', (reading) => (reading === 1 ? garbled : lastGood), false],
    [
      'in a second reading that something else caused are ignored',
      (reading) => (reading === 1 ? { skill: lastGood.skill.slice(1) } : garbled),
      false,
    ],
    ['in both readings are suspicious', () => garbled, true],
  ])('%s', async (_, lists, isSuspicious) => {
    const { observation, readings } = await observing({ lastGood }, lists);
    expect([readings, observation.implausible?.code]).toEqual([
      2,
      isSuspicious ? 'suspicious_list' : undefined,
    ]);
    if (!isSuspicious) expect(observation.observed.skill.map(({ name }) => name)).toContain('Rust');
  });

  it('in a reading after unchanged lists do not replace the names of those', async () => {
    const created = { lastGood, createdSince: new Map([['skill:New', 'New']] as const) };
    const { observation } = await observing({ ...created, same: true }, (reading) =>
      reading === 1 ? lastGood : garbled,
    );
    expect(observation.observed.skill).toMatchObject(lastGood.skill);
  });

  it('are accepted as one rename when both readings show it', async () => {
    const renamed = { skill: [...lastGood.skill.slice(1), entry('Golang', 'Go')] };
    const { observation, readings } = await observing({ lastGood }, () => renamed);
    expect([readings, observation.implausible, observation.isGood]).toEqual([2, null, true]);
    expect(observation.observed.skill).toEqual(renamed.skill);
  });
});

describe('an entry that people have and that no list shows, in a new account', () => {
  const ann = person('ann', ['A']);

  it('causes a second reading after recheck', async () => {
    const { observation, readings, passedMs } = await observing({}, (reading) =>
      reading === 1 ? { resources: [ann] } : { ...skills('A', 'B'), resources: [ann] },
    );
    expect([readings, passedMs]).toEqual([2, 2000]);
    expect(observation.observed.skill.map(({ id }) => id)).toEqual(['A', 'B']);
  });

  it('is ignored when the file omits the kind', async () => {
    const bob = person('bob', undefined, 'R');
    expect((await observing({}, () => ({ ...skills('A'), resources: [bob] }))).readings).toBe(1);
  });
});

describe('people who are missing', () => {
  const lastGood = { skill: [entry('A')], resources: [person('p', ['A'])] };

  it('keep what they had in the last good lists in use', async () => {
    const { observation } = await observing({ lastGood }, () => skills('A'));
    expect([...observation.missingUse]).toEqual(['skill:A']);
    const present = await observing({ lastGood }, () => ({ ...skills('A'), resources: [person('p', [])] }));
    expect([...present.observation.missingUse]).toEqual([]);
  });
});

describe('the account id', () => {
  it('is the listed one, claimed for this run', async () => {
    const { observation, claims } = await observing({}, () => of('42', ['A']));
    expect([observation.remoteAccountId, observation.identified]).toEqual(['42', true]);
    expect(claims).toEqual([
      {
        runId: 'run',
        account: 'acme',
        baseUrl: 'http://127.0.0.1:1',
        remoteAccountId: '42',
        configured: new Set(['acme']),
      },
    ]);
  });

  it.each<[string, Setting, string | null]>([
    ['the pinned one', { accountId: '42' }, '42'],
    ['the remembered one', { remembered: '43' }, '43'],
    ['unknown', {}, null],
  ])('is %s when no listed entry carries an id', async (_, setting, id) => {
    const { observation } = await observing(setting, () => skills('A'));
    expect([observation.remoteAccountId, observation.identified]).toEqual([id, false]);
  });

  it('is the listed one, even if the entries are known from another account', async () => {
    const { observation } = await observing({ foreign: new Set(['skill:A']) }, () => of('42', ['A']));
    expect(observation.remoteAccountId).toBe('42');
  });

  it('is checked in the second reading too', async () => {
    const lastGood = of('42', ['A', 'B']);
    const changed = observing({ lastGood, remembered: '42' }, (reading) =>
      reading === 1 ? of('42', ['A']) : of('43', ['A', 'B']),
    );
    await expect(changed).rejects.toMatchObject({ code: 'identity_mismatch' });
  });
});

describe('an account that a command reads', () => {
  interface Reading {
    readonly lists?: readonly Partial<ObservedCatalog>[];
    readonly remembered?: string;
    readonly claimant?: string;
    readonly foreign?: EntryOwner;
    readonly lastGood?: Partial<ObservedCatalog>;
    readonly hasStore?: false;
  }

  /** Reads the lists; the last ones are repeated. */
  async function read({ lists = [of('42', ['Go'])], ...before }: Reading) {
    const asked: unknown[] = [];
    const reader = readerOf(() => lists[Math.min(reader.readings, lists.length) - 1] ?? {});
    const journal: AccountJournal = {
      accountState: async () => ({
        ...unused<AccountState>('state'),
        throttledUntilMs: null,
        remoteAccountId: before.remembered ?? null,
      }),
      accountHistory: async () => ({
        ...NOTHING_JOURNALED,
        lastGood:
          before.lastGood === undefined
            ? null
            : {
                observed: observed(before.lastGood),
                deletedSince: new Set(),
                createdSince: new Map(),
              },
      }),
      claimant: async (claim) => {
        asked.push(claim);
        return before.claimant ?? null;
      },
      foreignOwner: async () => before.foreign ?? null,
    };
    const result = await readAccount(
      { reader, request: bareRequest(), clock: new QuickClock() },
      before.hasStore === false ? null : journal,
    );
    return { ...result, asked, readings: reader.readings };
  }

  it('has its lists, its id, what the last good lists had, and what people refer to and no list contains', async () => {
    const lists = [{ skill: [entry('Go')], resources: [person('p', ['Go', 'ghost'])] }];
    const result = await read({ lists, remembered: '42', lastGood: skills('Go', 'Old') });
    expect(result).toMatchObject({
      remoteAccountId: '42',
      unlisted: ['skill:ghost'],
      missing: { skill: ['Old'], role: [] },
    });
    expect(result.observed.warnings.map(({ code }) => code)).toEqual(['identity_unknown']);
    expect([result.observed.skill, result.readings]).toEqual([[entry('Go')], 2]);
  });

  it.each<[string, Reading]>([
    ['is not the remembered one', { remembered: '43' }],
    ['was claimed by another configured account', { claimant: 'other' }],
    ['has an entry of another account', { foreign: { account: 'other', remoteAccountId: null } }],
    [
      'is another one in the second reading',
      { lists: [of('42', ['Go']), of('43', ['Go'])], lastGood: skills('Go', 'Old') },
    ],
  ])('is refused when it %s, which only a store can know', async (_, before) => {
    await expect(read(before)).rejects.toMatchObject({ kind: 'identity' });
    if (before.lists === undefined)
      expect((await read({ ...before, hasStore: false })).remoteAccountId).toBe('42');
  });

  it('claims nothing', async () => {
    const { asked } = await read({});
    const claim = { runId: '', account: 'acme', remoteAccountId: '42', configured: new Set(['acme']) };
    expect(asked).toMatchObject([claim]);
  });

  it.each<[string, Reading, string | undefined]>([
    ['two readings are empty', { lists: [{}], lastGood: skills('A', 'B', 'C', 'D', 'E') }, 'suspicious_list'],
    ['people have what no list shows', { lists: [{ resources: [person('p', ['Go'])] }] }, 'suspicious_list'],
    ['one reading is empty', { lists: [{}, skills('A')], lastGood: skills('A') }, undefined],
  ])('has lists that are implausible, or not, when %s', async (_, before, code) => {
    expect((await read(before)).implausible?.code).toBe(code);
  });
});
