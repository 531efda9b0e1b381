// Random scripts with few names, which are near or equal in another form so that they collide, and with many faults.
import fc from 'fast-check';
import type { FaultAction } from '../../../src/sandbox/sandbox.ts';
import { nameKey } from '../../../src/core/names.ts';
import type { Edit, RunStep, Script, Seed, ServiceTraits, Step, Trouble, Wish } from './script.ts';
import { PLAIN_RUN } from './script.ts';

/** Near names, duplicates in NFC and NFD, names that YAML reads as other types, and names that break programs. */
const NAMES = [
  'Go', 'go', 'GO', 'Perl', 'perl', 'Kubernetes', 'K8s', 'C', 'C++', 'C#', 'Rust', 'Java', 'SQL', 'Vue', 'Figma',
  'Café', 'Cafe\u0301', 'Cafe', 'ﬁnance', 'finance', 'Straße', 'STRASSE', 'İstanbul', 'データ分析', '데이터', '한국어',
  '👩‍💻', 'مهندس', 'true', '1.0', '012', 'null', '~', 'no', '__proto__', 'constructor', 'a\u200bb', 'ab', '../x', '50%',
  '<b>', 'x'.repeat(60),
]; // prettier-ignore
const name = fc.constantFrom(...NAMES);
const observedName = fc.oneof(
  { weight: 9, arbitrary: name },
  { weight: 1, arbitrary: fc.constantFrom('Go ', ' Go', 'Go\u00a0', 'K 8 s', 'tab\there') },
);
const kind = fc.constantFrom('skill' as const, 'role' as const);
const index = fc.nat(30);
const often = <T>(value: T, other: fc.Arbitrary<T>): fc.Arbitrary<T> =>
  fc.oneof({ weight: 3, arbitrary: fc.constant(value) }, { weight: 1, arbitrary: other });

const service: fc.Arbitrary<ServiceTraits> = fc.record(
  {
    createStatus: fc.constantFrom(200 as const, 201 as const),
    uniqueNames: often<false | 'exact' | 'caseless'>(false, fc.constantFrom('exact', 'caseless')),
    trimNames: fc.boolean(),
    caseNames: often<'keep' | 'lower'>('keep', fc.constant('lower')),
    normaliseNames: often<'keep' | 'NFC' | 'NFD' | 'NFKC'>('keep', fc.constantFrom('NFC', 'NFD', 'NFKC')),
    unknownIdStatus: fc.constantFrom(200 as const, 404 as const, 410 as const, 422 as const, 500 as const),
    listDelayMs: often(0, fc.constantFrom(500, 5000, 20_000, 60_000)),
    timestampsWithZone: fc.boolean(),
    omitOptionalFields: often(false, fc.boolean()),
    listOrder: fc.constantFrom('insertion' as const, 'shuffled' as const),
  },
  { requiredKeys: [] },
);

const seed: fc.Arbitrary<Seed> = fc.record({
  skills: fc.array(observedName, { maxLength: 14 }),
  roles: fc.array(observedName, { maxLength: 6 }),
  people: fc.array(
    fc.record({
      skills: fc.uniqueArray(index, { maxLength: 4 }),
      role: fc.option(index, { nil: null }),
    }),
    { maxLength: 12 },
  ),
});

function wishedList(): fc.Arbitrary<{ name: string; formerly?: string[] }[]> {
  return fc
    .uniqueArray(name.map(nameKey), { maxLength: 10 })
    .chain((names) =>
      fc.tuple(
        fc.constant(names),
        fc.array(often<string | null>(null, name.map(nameKey)), {
          minLength: names.length,
          maxLength: names.length,
        }),
      ),
    )
    .map(([names, formers]) => {
      const taken = new Set(names);
      return names.map((each, at) => {
        const former = formers[at] ?? null;
        // A former name must not be another desired or former name, because the configuration refuses that.
        if (former === null || taken.has(former)) return { name: each };
        taken.add(former);
        return { name: each, formerly: [former] };
      });
    });
}

