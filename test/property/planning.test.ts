// Properties of every plan, for any file and any lists.
import fc from 'fast-check';
import '../support/seed.ts';
import { describe, expect, it } from 'vitest';
import type {
  AllowedDelete,
  DesiredCatalog,
  DesiredEntry,
  Entry,
  Kind,
  ObservedCatalog,
  Policy,
} from '../../src/core/catalog.ts';
import { KINDS } from '../../src/core/catalog.ts';
import { diffKind, missingDesiredNames } from '../../src/core/diff.ts';
import type { History } from '../../src/core/history.ts';
import { anythingMissing, baselineOf, mergeReadings } from '../../src/core/list-plausibility.ts';
import { unknownHolders } from '../../src/core/unknown-holders.ts';
import { globMatcher, nameKey, nearKey } from '../../src/core/names.ts';
import type { Operation, Plan } from '../../src/core/plan.ts';
import { findingsOf, recheckDelete } from '../../src/core/recheck.ts';
import type { EntryKey } from '../../src/core/usage.ts';
import type { Case } from '../unit/core/builders.ts';
import {
  entry,
  deletesAgo,
  HISTORY,
  observed,
  person,
  plan,
  POLICY,
  UNLIMITED,
} from '../unit/core/builders.ts';
import { times } from '../support/thorough.ts';

fc.configureGlobal({ numRuns: times(60, 250), ...fc.readConfigureGlobal() });

/** Few names, many of them near or equal in another form, so that collisions are frequent. */
const NAMES = [
  'a',
  'A',
  'a ',
  'á',
  'a\u0301',
  'b',
  'B',
  'ß',
  'SS',
  'ﬁ',
  'fi',
  'Design',
  'design',
  'C++',
  '\u{1f600}',
  '\uffee',
];
const name = fc.constantFrom(...NAMES);
const kind = fc.constantFrom(...KINDS);

const desiredList: fc.Arbitrary<DesiredEntry[]> = fc
  .uniqueArray(name.map(nameKey), { maxLength: 8 })
  .chain((names) =>
    fc
      .array(fc.uniqueArray(name.map(nameKey), { maxLength: 2 }), {
        minLength: names.length,
        maxLength: names.length,
      })
      .map((formers) =>
        names.map((each, index) => ({
          name: each,
          // A desired name is never a former one: the configuration does not allow that.
          formerly: (formers[index] ?? []).filter((former) => !names.includes(former)),
        })),
      ),
  );

const entryList: fc.Arbitrary<Entry[]> = fc
  .array(
    fc.record({
      name,
      createDate: fc.option(fc.constantFrom('2020-01-01', '2021-01-01'), { nil: undefined }),
    }),
    {
      maxLength: 14,
    },
  )
  .map((items) => items.map((item, index) => entry(item.name, `id${String(index)}`, item.createDate)));

const allowances: fc.Arbitrary<AllowedDelete[]> = fc.array(
  fc.record({ kind, name: name.map(nameKey), expires: fc.constant('2999-12-31') }),
  { maxLength: 3 },
);

const desiredCatalog: fc.Arbitrary<DesiredCatalog> = fc.record(
  { skill: desiredList, role: desiredList, allowedDeletes: allowances },
  { requiredKeys: ['allowedDeletes'] },
);

const observedCatalog: fc.Arbitrary<ObservedCatalog> = fc
  .record({ skill: entryList, role: entryList })
  .chain(({ skill, role }) => {
    const ids = (entries: readonly Entry[]) => [...entries.map(({ id }) => id), 'unknown'];
    const resource = fc.record({
      skillsIds: fc.option(fc.uniqueArray(fc.constantFrom(...ids(skill)), { maxLength: 4 }), {
        nil: undefined,
      }),
      roleId: fc.option(fc.constantFrom(...ids(role)), { nil: null }),
    });
    return fc.array(resource, { maxLength: 5 }).map((people) =>
      observed({
        skill,
        role,
        resources: people.map((each, index) => person(`p${String(index)}`, each.skillsIds, each.roleId)),
      }),
    );
  });

const policy: fc.Arbitrary<Policy> = fc.record({
  delete: fc.constantFrom('never', 'unused', 'always'),
  ownership: fc.constantFrom('all', 'managed'),
  maxDeletes: fc.integer({ min: 0, max: 6 }),
  maxDeletePercent: fc.integer({ min: 0, max: 100 }),
  allowNoPeople: fc.boolean(),
  protect: fc.array(fc.constantFrom('A*', '?', 'Design', '\\a'), { maxLength: 2 }),
  duplicates: fc.constantFrom('report', 'remove-unused'),
  unusedForMs: fc.constantFrom(0, 0, 1000),
  freeze: fc.constant([]),
});

