// The schemas of an account file and of its policy, and the checks of its approvals that a schema can't make.
import { z } from 'zod';
import type { FreezeWindow, Policy, DesiredCatalog } from '../core/catalog.ts';
import { KINDS } from '../core/catalog.ts';
import { windowEdge } from './dates-and-schedules.ts';
import {
  cronLine,
  duration,
  expectations,
  moment,
  nameGlob,
  timezone,
  baseUrl,
  calendarDate,
  nameReference,
  nameText,
  pathText,
  secretRef,
} from './field-formats.ts';
import type { ConfigIssue } from '../core/errors.ts';
import { locate, spotOf } from '../yaml/node-lookup.ts';
import { type YamlFile, quoted } from '../yaml/yaml-file.ts';

/** The policy when neither the service file nor the account file sets it. */
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
      message: 'the window ends before it starts; swap `from` and `to`',
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
      description:
        'all: entries that are not in the file are deleted. managed: only those that rolecall created or adopted.',
      default: 'all',
    }),
    maxDeletes: count.optional().meta({
      description: 'Most deletes of one plan; a plan with more has all of its deletes held.',
      default: 10,
    }),
    maxDeletesPerDay: count.optional().meta({
      description: 'Most deletes of this account within 24 hours, counted in its journal.',
      default: 30,
    }),
    maxDeletePercent: z.number().min(0).max(100).optional().meta({
      description: "Most deletes of one plan as a percentage of a kind's entries; ignored below 10 entries.",
      default: 30,
    }),
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
        'Globs of names that are never deleted: * matches any characters, ? one character, \\ escapes. Added to the defaults.',
      ),
    duplicates: z
      .enum(['report', 'remove-unused'])
      .optional()
      .meta({ description: 'What to do with several entries of one name.', default: 'report' }),
    unusedFor: duration({ timer: false })
      .optional()
      .meta({ description: 'How long an entry must be unused before it is deleted.', default: '0s' }),
    freeze: z
      .array(freezeWindow)
      .optional()
      .describe('Windows in which nothing is written. Added to the defaults.'),
  })
  .describe('The deletion rules; merged key by key over the defaults.');

/** The settings of an account that `defaults` may set too. */
export const inheritedShape = {
  schedule: cronLine().optional().meta({
    description: 'When the daemon runs: five cron fields, or six with seconds first.',
    default: '*/15 * * * *',
  }),
  timezone: timezone().optional().meta({ description: 'Time zone of the schedule.', default: 'Etc/UTC' }),
  jitter: duration()
    .optional()
    .meta({ description: 'Longest random delay; never more than a tenth of the interval.', default: '30s' }),
  mode: z.enum(['plan', 'approve', 'apply']).optional().meta({
    description: 'What the daemon does: plan writes nothing, approve waits for an approval, apply writes.',
    default: 'plan',
  }),
  policy: policySchema.optional(),
};

type PolicyPart = z.output<typeof policySchema>;

type Present<T> = { [K in keyof T]?: Exclude<T[K], undefined> };

const nameEntry = z.union([
  nameText(),
  z.strictObject({
    name: nameText().describe('The name.'),
    formerly: z.array(nameReference()).optional().describe('Earlier names of the entry; marks a rename.'),
  }),
]);

const skills = z
  .array(nameEntry)
  .optional()
  .describe(
    'Every skill that the account must have. Omitted: skills are never changed. []: no skill may remain.',
  );
const roles = z
  .array(nameEntry)
  .optional()
  .describe(
    'Every role that the account must have. Omitted: roles are never changed. []: no role may remain.',
  );

const accountId = z.string().min(1);
expectations.add(accountId, { expected: 'the account id in quotes, because a number would lose digits' });

export const approvedDeleteSchema = z.strictObject({
  kind: z.enum(KINDS).describe('Kind of the entry.'),
  name: nameReference().describe('Name of the entry, as the service shows it.'),
  expires: calendarDate().optional().describe('Last day (UTC) of the approval.'),
});

