// The changes that a run reports when it refuses a stale plan.
import { describe, expect, it } from 'vitest';
import { changesSinceAgreed } from '../../../src/app/stale-plan.ts';
import type { LastGood } from '../../../src/core/ports.ts';
import { entry, observed, plan, UNLIMITED, wanted } from '../core/builders.ts';
import { bareContext, bareRequest } from './bare-context.ts';

/** The changes of an account whose file asks for the skill Kept, and whose lists now have these skills. */
async function changesNow(now: readonly string[], lastGood: readonly string[] | null, isReviewed = true) {
  const request = bareRequest({ skill: wanted('Kept') });
  const lists = (names: readonly string[]) => observed({ skill: names.map((name) => entry(name)) });
  const asked: unknown[] = [];
  const { deps } = bareContext();
  const journal = {
    ...deps.journal,
    lastGood: async (...args: readonly unknown[]): Promise<LastGood | null> => {
      asked.push(args);
      const none = { missing: [], deletedSince: new Set<never>(), createdSince: new Set<never>() };
      return lastGood === null ? null : { ...none, observed: lists(lastGood) };
    },
  };
  const observation = { observed: lists(now), remoteAccountId: '42' };
  const changes = await changesSinceAgreed(
    { request, deps: { ...deps, journal } },
    // Only these fields are read.
    observation as Parameters<typeof changesSinceAgreed>[1],
    plan({
      skills: ['Kept'],
      observed: { skill: observation.observed.skill },
      policy: UNLIMITED,
    }),
    {
      digest: 'sha256:x',
      firstObserved: null,
      ...(isReviewed ? { reviewed: plan({ skills: ['Kept'], observed: lists(['Kept']) }) } : {}),
    },
  );
  return { changes, asked, observation };
}

describe('the changes since a plan that an operator agreed to', () => {
  it('are found with the last good lists of the account', async () => {
    const { changes, asked, observation } = await changesNow([], ['Kept']);
    expect(changes).toMatchObject([{ code: 'changed_since_plan', change: 'vanished', name: 'Kept' }]);
    expect(asked).toEqual([['acme', '42', observation.observed]]);
  });

  it('are found without earlier lists', async () => {
    const { changes } = await changesNow(['Kept', 'Old'], null);
    expect(changes).toMatchObject([{ change: 'appeared', name: 'Old' }]);
  });

  it('are unknown when the plan itself is not at hand, and then the lists are not read', async () => {
    const { changes, asked } = await changesNow([], ['Kept'], false);
    expect([changes, asked]).toEqual([[], []]);
  });

  it('are at most a thousand, and a last one counts the rest', async () => {
    const names = (count: number) => ['Kept', ...Array.from({ length: count }, (_, index) => `Old ${index}`)];
    expect((await changesNow(names(1000), ['Kept'])).changes).toHaveLength(1000);
    const { changes } = await changesNow(names(1002), ['Kept']);
    expect(changes).toHaveLength(1001);
    expect(changes.at(-2)).toMatchObject({ change: 'appeared' });
    expect(changes.at(-1)).toEqual({
      code: 'changed_since_plan',
      message: '… and 2 more changes; run `rolecall plan acme` to see the present plan',
    });
  });
});