const policy: fc.Arbitrary<Wish['policy']> = fc.record({
  delete: fc.constantFrom('never', 'unused', 'unused', 'always'),
  ownership: often<'all' | 'managed'>('all', fc.constant('managed')),
  maxDeletes: often(50, fc.nat(6)),
  maxDeletePercent: often(100, fc.constantFrom(0, 20, 50)),
  protect: often<string[]>([], fc.array(fc.constantFrom('G*', '?', 'Perl', 'C*', '*e*'), { maxLength: 2 })),
  duplicates: fc.constantFrom('report', 'remove-unused'),
  frozen: often(false, often(false, fc.constant(true))),
  allowNoPeople: fc.boolean(),
  unusedForMs: fc.constantFrom(0, 86_400_000),
});

const wish: fc.Arbitrary<Wish> = fc
  .record(
    {
      skills: wishedList(),
      roles: wishedList(),
      allowed: fc.array(fc.record({ kind, name: name.map(nameKey) }), { maxLength: 4 }),
      policy,
    },
    { requiredKeys: ['allowed', 'policy'] },
  )
  .map((each) => {
    // An allowed delete of a desired or former name is refused by the configuration.
    const named = new Set(
      (['skills', 'roles'] as const).flatMap((of) =>
        (each[of] ?? []).flatMap((entry) =>
          [entry.name, ...(entry.formerly ?? [])].map((one) => `${of}:${one}`),
        ),
      ),
    );
    return { ...each, allowed: each.allowed.filter((one) => !named.has(`${one.kind}s:${one.name}`)) };
  });

const edit: fc.Arbitrary<Edit> = fc.oneof(
  fc.record({ edit: fc.constant('add' as const), kind, name: observedName }),
  fc.record({ edit: fc.constant('remove' as const), kind, entry: index }),
  fc.record({ edit: fc.constant('rename' as const), kind, entry: index, name: observedName }),
  fc.record({
    edit: fc.constantFrom('assign' as const, 'unassign' as const),
    kind,
    person: index,
    entry: index,
  }),
  fc.record({
    edit: fc.constantFrom('assign' as const, 'unassign' as const),
    kind,
    person: index,
    entry: index,
  }),
  fc.record({ edit: fc.constant('hire' as const), skills: fc.uniqueArray(index, { maxLength: 3 }) }),
  fc.record({ edit: fc.constant('leave' as const), person: index }),
);

const status = fc.constantFrom(500, 502, 503, 504, 408, 425);
const retryAfter: fc.Arbitrary<FaultAction> = fc.oneof(
  fc.record({
    type: fc.constant('rate-limit' as const),
    retryAfter: fc.constantFrom(0, 1, 30, 119, 300),
    format: fc.constantFrom('seconds' as const, 'date' as const),
  }),
  fc.constant({ type: 'rate-limit' as const }),
  fc.constant({ type: 'rate-limit' as const, retryAfter: 'soon' }),
);

/** Faults of any request. */
const anyTrouble: fc.Arbitrary<FaultAction> = fc.oneof(
  fc.constant({ type: 'drop-before-effect' as const }),
  fc.constant({ type: 'drop-after-effect' as const }),
  fc.record({ type: fc.constant('latency' as const), ms: fc.constantFrom(200, 2900, 3500, 20_000) }),
  fc.record({ type: fc.constant('status' as const), status: fc.oneof(status, fc.constantFrom(400, 401, 403, 422)) }),
  fc.record({ type: fc.constant('effect-then-status' as const), status }),
  fc.constant({ type: 'html' as const }),
  fc.record({ type: fc.constant('html' as const), status }),
  fc.constant({ type: 'invalid-json' as const }),
  fc.record({ type: fc.constant('cut-body' as const), fraction: fc.constantFrom(0, 0.5, 0.9), silent: fc.boolean() }),
  fc.constant({ type: 'wrong-type' as const }),
  fc.record({ type: fc.constant('wrong-type' as const), field: fc.constantFrom('_id', 'name', 'skillsIds', 'roleId') }),
  fc.constant({ type: 'redirect' as const, to: 'http://127.0.0.1:9/' }),
  fc.constant({ type: 'echo-token' as const }),
  retryAfter,
); // prettier-ignore

