// The lists of an account for commands that only read, and the checks that they are of this account and complete.
import { describe, expect, it } from 'vitest';
import { readAccount, type ReadRequest } from '../../../src/run/read-account.ts';
import type { ObservedCatalog } from '../../../src/core/catalog.ts';
import type { EntryOwner } from '../../../src/core/identity.ts';
import type { AccountState, LastGood } from '../../../src/core/ports/journal.ts';
import type { AccountSettings } from '../../../src/core/settings.ts';
import { entry, observed, person } from '../core/builders.ts';
import { bareRequest, readerOf, unused } from './bare-context.ts';

type Journal = NonNullable<ReadRequest['journal']>;

interface Setup {
  /** The lists of each reading; the last ones are repeated. */
  readonly lists: readonly Partial<ObservedCatalog>[];
  readonly settings?: Partial<AccountSettings>;
  readonly remembered?: string;
  readonly claimant?: string;
  readonly foreign?: EntryOwner;
  readonly lastGood?: Partial<ObservedCatalog>;
  readonly hasStore?: boolean;
  readonly readsTwice?: boolean;
}

async function read(of: Setup) {
  const calls: unknown[] = [];
  const reader = readerOf(() => of.lists[Math.min(reader.readings, of.lists.length) - 1] ?? {});
  const last: LastGood | null =
    of.lastGood === undefined
      ? null
      : { observed: observed(of.lastGood), missing: [], deletedSince: new Set(), createdSince: new Set() };
  const journal: Journal = {
    accountState: async () => ({ ...unused<AccountState>('state'), remoteAccountId: of.remembered ?? null }),
    lastGood: async () => last,
    claimant: async (claim) => {
      calls.push(claim);
      return of.claimant ?? null;
    },
    foreignOwner: async (lists) => {
      calls.push(lists);
      return of.foreign ?? null;
    },
  };
  const waited: string[] = [];
  const result = await readAccount({
    reader,
    settings: { ...bareRequest().settings, ...of.settings },
    configured: new Set(['acme', 'other']),
    journal: of.hasStore === false ? null : journal,
    ...(of.readsTwice === true ? { wait: async () => void waited.push('wait') } : {}),
  });
  return { ...result, calls, waits: waited.length, readings: reader.readings };
}

const mine = (name: string, accountId = '42') => ({ ...entry(name), accountId });
const FIVE = ['A', 'B', 'C', 'D', 'E'].map((name) => mine(name));

describe('an account that is read', () => {
  it('has its lists, its id, and what people refer to and no list contains', async () => {
    const lists = { skill: [mine('Go')], resources: [person('p1', ['Go', 'ghost'])] };
    const result = await read({ lists: [lists] });
    expect(result).toMatchObject({ remoteAccountId: '42', implausible: null, unlisted: ['skill:ghost'] });
    expect(result.observed).toEqual(observed(lists));
    expect([result.readings, result.waits]).toEqual([1, 0]);
  });

  it('is refused when it is not the pinned or the remembered one', async () => {
    const lists = [{ skill: [mine('Go', '43')] }];
    await expect(read({ lists, settings: { accountId: '42' } })).rejects.toMatchObject({ kind: 'identity' });
    await expect(read({ lists, remembered: '42' })).rejects.toMatchObject({ kind: 'identity' });
    expect((await read({ lists, remembered: '42', hasStore: false })).remoteAccountId).toBe('43');
  });

  it('is refused when another configured account has claimed it', async () => {
    const lists = [{ skill: [mine('Go')] }];
    await expect(read({ lists, claimant: 'other' })).rejects.toThrow('“other”');
    const { calls } = await read({ lists });
    expect(calls[0]).toMatchObject({
      account: 'acme',
      remoteAccountId: '42',
      configured: new Set(['acme', 'other']),
    });
    expect((await read({ lists, claimant: 'other', hasStore: false })).remoteAccountId).toBe('42');
  });

  it('is refused when an entry belongs to a former remote account or to another account', async () => {
    const lists = [{ skill: [entry('Go')] }];
    const foreign = { account: 'acme', remoteAccountId: '43' };
    await expect(read({ lists, foreign })).rejects.toThrow('in account 43');
    await expect(read({ lists, foreign: { ...foreign, account: 'other' } })).rejects.toThrow(
      'an entry of “other”',
    );
    const { calls } = await read({ lists });
    const configured = new Set(['acme', 'other']);
    const asked = { account: 'acme', remoteAccountId: null, configured, identified: false };
    expect(calls.at(-1)).toMatchObject({ ...asked, listed: observed(lists[0] ?? {}) });
    const identified = await read({ lists: [{ skill: [mine('Go')] }] });
    expect(identified.calls.at(-1)).toMatchObject({ remoteAccountId: '42', identified: true });
  });

  it('has a warning when no list confirms the pinned or remembered id', async () => {
    const codes = async (of: Setup) => (await read(of)).observed.warnings.map(({ code }) => code);
    expect(await codes({ lists: [{ skill: [entry('Go')] }], remembered: '42' })).toEqual([
      'identity_unknown',
    ]);
    expect(await codes({ lists: [{ skill: [mine('Go')] }], remembered: '42' })).toEqual([]);
    expect(await codes({ lists: [{ skill: [entry('Go')] }] })).toEqual([]);
  });
});

describe('an account whose lists lack something', () => {
  it('is read again after a wait, and then has what either reading shows', async () => {
    const lists = [{ skill: FIVE.slice(0, 4) }, { skill: FIVE.slice(1) }];
    const result = await read({ lists, lastGood: { skill: FIVE }, readsTwice: true });
    expect([result.readings, result.waits, result.implausible]).toEqual([2, 1, null]);
    expect(result.observed.skill.map(({ name }) => name).toSorted()).toEqual(['A', 'B', 'C', 'D', 'E']);
  });

  it('is implausible when both readings are empty, with a store that knows better', async () => {
    const of = { lists: [{}], lastGood: { skill: FIVE }, remembered: '42' };
    expect((await read({ ...of, readsTwice: true })).implausible).toMatchObject({
      code: 'suspicious_shrink',
    });
    expect((await read(of)).implausible).toBeNull();
    expect((await read({ ...of, readsTwice: true, hasStore: false })).implausible).toBeNull();
  });

  it('is implausible when people have what no list shows, also without a second reading', async () => {
    const lists = [{ resources: [person('p1', ['Go'])] }];
    expect((await read({ lists })).implausible).toMatchObject({ code: 'suspicious_list' });
  });

  it('is refused when the second reading is of another account', async () => {
    const lists = [{ skill: FIVE.slice(0, 4) }, { skill: [mine('X', '43')] }];
    await expect(read({ lists, lastGood: { skill: FIVE }, readsTwice: true })).rejects.toMatchObject({
      kind: 'identity',
    });
  });
});