const history: fc.Arbitrary<Case['history']> = fc.record(
  { recentDeletesMs: fc.integer({ min: 0, max: 4 }).map(deletesAgo) },
  { requiredKeys: [] },
);

function planOf(
  desired: DesiredCatalog,
  lists: ObservedCatalog,
  rules: Policy = POLICY,
  known: Case['history'] = {},
): Plan {
  const history = { ...HISTORY, ...known };
  const input = { desired, policy: rules, observed: lists, history };
  return plan({ input: { ...input, unknownHolders: unknownHolders(lists.resources) } });
}

/** The lists of the service after the operations. */
function listsAfter(lists: ObservedCatalog, operations: readonly Operation[]): ObservedCatalog {
  const gone = (of: Kind) =>
    new Set(
      operations.filter((each) => each.action === 'delete' && each.kind === of).map((each) => each.remoteId),
    );
  const made = (of: Kind) =>
    operations
      .filter((each) => each.action === 'create' && each.kind === of)
      .map((each, index) => entry(each.name, `new-${of}-${String(index)}`));
  const after = (of: Kind) => [...lists[of].filter(({ id }) => !gone(of).has(id)), ...made(of)];
  return observed({
    skill: after('skill'),
    role: after('role'),
    resources: lists.resources.map(({ id, skillsIds, roleId }) =>
      person(
        id,
        skillsIds?.filter((each) => !gone('skill').has(each)),
        typeof roleId === 'string' && gone('role').has(roleId) ? null : roleId,
      ),
    ),
  });
}

const keysOf = (entries: readonly { readonly name: string }[]) =>
  new Set(entries.map((each) => nameKey(each.name)));
const sorted = (keys: ReadonlySet<string>) => [...keys].toSorted();

describe('a plan without holds', () => {
  it('leads to exactly the desired names, and the next plan is empty', () => {
    fc.assert(
      fc.property(desiredCatalog, observedCatalog, (desired, lists) => {
        // Deletes are held only for people who have the entry, so nobody has one here.
        const nobody = { ...lists, resources: [] };
        const rules = { ...UNLIMITED, duplicates: 'remove-unused' } as const;
        const made = planOf(desired, nobody, rules);
        const after = listsAfter(nobody, made.operations);
        for (const each of KINDS) {
          const wantedHere = desired[each];
          if (wantedHere === undefined) expect(after[each]).toEqual(lists[each]);
          else {
            expect(sorted(keysOf(after[each]))).toEqual(sorted(keysOf(wantedHere)));
            expect(after[each]).toHaveLength(wantedHere.length);
          }
        }
        const again = planOf(desired, after, rules);
        expect([again.operations, again.held, again.leftAlone]).toEqual([[], [], []]);
      }),
    );
  });
});