const settingsShape = {
  region: z.string().optional().describe('A key of `regions` in rolecall.yaml; this or baseUrl.'),
  baseUrl: baseUrl()
    .optional()
    .describe('Base address of the service, before /api/public/v1; this or region.'),
  allowInsecure: z
    .boolean()
    .optional()
    .describe('Allows http:// to another machine, which sends the token unencrypted.'),
  accountId: accountId.optional().describe('Pins the account that the token must belong to.'),
  token: secretRef('token').describe('Where the token is found; never the token itself.'),
  ...inheritedShape,
  extends: z
    .array(pathText())
    .max(1000)
    .optional()
    .describe('Shared lists of skills and roles, relative to this file, merged in order.'),
};

/** An account file without its two lists of names, which name-list.ts reads from the YAML nodes. */
export const accountSettingsSchema = z.strictObject({
  ...settingsShape,
  skills: z.undefined().optional(),
  roles: z.undefined().optional(),
  approvedDeletes: z.array(approvedDeleteSchema).optional(),
});

/** A complete account file, for the JSON Schema that editors use. */
export const accountSchema = z
  .strictObject({
    ...settingsShape,
    skills,
    roles,
    approvedDeletes: z
      .array(approvedDeleteSchema)
      .optional()
      .describe('Entries that may be deleted although people have them; reviewed in git.'),
  })
  .meta({
    title: 'rolecall account',
    description:
      'One account and the entries that it must have. The base name of the file is the name of the account.',
    oneOf: [{ required: ['region'] }, { required: ['baseUrl'] }],
  });

/** A shared list of skills and roles: for the JSON Schema that editors use, and to find unknown keys. */
export const catalogSchema = z.strictObject({ skills, roles }).meta({
  title: 'rolecall catalog',
  description: 'Lists of skills and roles that accounts share by `extends`.',
});

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

/** Errors: an approval for a desired name, or a duplicate. Warnings: an approval that expired or has no effect. */
export function approvalIssues(
  file: YamlFile,
  raw: Readonly<Record<string, unknown>>,
  desired: DesiredCatalog,
  today: string,
): readonly ConfigIssue[] {
  const written = raw['approvedDeletes'];
  if (!Array.isArray(written)) return [];
  const issues: ConfigIssue[] = [];
  const desiredNames = {
    skill: new Set(desired.skill?.map(({ name }) => name)),
    role: new Set(desired.role?.map(({ name }) => name)),
  };
  const seen = new Set<string>();
  for (const [index, item] of written.entries()) {
    // Each approval is parsed alone, so that an invalid one does not hide problems of the others.
    const approval = approvedDeleteSchema.safeParse(item).data;
    if (approval === undefined) continue;
    const { kind, name, expires } = approval;
    const report = (key: string, message: string, severity: ConfigIssue['severity'] = 'error') =>
      issues.push(file.issue(spotOf(locate(file, ['approvedDeletes', index, key])), message, severity));
    const label = `the ${kind} ${quoted(name)}`;
    if (seen.has(`${kind} ${name}`))
      report('name', `${label} is approved twice; remove one of the two approvals`);
    seen.add(`${kind} ${name}`);
    if (desiredNames[kind].has(name)) {
      report('name', `${label} is both desired and in \`approvedDeletes\`; remove it from one of them`);
    }
    if (desired[kind] === undefined) {
      report(
        'kind',
        `${label} is approved, but this account file has no ${kind}s list, so no ${kind} is ever deleted; remove the approval`,
        'warning',
      );
    }
    if (expires !== undefined && expires < today) {
      report('expires', `the approval for ${label} expired on ${expires}; renew it or remove it`, 'warning');
    }
  }
  return issues;
}

function withoutUndefined<T extends object>(value: T): Present<T> {
  const entries = Object.entries(value).filter(([, item]) => item !== undefined);
  // The filter guarantees the type, which Object.fromEntries can't express.
  return Object.fromEntries(entries) as Present<T>;
}
