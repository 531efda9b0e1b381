// Random stories of several replicas: what each does, what operators request, and what time does to their leases.
import fc from 'fast-check';

export const ACCOUNTS = ['a', 'b', 'c', 'd'] as const;
export type Account = (typeof ACCOUNTS)[number];
/** Places for processes; one that ends makes room for another. */
export const PLACES = [0, 1, 2] as const;
export type Place = (typeof PLACES)[number];

export interface AccountPart {
  /** Ticks every so many minutes. */
  readonly minutes: 1 | 5;
  readonly lane: 'eu' | 'us';
  readonly isBroken: boolean;
  readonly version: number;
}

/** The accounts of a configuration. */
export type Commit = Partial<Readonly<Record<Account, AccountPart>>>;

export type Step =
  | { readonly type: 'pass'; readonly ms: number }
  | { readonly type: 'register' | 'beat' | 'die' | 'retire'; readonly place: Place }
  | { readonly type: 'reap' }
  /** `commit` is a place in the line of commits; `edit` is what its files were replaced by; without git they have no commit. */
  | {
      readonly type: 'reload';
      readonly place: Place;
      readonly commit: number;
      readonly edit: number | null;
      readonly hasGit: boolean;
    }
  /** `isLost`: its answer never comes. */
  | {
      readonly type: 'claim';
      readonly place: Place;
      readonly room: number;
      readonly most: number;
      readonly isLost: boolean;
    }
  | { readonly type: 'releaseOthers'; readonly place: Place }
  /** Of the turns that were claimed and not given back, by any process that has not ended. */
  | {
      readonly type: 'end' | 'later' | 'interrupt' | 'locked' | 'check';
      readonly turn: number;
      readonly failures: number;
    }
  | { readonly type: 'sync' | 'resume'; readonly account: Account }
  | { readonly type: 'approve'; readonly account: Account; readonly approval: number }
  | { readonly type: 'startAll' };

export interface Script {
  readonly contents: readonly Commit[];
  /** The content of each commit of one line of history; a content that returns is a revert. */
  readonly line: readonly number[];
  readonly steps: readonly Step[];
}

const account = fc.constantFrom(...ACCOUNTS);
const place = fc.constantFrom(...PLACES);

const part: fc.Arbitrary<AccountPart> = fc.record({
  minutes: fc.constantFrom(1, 5),
  lane: fc.constantFrom('eu', 'us'),
  isBroken: fc.constantFrom(false, false, false, true),
  version: fc.nat({ max: 1 }),
});

const commit: fc.Arbitrary<Commit> = fc.record(
  { a: part, b: part, c: part, d: part },
  { requiredKeys: ['a'] },
);

const MINUTE = 60_000;
const LATEST = 3;
const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      type: fc.constant('pass' as const),
      ms: fc.constantFrom(1000, 20_000, MINUTE, MINUTE, 4 * MINUTE),
    }),
  },
  { weight: 3, arbitrary: fc.record({ type: fc.constant('register' as const), place }) },
  { weight: 3, arbitrary: fc.record({ type: fc.constant('beat' as const), place }) },
  {
    weight: 3,
    arbitrary: fc.record({
      type: fc.constantFrom('die' as const, 'retire' as const),
      place,
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      type: fc.constant('reload' as const),
      place,
      commit: fc.nat({ max: LATEST }),
      edit: fc.constantFrom(null, null, null, 0, 1, 2),
      hasGit: fc.constantFrom(true, true, true, false),
    }),
  },
  {
    weight: 7,
    arbitrary: fc.record({
      type: fc.constant('claim' as const),
      place,
      room: fc.integer({ min: 1, max: 3 }),
      most: fc.integer({ min: 1, max: 4 }),
      isLost: fc.constantFrom(false, false, false, true),
    }),
  },
  { weight: 1, arbitrary: fc.record({ type: fc.constant('releaseOthers' as const), place }) },
  {
    weight: 7,
    arbitrary: fc.record({
      type: fc.constantFrom(
        'end' as const,
        'end' as const,
        'later' as const,
        'interrupt' as const,
        'locked' as const,
        'check' as const,
      ),
      turn: fc.nat({ max: 3 }),
      failures: fc.constantFrom(0, 0, 3),
    }),
  },
  { weight: 3, arbitrary: fc.record({ type: fc.constantFrom('sync' as const, 'resume' as const), account }) },
  {
    weight: 2,
    arbitrary: fc.record({ type: fc.constant('approve' as const), account, approval: fc.nat({ max: 1 }) }),
  },
  { weight: 1, arbitrary: fc.constant({ type: 'startAll' as const }) },
  { weight: 2, arbitrary: fc.constant({ type: 'reap' as const }) },
);

/** Stories begin with two replicas that know the first commit, and with the first runs of one of them. */
export const scripts: fc.Arbitrary<Script> = fc.record({
  contents: fc.array(commit, { minLength: 3, maxLength: 3 }),
  line: fc.constantFrom([0, 1, 0, 2], [0, 1, 2, 1], [0, 1, 2, 2]),
  steps: fc
    .array(step, { minLength: 8, maxLength: 30 })
    .map((steps): Step[] => [
      { type: 'register', place: 0 },
      { type: 'register', place: 1 },
      { type: 'reload', place: 0, commit: 0, edit: null, hasGit: true },
      { type: 'reload', place: 1, commit: 0, edit: null, hasGit: true },
      { type: 'pass', ms: MINUTE },
      { type: 'claim', place: 0, room: 1, most: 4, isLost: false },
      ...steps,
    ]),
});
