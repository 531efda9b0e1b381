// The difference between two catalogs is complete: it is empty only for equal ones, and turns one into the other.
import fc from 'fast-check';
import '../support/seed.ts';
import { describe, expect, it } from 'vitest';
import { type Kind, type Resource, KINDS } from '../../src/core/catalog.ts';
import { catalogDifference, type Lists } from '../../src/core/catalog-difference.ts';
import { entry } from '../unit/core/builders.ts';

const id = fc.constantFrom('a', 'b', 'c', 'd');
const entries = fc
  .uniqueArray(fc.record({ id, name: fc.constantFrom('Go', 'go', 'Rust', '') }), {
    selector: (each) => each.id,
  })
  .map((list) => list.map((each) => entry(each.name, each.id)));
const resource = fc
  .record(
    {
      id,
      skillsIds: fc.uniqueArray(id),
      roleId: fc.option(id),
      dailyCapacity: fc.constantFrom(4, 8),
      workingDays: fc.subarray([0, 1, 2, 3]),
    },
    { requiredKeys: ['id'] },
  )
  .map(({ id: own, ...fields }): Resource => ({ id: own, ...fields, raw: { _id: own, ...fields } }));
const lists: fc.Arbitrary<Lists> = fc.record({
  skill: entries,
  role: entries,
  resources: fc.uniqueArray(resource, { selector: (each) => each.id }),
});

/** What a difference can show of lists: no more and no less. */
function facts({ resources, ...byKind }: Lists) {
  return {
    entries: KINDS.flatMap((kind: Kind) =>
      byKind[kind].map((each) => `${kind} ${each.id} ${each.name}`),
    ).toSorted(),
    people: Object.fromEntries(
      resources.map((each) => [
        each.id,
        {
          skills: [...(each.skillsIds ?? [])].toSorted(),
          role: each.roleId ?? null,
          dailyCapacity: each.raw['dailyCapacity'] ?? null,
          workingDays: each.raw['workingDays'] ?? null,
        },
      ]),
    ),
  };
}

/** The facts of the earlier lists after every change. */
function applied(difference: ReturnType<typeof catalogDifference>, before: Lists): ReturnType<typeof facts> {
  const from = facts(before);
  const shown = new Set(from.entries);
  for (const { change, kind, id: of, name, formerName } of difference.entries) {
    if (change !== 'created') expect(shown.delete(`${kind} ${of} ${formerName ?? name}`)).toBe(true);
    if (change !== 'deleted') shown.add(`${kind} ${of} ${name}`);
  }
  const people = { ...from.people };
  for (const { change, id: of, skills, role, dailyCapacity, workingDays } of difference.people) {
    const had = people[of] ?? { skills: [], role: null, dailyCapacity: null, workingDays: null };
    expect([change, of in people]).toEqual([change, change !== 'added']);
    const lost = new Set(skills?.lost.map((each) => each.id));
    people[of] = {
      skills: [
        ...had.skills.filter((each) => !lost.has(each)),
        ...(skills?.gained ?? []).map((each) => each.id),
      ].toSorted(),
      role: role === undefined ? had.role : (role.after?.id ?? null),
      dailyCapacity: dailyCapacity === undefined ? had.dailyCapacity : dailyCapacity.after,
      workingDays: workingDays === undefined ? had.workingDays : workingDays.after,
    };
    if (change === 'gone') delete people[of];
  }
  return { entries: [...shown].toSorted(), people };
}

describe('the difference between two catalogs', () => {
  it('is empty for equal ones, whatever their order', () => {
    fc.assert(
      fc.property(lists, (of) => {
        const reversed = {
          skill: of.skill.toReversed(),
          role: of.role.toReversed(),
          resources: of.resources.toReversed(),
        };
        expect(catalogDifference(of, reversed)).toEqual({ entries: [], people: [] });
      }),
    );
  });

  it('turns the earlier one into the later one', () => {
    fc.assert(
      fc.property(lists, lists, (before, after) => {
        expect(applied(catalogDifference(before, after), before)).toEqual(facts(after));
      }),
    );
  });
});
