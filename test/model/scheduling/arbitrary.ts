// Random scripts: ordinary days, and moments in which much happens at once.
import fc from 'fast-check';
import type { AccountName, AccountPart, Mood, Script, ServicePart, Step } from './script.ts';
import { ACCOUNTS, NAMES } from './script.ts';
import { CHANGES, LINES, ZONES } from './times.ts';

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

const account = fc.constantFrom<AccountName>(...ACCOUNTS);

const schedule = fc.oneof(
  { weight: 3, arbitrary: fc.constantFrom('*/5 * * * *', '*/15 * * * *') },
  { weight: 2, arbitrary: fc.constantFrom(...LINES) },
);

const accountPart: fc.Arbitrary<AccountPart> = fc.record({
  mode: fc.constantFrom<AccountPart['mode']>('apply', 'approve', 'plan'),
  schedule,
  timezone: fc.constantFrom(...ZONES),
  jitterMs: fc.constantFrom(0, 5 * SECOND, 30 * SECOND, 10 * MINUTE),
  lane: fc.constantFrom<0 | 1>(0, 1),
  skills: fc.subarray([...NAMES]),
  delete: fc.constantFrom<AccountPart['delete']>('unused', 'always'),
});

const service: fc.Arbitrary<ServicePart> = fc.record({
  maxRuns: fc.constantFrom(8, 1, 2, 3),
  runOnStart: fc.boolean(),
  graceMs: fc.constantFrom(20 * SECOND, 0, 3 * SECOND),
});

const mood: fc.Arbitrary<Mood> = fc.record({
  latencyMs: fc.constantFrom(0, 200, 5 * SECOND, 40 * SECOND, 3 * MINUTE),
  fault: fc.constantFrom<Mood['fault']>('none', 'none', 'down', 'refused', 'creates', 'throttled'),
  retryAfterMs: fc.constantFrom(3 * MINUTE, 30 * MINUTE, 3 * HOUR),
});

const time = fc.oneof(
  { weight: 3, arbitrary: fc.constantFrom(SECOND, 4 * SECOND, 20 * SECOND, MINUTE, 6 * MINUTE) },
  { weight: 2, arbitrary: fc.constantFrom(16 * MINUTE, 35 * MINUTE, HOUR, 3 * HOUR) },
  { weight: 1, arbitrary: fc.constantFrom(13 * HOUR, 25 * HOUR, 3 * DAY) },
  { weight: 1, arbitrary: fc.integer({ min: 1, max: 10 * MINUTE }) },
);

const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 12, arbitrary: time.map((ms): Step => ({ type: 'pass', ms })) },
  {
    weight: 8,
    arbitrary: fc.record({
      type: fc.constant('toTick' as const),
      account,
      offMs: fc.constantFrom(-400, 0, 10, 2 * SECOND, 40 * SECOND),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      type: fc.constant('setClock' as const),
      byMs: fc.constantFrom(
        1500,
        -1500,
        45 * SECOND,
        -45 * SECOND,
        20 * MINUTE,
        -20 * MINUTE,
        HOUR,
        -HOUR,
        DAY,
        -DAY,
      ),
    }),
  },
  {
    weight: 6,
    arbitrary: fc.record({
      type: fc.constant('edit' as const),
      account,
      to: fc.oneof(
        { weight: 3, arbitrary: accountPart.map(({ skills }): Partial<AccountPart> => ({ skills })) },
        { weight: 1, arbitrary: accountPart.map(({ mode }): Partial<AccountPart> => ({ mode })) },
        {
          weight: 1,
          arbitrary: accountPart.map(({ schedule: line, timezone, jitterMs }): Partial<AccountPart> => ({
            schedule: line,
            timezone,
            jitterMs,
          })),
        },
        { weight: 1, arbitrary: accountPart },
      ),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({ type: fc.constant('break' as const), account: fc.option(account, { freq: 4 }) }),
  },
  {
    weight: 3,
    arbitrary: fc.record({ type: fc.constant('mend' as const), account: fc.option(account, { freq: 2 }) }),
  },
  { weight: 1, arbitrary: account.map((name): Step => ({ type: 'remove', account: name })) },
  { weight: 1, arbitrary: fc.record({ type: fc.constant('rename' as const), account, to: account }) },
  {
    weight: 1,
    arbitrary: fc.record({ type: fc.constant('service' as const), to: service }),
  },
  { weight: 4, arbitrary: fc.constant<Step>({ type: 'reload' }) },
  { weight: 8, arbitrary: fc.record({ type: fc.constant('mood' as const), account, mood }) },
  {
    weight: 5,
    arbitrary: fc.record({
      type: fc.constant('hand' as const),
      account,
      name: fc.constantFrom(...NAMES),
      does: fc.constantFrom('add' as const, 'remove' as const, 'give' as const, 'take' as const),
    }),
  },
  {
    weight: 14,
    arbitrary: fc.record({
      type: fc.constant('word' as const),
      account,
      word: fc.constantFrom(
        'approve' as const,
        'approve' as const,
        'pause' as const,
        'resume' as const,
        'sync' as const,
      ),
      by: fc.constantFrom('daemon' as const, 'desk' as const),
      digest: fc.constantFrom('pending' as const, 'any' as const, 'other' as const),
    }),
  },
  { weight: 2, arbitrary: account.map((name): Step => ({ type: 'foreignApply', account: name })) },
  {
    weight: 2,
    arbitrary: fc.record({
      type: fc.constant('foreignLock' as const),
      account,
      ms: fc.constantFrom(2 * SECOND, MINUTE, 12 * MINUTE),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.constantFrom(500, 10 * SECOND, 40 * SECOND).map((ms): Step => ({ type: 'lockStore', ms })),
  },
  { weight: 1, arbitrary: fc.boolean().map((up): Step => ({ type: 'receiver', up })) },
  { weight: 4, arbitrary: fc.constantFrom<0 | 1>(0, 0, 1).map((daemon): Step => ({ type: 'stop', daemon })) },
  {
    weight: 6,
    arbitrary: fc.constantFrom<0 | 1>(0, 0, 0, 1).map((daemon): Step => ({ type: 'start', daemon })),
  },
);

const startAt = fc
  .tuple(fc.constantFrom(...CHANGES), fc.integer({ min: -36 * 60, max: 60 }))
  .map(([change, awayMinutes]) => new Date(Date.parse(change) + awayMinutes * MINUTE).toISOString());

export const scripts: fc.Arbitrary<Script> = fc.record({
  startAt,
  seed: fc.integer({ min: 1, max: 1_000_000 }),
  service,
  accounts: fc.record(
    { a: accountPart, b: accountPart, c: accountPart, d: accountPart },
    { requiredKeys: ['a'] },
  ),
  steps: fc.array(step, { minLength: 1, maxLength: 30 }),
});
