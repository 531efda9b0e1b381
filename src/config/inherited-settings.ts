// The settings that accounts inherit from `defaults`: their schemas, their defaults, and how policies are merged.
import { z } from 'zod';
import type { FreezeWindow, Policy } from '../core/catalog.ts';
import { RUN_MODES } from '../core/journal.ts';
import type { AccountSettings } from '../core/settings.ts';
import { windowEdge } from './dates-and-schedules.ts';
import { cronLine, duration, moment, nameGlob, timezone, setting } from './field-formats.ts';

/** The settings of an account that neither its file nor `defaults` sets. */
export const ACCOUNT_DEFAULTS = {
  schedule: '*/15 * * * *',
  timezone: 'Etc/UTC',
  mode: 'plan',
} as const satisfies Partial<AccountSettings>;

/** The policy when neither the service file nor the account file sets it. */
const POLICY_DEFAULTS: Policy = {
  delete: 'unused',
  ownership: 'all',
  maxDeletes: 10,
  maxDeletePercent: 30,
  allowNoPeople: false,
  protect: [],
  duplicates: 'report',
  unusedForMs: 86_400_000,
  freeze: [],
};

const count = z.int().min(0).max(1_000_000);

const freezeBetween = z
  .strictObject({
    from: setting(moment, 'First day (UTC) or instant of the window.', ['2026-12-24']),
    to: setting(moment, 'Last day (UTC, included) or instant of the window.', [
      '2027-01-02',
      '2027-01-02T06:00:00Z',
    ]),
  })
  .check((context) => {
    const { from, to } = context.value;
    if (windowEdge(from, 'start') <= windowEdge(to, 'end')) return;
    context.issues.push({
      code: 'custom',
      input: to,
      path: ['to'],
      message: 'the window ends before it starts; swap `from` and `to`',
    });
  });

const freezeAfterTick = z
  .strictObject({
    cron: setting(cronLine, 'When the window opens, as a cron line in the time zone of the account.', [
      '0 18 * * FRI',
    ]),
    for: setting(duration({ min: 1, timer: false }), 'How long it stays open.', ['60h']),
  })
  .transform(({ cron, for: forMs }): FreezeWindow => ({ cron, forMs }));

const freezeWindow = z.union([freezeBetween, freezeAfterTick], {
  error: '{ from: DATE, to: DATE } or { cron: "LINE", for: DURATION }',
});

const policySchema = z
  .strictObject({
    delete: setting(
      z.enum(['never', 'unused', 'always']).optional(),
      'Which entries may be deleted: none, those that nobody has, or all. `unused` guards against taking a skill or a role from people, which no API call can undo.',
      ['never'],
      POLICY_DEFAULTS.delete,
    ),
    ownership: setting(
      z.enum(['all', 'managed', 'listed']).optional(),
      'Which entries may be deleted: `all` that are not in the file; `managed`: of these, those that rolecall created or adopted; `listed`: those that the file names with `absent: true` or in `formerly`. The last two guard entries that others maintain by hand.',
      ['managed'],
      POLICY_DEFAULTS.ownership,
    ),
    maxDeletes: setting(
      count.optional(),
      'Most deletes within 24 hours, by the journal and this plan; above it all deletes of the plan are held. Guards against a file that lost a part of its lists.',
      [5],
      POLICY_DEFAULTS.maxDeletes,
    ),
    maxDeletePercent: setting(
      z.number().min(0).max(100).optional(),
      "Most deletes of one plan as a percentage of a kind's entries, if it has at least 10. An empty list in the file (`skills: []`) is 100 %, of however few.",
      [12.5],
      POLICY_DEFAULTS.maxDeletePercent,
    ),
    allowNoPeople: setting(
      z.boolean().optional(),
      'Whether entries may be deleted although the service lists no people at all. `false` guards against a token that cannot see people: every entry then looks unused.',
      [true],
      POLICY_DEFAULTS.allowNoPeople,
    ),
    protect: setting(
      z.array(nameGlob).optional(),
      'Globs of names that are never deleted, added to the defaults: `*` matches any characters, `?` one character, `\\` escapes. Guards entries that no change of a file may delete.',
      [['Admin*']],
      [],
    ),
    duplicates: setting(
      z.enum(['report', 'remove-unused']).optional(),
      'What to do with several entries of one name: leave them, or delete those that nobody has and keep one.',
      ['remove-unused'],
      POLICY_DEFAULTS.duplicates,
    ),
    unusedFor: setting(
      duration({ timer: false }).optional(),
      'For how long no list may have shown anybody with an entry before it is deleted. Guards against lists that show people without what they have, or that lack people.',
      ['7d'],
      '24h',
    ),
    freeze: setting(
      z.array(freezeWindow).optional(),
      'Windows in which nothing is written. Added to the defaults.',
      [[{ from: '2026-12-24', to: '2027-01-02' }]],
      [],
    ),
  })
  .describe('The deletion rules; merged key by key over the defaults.');

/** Not merged: an account has its own, or that of the defaults. */
const rolloutSchema = z
  .strictObject({
    after: setting(
      z.array(nameGlob),
      'The accounts that run a newer commit first: globs of their names. An empty list: none.',
      [['canary-*']],
    ),
    wait: setting(duration({ timer: false }).prefault('1h'), 'How long ago they must have converged on it.', [
      '30m',
    ]),
  })
  .describe('What a newer commit changes is held by the daemon until other accounts have run it.');

/** The settings of an account that `defaults` may set too. */
export const inheritedShape = {
  schedule: setting(
    cronLine.optional(),
    'When the daemon runs: five cron fields, or six with seconds first.',
    ['0 7-19 * * MON-FRI'],
    ACCOUNT_DEFAULTS.schedule,
  ),
  timezone: setting(
    timezone.optional(),
    'Time zone of the schedule and of freeze windows with `cron`.',
    ['Europe/Berlin'],
    ACCOUNT_DEFAULTS.timezone,
  ),
  mode: setting(
    z.enum(RUN_MODES).optional(),
    'What the daemon does: `plan` writes nothing, `approve` waits for an approval, `approve-deletes` creates at once and waits for an approval of its deletes, `apply` writes. The command `rolecall apply` writes in any mode.',
    ['approve'],
    ACCOUNT_DEFAULTS.mode,
  ),
  policy: policySchema.optional(),
  rollout: rolloutSchema.optional(),
};

type PolicyPart = z.output<typeof policySchema>;

/** Merges key by key, and the later part wins; `protect` and `freeze` are concatenated. */
export function mergePolicies(parts: readonly (PolicyPart | undefined)[]): Policy {
  let merged = POLICY_DEFAULTS;
  for (const part of parts) {
    if (part === undefined) continue;
    const { protect = [], freeze = [], unusedFor, ...scalars } = part;
    merged = {
      ...merged,
      // The schema leaves out what the file leaves out.
      ...(scalars as Partial<Policy>),
      ...(unusedFor === undefined ? {} : { unusedForMs: unusedFor }),
      protect: [...new Set([...merged.protect, ...protect.map((glob) => glob.normalize('NFC'))])],
      freeze: [...merged.freeze, ...freeze],
    };
  }
  return merged;
}
