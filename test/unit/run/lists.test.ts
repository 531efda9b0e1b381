// The lists that a run reads: those of another account are refused.
import { describe, expect, it } from 'vitest';
import { guardAccount } from '../../../src/run/lists.ts';
import type { ObservedCatalog } from '../../../src/core/catalog.ts';
import { entry, person } from '../core/builders.ts';
import { readerOf } from './bare-context.ts';

const of = <T>(accountId: string, item: T): T & { accountId: string } => ({ ...item, accountId });

describe('the lists of an account', () => {
  it.each<[string, Partial<ObservedCatalog>]>([
    ['a skill', { skill: [entry('A'), of('43', entry('B'))] }],
    ['a role', { role: [of('43', entry('B'))] }],
    ['a person', { resources: [of('42', person('p')), of('43', person('q'))] }],
  ])('are refused when they contain %s of another account', async (_, lists) => {
    const reader = guardAccount(
      readerOf(() => lists),
      () => '42',
    );
    const reading = Promise.all([
      reader.listEntries('skill'),
      reader.listEntries('role'),
      reader.listResources(),
    ]);
    await expect(reading).rejects.toMatchObject({
      code: 'identity_mismatch',
      message: expect.stringMatching(/to account 43.* is 42/),
    });
  });

  it.each<[string, string | null, Partial<ObservedCatalog>]>([
    ['belong to the account', '42', { skill: [of('42', entry('A'))] }],
    ['carry no account id', '42', { skill: [entry('A')] }],
    ['belong to any account while the account is unknown', null, { skill: [of('43', entry('A'))] }],
  ])('are returned when they %s', async (_, expected, lists) => {
    const reader = guardAccount(
      readerOf(() => lists),
      () => expected,
    );
    expect((await reader.listEntries('skill')).items).toEqual(lists.skill);
    expect(reader.traffic()).toEqual({ requests: 0, retries: 0 });
  });
});