describe('every plan', () => {
  it('is empty when the lists already match the file', () => {
    fc.assert(
      fc.property(desiredCatalog, policy, (desired, rules) => {
        const listed = (of: Kind) =>
          (desired[of] ?? []).map((each, index) => entry(each.name, `${of}${String(index)}`));
        const made = planOf(desired, observed({ skill: listed('skill'), role: listed('role') }), rules);
        expect([made.operations, made.held, made.leftAlone]).toEqual([[], [], []]);
      }),
    );
  });

  it('is the same byte for byte, in whatever order the service lists the entries', () => {
    const shuffledToo = observedCatalog.chain((lists) =>
      fc.record({
        lists: fc.constant(lists),
        shuffled: fc.record({
          skill: fc.shuffledSubarray([...lists.skill], { minLength: lists.skill.length }),
          role: fc.shuffledSubarray([...lists.role], { minLength: lists.role.length }),
          resources: fc.shuffledSubarray([...lists.resources], { minLength: lists.resources.length }),
        }),
      }),
    );
    fc.assert(
      fc.property(desiredCatalog, shuffledToo, policy, (desired, { lists, shuffled }, rules) => {
        const reordered = {
          ...shuffled,
          resources: shuffled.resources.map((each) => ({
            ...each,
            ...(each.skillsIds === undefined ? {} : { skillsIds: each.skillsIds.toReversed() }),
          })),
          warnings: [],
        };
        expect(JSON.stringify(planOf(desired, reordered, rules))).toBe(
          JSON.stringify(planOf(desired, lists, rules)),
        );
      }),
    );
  });

  it('keeps an entry for every desired name and does not touch a kind that the file omits', () => {
    fc.assert(
      fc.property(desiredCatalog, observedCatalog, policy, history, (desired, lists, rules, known) => {
        const made = planOf(desired, lists, rules, known);
        const after = listsAfter(lists, made.operations);
        for (const each of KINDS) {
          const lost = sorted(keysOf(lists[each])).filter((key) => !keysOf(after[each]).has(key));
          expect(lost.filter((key) => keysOf(desired[each] ?? []).has(key))).toEqual([]);
          if (desired[each] === undefined) expect(after[each]).toEqual(lists[each]);
        }
        const managed = KINDS.filter((each) => desired[each] !== undefined);
        const named = [...made.operations, ...made.held, ...made.leftAlone];
        expect(named.filter((each) => !managed.includes(each.kind))).toEqual([]);
      }),
    );
  });

  it('deletes entries that people have only with `delete: always` or an allowance', () => {
    fc.assert(
      fc.property(desiredCatalog, observedCatalog, policy, (desired, lists, rules) => {
        for (const { action, kind: of, name: gone, usedBy = [], remoteId = '' } of planOf(
          desired,
          lists,
          rules,
        ).operations) {
          if (action === 'create') continue;
          const holders = lists.resources
            .filter((each) =>
              of === 'skill' ? each.skillsIds?.includes(remoteId) : each.roleId === remoteId,
            )
            .map(({ id }) => id);
          expect(usedBy).toEqual(holders.toSorted());
          const allowed = desired.allowedDeletes.some(
            (allowance) =>
              'name' in allowance && allowance.kind === of && nameKey(allowance.name) === nameKey(gone),
          );
          if (holders.length > 0 && !allowed) expect(rules.delete).toBe('always');
          expect(rules.delete).not.toBe('never');
        }
      }),
    );
  });

  it('never deletes an entry that people have and whose name is near a desired one, unless it is allowed', () => {
    fc.assert(
      fc.property(desiredCatalog, observedCatalog, (desired, lists) => {
        const notAllowed = { ...desired, allowedDeletes: [] };
        for (const each of planOf(notAllowed, lists, UNLIMITED).operations) {
          if (each.action === 'create' || (each.usedBy ?? []).length === 0) continue;
          const near = (desired[each.kind] ?? []).filter(
            (wanted) => nearKey(wanted.name) === nearKey(each.name),
          );
          expect(near).toEqual([]);
        }
      }),
    );
  });

  it('never deletes what a glob protects', () => {
    fc.assert(
      fc.property(desiredCatalog, observedCatalog, policy, (desired, lists, rules) => {
        const matchers = rules.protect.map(globMatcher);
        const deleted = planOf(desired, lists, rules).operations.filter(({ action }) => action === 'delete');
        expect(deleted.filter((each) => matchers.some((matches) => matches(each.name)))).toEqual([]);
      }),
    );
  });

  it('stays within every limit, and deletes nothing of a kind that exceeds one', () => {
    fc.assert(
      fc.property(desiredCatalog, observedCatalog, policy, history, (desired, lists, rules, known) => {
        const made = planOf(desired, lists, rules, known);
        const deletes = made.operations.filter(({ action }) => action === 'delete');
        if (deletes.length > 0) {
          const recent = known?.recentDeletesMs?.length ?? 0;
          expect(deletes.length + recent).toBeLessThanOrEqual(rules.maxDeletes);
        }
        for (const each of KINDS) {
          const ofKind = deletes.filter((operation) => operation.kind === each).length;
          if (lists[each].length >= 10)
            expect(ofKind * 100).toBeLessThanOrEqual(rules.maxDeletePercent * lists[each].length);
        }
        // `maxDeletes` counts both kinds, `maxDeletePercent` one.
        const overLimit = new Set(
          made.held.filter(({ rules: by }) => by.includes('too_many')).map((held) => held.kind),
        );
        expect(deletes.filter((operation) => overLimit.has(operation.kind))).toEqual([]);
      }),
    );
  });

  it('has a summary that matches its lists, and contains every extra entry exactly once', () => {
    fc.assert(
      fc.property(desiredCatalog, observedCatalog, policy, history, (desired, lists, rules, known) => {
        const made = planOf(desired, lists, rules, known);
        const of = (action: string) => made.operations.filter((each) => each.action === action).length;
        const wanted = KINDS.flatMap((each) => desired[each] ?? []).length;
        const heldCreates = made.held.filter(({ action }) => action === 'create').length;
        expect(made.summary).toEqual({
          create: of('create'),
          delete: of('delete'),
          hold: made.held.length,
          keep: wanted - of('create') - heldCreates,
          leave: made.leftAlone.length,
        });
        const allNamed = [...made.operations, ...made.held, ...made.leftAlone].flatMap((each) =>
          typeof each.remoteId === 'string' ? [`${each.kind}:${each.remoteId}`] : [],
        );
        expect(new Set(allNamed).size).toBe(allNamed.length);
        const managed = KINDS.flatMap((each) => (desired[each] === undefined ? [] : lists[each]));
        expect(allNamed.length + made.summary.keep).toBe(managed.length);
      }),
    );
  });

  it('gives every held operation a reason, a release and at least one rule', () => {
    fc.assert(
      fc.property(desiredCatalog, observedCatalog, policy, history, (desired, lists, rules, known) => {
        for (const held of planOf(desired, lists, rules, known).held) {
          expect(held.rules.length).toBeGreaterThan(0);
          expect([held.reason, held.release]).not.toContain('');
        }
      }),
    );
  });

  it('sends all creates before the deletes, except for allowed near duplicates that nobody has', () => {
    fc.assert(
      fc.property(desiredCatalog, observedCatalog, (desired, lists) => {
        const { operations } = planOf(desired, lists, UNLIMITED);
        const lastCreate = operations.findLastIndex(({ action }) => action === 'create');
        for (const early of operations
          .slice(0, Math.max(0, lastCreate))
          .filter(({ action }) => action === 'delete')) {
          expect(early.usedBy).toEqual([]);
          const allowed = desired.allowedDeletes.some(
            (each) =>
              'name' in each && each.kind === early.kind && nameKey(each.name) === nameKey(early.name),
          );
          expect(allowed).toBe(true);
        }
      }),
    );
  });
});