const listTrouble: fc.Arbitrary<FaultAction> = fc.oneof(
  fc.constant({ type: 'empty-list' as const }),
  fc.record({ type: fc.constant('partial-list' as const), fraction: fc.constantFrom(0.2, 0.5, 0.9) }),
  fc.constant({ type: 'repeat-ids' as const }),
  fc.record({ type: fc.constant('rename' as const), to: fc.constantFrom('{name}?', 'Go', '?') }),
  fc.constant({ type: 'wrong-account-id' as const, id: 'somebody-else' }),
);

const createTrouble: fc.Arbitrary<FaultAction> = fc.oneof(
  fc.constant({ type: 'no-id' as const }),
  fc.record({ type: fc.constant('delay-effect' as const), ms: fc.constantFrom(100, 4000, 20_000, 34_000) }),
  fc.constant({ type: 'rename' as const, to: '{name} ' }),
  fc.constant({ type: 'wrong-account-id' as const, id: 'somebody-else' }),
);

const trouble: fc.Arbitrary<Trouble> = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.record(
      {
        method: fc.constant('GET' as const),
        of: fc.constantFrom('skill' as const, 'role' as const, 'resource' as const),
        skip: fc.nat(6),
        times: fc.integer({ min: 1, max: 4 }),
        do: fc.oneof(anyTrouble, listTrouble),
      },
      { requiredKeys: ['method', 'skip', 'times', 'do'] },
    ),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      method: fc.constant('POST' as const),
      skip: fc.nat(5),
      times: fc.integer({ min: 1, max: 6 }),
      do: fc.oneof(anyTrouble, createTrouble),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      method: fc.constant('DELETE' as const),
      skip: fc.nat(3),
      times: fc.integer({ min: 1, max: 4 }),
      do: anyTrouble,
    }),
  },
);

const run: fc.Arbitrary<RunStep> = fc.record({
  step: fc.constant('run' as const),
  mode: fc.constantFrom(
    'apply' as const,
    'apply' as const,
    'apply' as const,
    'plan' as const,
    'approve' as const,
  ),
  troubles: fc.array(trouble, { maxLength: 4 }),
  meanwhile: fc.array(fc.record({ at: fc.integer({ min: 1, max: 14 }), edit }), { maxLength: 3 }),
  stopAt: often<number | null>(null, often<number | null>(null, fc.integer({ min: 1, max: 14 }))),
  rivalAt: often<number | null>(null, often<number | null>(null, fc.integer({ min: 1, max: 14 }))),
  acceptShrink: often(false, fc.boolean()),
  acceptNoEvidence: fc.boolean(),
});

const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 6, arbitrary: run },
  { weight: 2, arbitrary: wish.map((each) => ({ step: 'configure' as const, wish: each })) },
  { weight: 3, arbitrary: edit.map((each) => ({ step: 'edit' as const, edit: each })) },
  { weight: 1, arbitrary: fc.constant({ step: 'approve' as const }) },
  {
    weight: 1,
    arbitrary: fc
      .constantFrom(1000, 30_000, 60_000, 150_000, 3_600_000, 90_000_000)
      .map((ms) => ({ step: 'wait' as const, ms })),
  },
);

export const scripts: fc.Arbitrary<Script> = fc.record({
  service,
  seed,
  pinned: fc.boolean(),
  concurrency: fc.constantFrom(1, 4),
  retries: fc.constantFrom(0, 2, 4),
  steps: fc
    .tuple(wish, often<RunStep>(PLAIN_RUN, run), fc.array(step, { minLength: 1, maxLength: 10 }))
    .map(([first, start, rest]): Step[] => [{ step: 'configure', wish: first }, start, ...rest]),
});
