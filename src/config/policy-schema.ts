// The deletion policy and the settings that accounts inherit (contract, sections 2 and 4).
import { z } from 'zod';
import type { FreezeWindow, Policy } from '../core/catalog.ts';
import { windowEdge } from './dates-and-schedules.ts';
import { cronLine, duration, expectations, moment, nameGlob, timezone } from './field-formats.ts';

/** What holds when neither the service's file nor the account's says otherwise (contract, section 4). */
export const POLICY_DEFAULTS: Policy = {
  delete: 'unused',
  ownership: 'all',
  maxDeletes: 10,
  maxDeletesPerDay: 30,
  maxDeletePercent: 30,
  allowEmpty: false,
  allowNoPeople: false,
  protect: [],
  duplicates: 'report',
  unusedForMs: 0,
  freeze: [],
};

const count = z.int().min(0).max(1_000_000);

const freezeBetween = z
  .strictObject({
    from: moment().describe('First day (UTC) or instant of the window.'),
    to: moment().describe('Last day (UTC, whole) or instant of the window.'),
  })
  .check((context) => {
    const { from, to } = context.value;
    if (windowEdge(from, 'start') <= windowEdge(to, 'end')) return;
    context.issues.push({
      code: 'custom',
      input: to,
      path: ['to'],
      message: 'the window ends before it begins; swap `from` and `to`',
    });
  });

const freezeAfterTick = z
  .strictObject({
    cron: cronLine().describe('When the window opens, as a cron line in the time zone of the account.'),
    for: duration({ min: 1, timer: false }).describe('How long it stays open.'),
  })
  .transform(({ cron, for: forMs }): FreezeWindow => ({ cron, forMs }));

const freezeWindow = z.union([freezeBetween, freezeAfterTick]);
expectations.add(freezeWindow, { expected: '{ from: DATE, to: DATE } or { cron: "LINE", for: DURATION }' });

export const policySchema = z
  .strictObject({
    delete: z
      .enum(['never', 'unused', 'always'])
      .optional()
      .meta({ description: 'Whether an entry that people have may be deleted.', default: 'unused' }),
    ownership: z.enum(['all', 'managed']).optional().meta({
      description: 'all: everything not in the file goes. managed: only what rolecall created or adopted.',
      default: 'all',
    }),
    maxDeletes: count
      .optional()
      .meta({ description: 'Deletes of one plan; over it, all of its deletes are held.', default: 10 }),
    maxDeletesPerDay: count
      .optional()
      .meta({ description: 'Deletes of this account within 24 hours, by its journal.', default: 30 }),
    maxDeletePercent: z
      .number()
      .min(0)
      .max(100)
      .optional()
      .meta({ description: "Share of a kind's entries, counted when there are at least 10.", default: 30 }),
    allowEmpty: z
      .boolean()
      .optional()
      .meta({ description: 'Whether an empty list may delete everything.', default: false }),
    allowNoPeople: z.boolean().optional().meta({
      description: 'Whether entries may be deleted although the service lists no people at all.',
      default: false,
    }),
    protect: z
      .array(nameGlob())
      .optional()
      .describe(
        'Globs over whole names that are never deleted: * any run, ? one character, \\ escapes. Adds up with the defaults.',
      ),
    duplicates: z
      .enum(['report', 'remove-unused'])
      .optional()
      .meta({ description: 'What to do with several entries of one name.', default: 'report' }),
    unusedFor: duration({ timer: false })
      .optional()
      .meta({ description: 'How long an entry must have been seen unused before it goes.', default: '0s' }),
    freeze: z
      .array(freezeWindow)
      .optional()
      .describe('Windows in which nothing is written. Adds up with the defaults.'),
  })
  .describe('The deletion rules; merged key by key over the defaults.');

/** The settings of an account that `defaults` may hold too. */
export const inheritedShape = {
  schedule: cronLine().optional().meta({
    description: 'When the daemon runs: five cron fields, or six with seconds first.',
    default: '*/15 * * * *',
  }),
  timezone: timezone().optional().meta({ description: 'Time zone of the schedule.', default: 'Etc/UTC' }),
  jitter: duration()
    .optional()
    .meta({ description: 'Random delay at most; never over a tenth of the interval.', default: '30s' }),
  mode: z.enum(['plan', 'approve', 'apply']).optional().meta({
    description: 'What the daemon does: plan writes nothing, approve waits for an approval, apply writes.',
    default: 'plan',
  }),
  policy: policySchema.optional(),
};

type PolicyPart = z.output<typeof policySchema>;

/** Key by key, the later wins; `protect` and `freeze` add up (contract, section 2). */
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

type Present<T> = { [K in keyof T]?: Exclude<T[K], undefined> };

function withoutUndefined<T extends object>(value: T): Present<T> {
  const entries = Object.entries(value).filter(([, item]) => item !== undefined);
  // The filter is what the type says; Object.fromEntries cannot express it.
  return Object.fromEntries(entries) as Present<T>;
}
