// The settings that accounts inherit from `defaults`: their schemas, their defaults, and how policies are merged.
import { z } from 'zod';
import type { FreezeWindow, Policy } from '../core/catalog.ts';
import { formatDuration } from '../core/durations-and-sizes.ts';
import type { AccountSettings } from '../core/settings.ts';
import { windowEdge } from './dates-and-schedules.ts';
import { cronLine, duration, expectations, moment, nameGlob, timezone } from './field-formats.ts';

/** The settings of an account that neither its file nor `defaults` sets. */
export const ACCOUNT_DEFAULTS = {
  schedule: '*/15 * * * *',
  timezone: 'Etc/UTC',
  jitterMs: 30_000,
  mode: 'plan',
} as const satisfies Partial<AccountSettings>;

/** The policy when neither the service file nor the account file sets it. */
const POLICY_DEFAULTS: Policy = {
  delete: 'unused',
  ownership: 'all',
  maxDeletes: 10,
  maxDeletesPerDay: 30,
  maxDeletePercent: 30,
  allowEmpty: false,
  allowNoPeople: false,
  protect: [],
  duplicates: 'report',
  unusedForMs: 86_400_000,
  freeze: [],
};

const count = z.int().min(0).max(1_000_000);

const freezeBetween = z
  .strictObject({
    from: moment().meta({
      description: 'First day (UTC) or instant of the window.',
      examples: ['2026-12-24'],
    }),
    to: moment().meta({
      description: 'Last day (UTC, included) or instant of the window.',
      examples: ['2027-01-02', '2027-01-02T06:00:00Z'],
    }),
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
    cron: cronLine().meta({
      description: 'When the window opens, as a cron line in the time zone of the account.',
      examples: ['0 18 * * FRI'],
    }),
    for: duration({ min: 1, timer: false }).meta({
      description: 'How long it stays open.',
      examples: ['60h'],
    }),
  })
  .transform(({ cron, for: forMs }): FreezeWindow => ({ cron, forMs }));

const freezeWindow = z.union([freezeBetween, freezeAfterTick]);
expectations.add(freezeWindow, { expected: '{ from: DATE, to: DATE } or { cron: "LINE", for: DURATION }' });

const policySchema = z
  .strictObject({
    delete: z
      .enum(['never', 'unused', 'always'])
      .optional()
      .meta({
        description:
          'Which entries may be deleted: none, those that nobody has, or all. `unused` guards against taking a skill or a role from people, which no API call can undo.',
        default: POLICY_DEFAULTS.delete,
        examples: ['never'],
      }),
    ownership: z
      .enum(['all', 'managed'])
      .optional()
      .meta({
        description:
          '`all`: entries that are not in the file are deleted. `managed`: only those that rolecall created or adopted, which guards entries that others maintain by hand.',
        default: POLICY_DEFAULTS.ownership,
        examples: ['managed'],
      }),
    maxDeletes: count.optional().meta({
      description:
        'Most deletes of one plan; a plan with more has all of its deletes held. Guards against a file that lost a part of its lists.',
      default: POLICY_DEFAULTS.maxDeletes,
      examples: [5],
    }),
    maxDeletesPerDay: count.optional().meta({
      description:
        'Most deletes of this account within 24 hours, counted in its journal. Guards against many small plans that delete a catalog together.',
      default: POLICY_DEFAULTS.maxDeletesPerDay,
      examples: [15],
    }),
    maxDeletePercent: z
      .number()
      .min(0)
      .max(100)
      .optional()
      .meta({
        description:
          "Most deletes of one plan as a percentage of a kind's entries; ignored below 10 entries. Guards small catalogs, for which `maxDeletes` is high.",
        default: POLICY_DEFAULTS.maxDeletePercent,
        examples: [12.5],
      }),
    allowEmpty: z
      .boolean()
      .optional()
      .meta({
        description:
          'Whether an empty list (`skills: []`) may delete everything. `false` guards against a list whose lines were lost.',
        default: POLICY_DEFAULTS.allowEmpty,
        examples: [true],
      }),
    allowNoPeople: z
      .boolean()
      .optional()
      .meta({
        description:
          'Whether entries may be deleted although the service lists no people at all. `false` guards against a token that cannot see people: every entry then looks unused.',
        default: POLICY_DEFAULTS.allowNoPeople,
        examples: [true],
      }),
    protect: z
      .array(nameGlob())
      .optional()
      .meta({
        description:
          'Globs of names that are never deleted: `*` matches any characters, `?` one character, `\\` escapes. Added to the defaults. Guards entries that no change of a file may delete.',
        default: [],
        examples: [['Admin*']],
      }),
    duplicates: z
      .enum(['report', 'remove-unused'])
      .optional()
      .meta({
        description:
          'What to do with several entries of one name: leave them, or delete those that nobody has and keep one.',
        default: POLICY_DEFAULTS.duplicates,
        examples: ['remove-unused'],
      }),
    unusedFor: duration({ timer: false })
      .optional()
      .meta({
        description:
          'An entry is deleted only when nobody has had it for this long, by the journal. An entry that it never saw in use is not held. Guards against lists that show people without what they have.',
        default: '24h',
        examples: ['7d'],
      }),
    freeze: z
      .array(freezeWindow)
      .optional()
      .meta({
        description: 'Windows in which nothing is written. Added to the defaults.',
        default: [],
        examples: [[{ from: '2026-12-24', to: '2027-01-02' }]],
      }),
  })
  .describe('The deletion rules; merged key by key over the defaults.');