describe('the missing names', () => {
  it('are those of the complete comparison, in its order', () => {
    const someIds = fc.subarray(['skill:id0', 'skill:id1', 'role:id0', 'role:id2'] as EntryKey[]);
    const awaited = fc.array(fc.record({ kind, name, remoteId: fc.constant('new') }), { maxLength: 3 });
    fc.assert(
      fc.property(
        desiredCatalog,
        observedCatalog,
        fc.record({ gone: someIds, awaited, renamed: someIds, requested: name }),
        fc.array(fc.array(name, { maxLength: 2 }), { maxLength: 14 }),
        (desired, listed, facts, others) => {
          const named = (each: Entry, index: number): Entry => ({ ...each, otherNames: others[index] ?? [] });
          const lists = { ...listed, skill: listed.skill.map(named) };
          const known: History = {
            ...HISTORY,
            gone: new Set(facts.gone),
            awaited: facts.awaited,
            requestedNames: new Map(facts.renamed.map((key) => [key, facts.requested])),
          };
          const complete = KINDS.flatMap((each) =>
            diffKind(each, desired[each] ?? [], {
              observed: lists,
              usage: new Map(),
              history: known,
            }).missing.map((missing) => ({ kind: each, name: missing })),
          );
          expect(missingDesiredNames(desired, lists, known)).toEqual(complete);
        },
      ),
    );
  });
});

describe('names that one of two readings garbles, with the ids as before', () => {
  const garbles: readonly ((name: string) => string)[] = [
    (text) => Buffer.from(text, 'utf8').toString('latin1'),
    (text) => text.toLowerCase(),
    (text) => text.replaceAll(/[^ -~]/gu, '?'),
  ];
  const text = ({ action, kind: of, remoteId, name: called }: Operation) =>
    [action, of, remoteId ?? called].join(' ');
  const NOTHING_DONE = {
    answeredFor: undefined,
    wasUsedBefore: false,
    hasExpired: false,
    pendingCreates: new Set<string>(),
  };

  it('are read again, and lead to no create and no delete that the right names do not lead to', () => {
    fc.assert(
      fc.property(
        desiredCatalog,
        observedCatalog,
        policy,
        fc.constantFrom(...garbles),
        fc.boolean(),
        fc.boolean(),
        (desired, lists, { delete: mode, ownership, duplicates, protect }, garble, isFirst, isKnown) => {
          // A limit counts deletes, and an entry that has a desired name once is one less.
          const rules: Policy = { ...UNLIMITED, delete: mode, ownership, duplicates, protect };
          const garbled = (entries: readonly Entry[]) =>
            entries.map((each) => ({ ...each, name: garble(each.name) }));
          const wrong = { ...lists, skill: garbled(lists.skill), role: garbled(lists.role) };
          const [first, second] = isFirst ? [wrong, lists] : [lists, wrong];
          const known = baselineOf(lists, new Set());
          const isWrong = KINDS.some((each) =>
            lists[each].some((one) => nameKey(garble(one.name)) !== nameKey(one.name)),
          );
          expect(anythingMissing(known, wrong)).toBe(isWrong);
          const merged = mergeReadings(first, second, isKnown ? known : null);
          const right = new Set(planOf(desired, lists, rules).operations.map(text));
          const planned = baselineOf(merged, new Set());
          const findings = findingsOf(desired, lists, { history: HISTORY, planned });
          for (const operation of planOf(desired, merged, rules).operations) {
            if (right.has(text(operation))) continue;
            // Both names are planned, and the lists before the delete show one of them.
            expect(operation.action).toBe('delete');
            expect(recheckDelete(operation, findings, { ...NOTHING_DONE, policy: rules })).not.toBeNull();
          }
        },
      ),
    );
  });
});