/** The settings of an account that `defaults` may set too. */
export const inheritedShape = {
  schedule: cronLine()
    .optional()
    .meta({
      description: 'When the daemon runs: five cron fields, or six with seconds first.',
      default: ACCOUNT_DEFAULTS.schedule,
      examples: ['0 7-19 * * MON-FRI'],
    }),
  timezone: timezone()
    .optional()
    .meta({
      description: 'Time zone of the schedule and of freeze windows with `cron`.',
      default: ACCOUNT_DEFAULTS.timezone,
      examples: ['Europe/Berlin'],
    }),
  jitter: duration()
    .optional()
    .meta({
      description:
        'Longest random delay of a run; never more than a tenth of the interval. Guards the service against the requests of all accounts at the same moment.',
      default: formatDuration(ACCOUNT_DEFAULTS.jitterMs),
      examples: ['5s'],
    }),
  mode: z
    .enum(['plan', 'approve', 'apply'])
    .optional()
    .meta({
      description:
        'What the daemon does: `plan` writes nothing, `approve` waits for an approval, `apply` writes. The command `rolecall apply` writes in any mode.',
      default: ACCOUNT_DEFAULTS.mode,
      examples: ['approve'],
    }),
  policy: policySchema.optional(),
};

type PolicyPart = z.output<typeof policySchema>;

type Present<T> = { [K in keyof T]?: Exclude<T[K], undefined> };

/** Merges key by key, and the later part wins; `protect` and `freeze` are concatenated. */
export function mergePolicies(parts: readonly (PolicyPart | undefined)[]): Policy {
  let merged = POLICY_DEFAULTS;
  for (const part of parts) {
    if (part === undefined) continue;
    const { protect = [], freeze = [], unusedFor, ...scalars } = part;
    merged = {
      ...merged,
      ...withoutUndefined(scalars),
      ...(unusedFor === undefined ? {} : { unusedForMs: unusedFor }),
      protect: [...new Set([...merged.protect, ...protect.map((glob) => glob.normalize('NFC'))])],
      freeze: [...merged.freeze, ...freeze],
    };
  }
  return merged;
}

function withoutUndefined<T extends object>(value: T): Present<T> {
  const entries = Object.entries(value).filter(([, item]) => item !== undefined);
  // The filter guarantees the type, which Object.fromEntries can't express.
  return Object.fromEntries(entries) as Present<T>;
}
