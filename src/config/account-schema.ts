// The schema of an account file, and what is wrong with its approvals beyond their shape.
import type { DesiredCatalog } from '../core/catalog.ts';
import type { ConfigIssue } from '../core/errors.ts';
import { locate, spotOf } from '../yaml/node-lookup.ts';
import { type YamlFile, quoted } from '../yaml/yaml-file.ts';
import { z } from 'zod';
import {
  baseUrl,
  calendarDate,
  expectations,
  nameReference,
  nameText,
  pathText,
  secretRef,
} from './field-formats.ts';
import { inheritedShape } from './policy-schema.ts';

const nameEntry = z.union([
  nameText(),
  z.strictObject({
    name: nameText().describe('The name.'),
    formerly: z.array(nameReference()).optional().describe('Names that it used to have: marks a rename.'),
  }),
]);

const skills = z
  .array(nameEntry)
  .optional()
  .describe(
    'Every skill the account shall have. Left out: skills are never touched. []: none shall be left.',
  );
const roles = z
  .array(nameEntry)
  .optional()
  .describe('Every role the account shall have. Left out: roles are never touched. []: none shall be left.');

const accountId = z.string().min(1);
expectations.add(accountId, { expected: 'the account id in quotes, since a number would lose digits' });

export const approvedDeleteSchema = z.strictObject({
  kind: z.enum(['skill', 'role']).describe('Kind of the entry.'),
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
    .describe('Allows http:// to another machine. The token then travels unencrypted.'),
  accountId: accountId.optional().describe('Pins the account that the token must belong to.'),
  token: secretRef('token').describe('Where the token is found; never the token itself.'),
  ...inheritedShape,
  extends: z
    .array(pathText())
    .max(1000)
    .optional()
    .describe('Shared lists of skills and roles, relative to this file, merged in order.'),
};

/** All of an account's file but its two lists of names, which are read off the nodes directly (see name-list.ts). */
export const accountSettingsSchema = z.strictObject({
  ...settingsShape,
  skills: z.undefined().optional(),
  roles: z.undefined().optional(),
  approvedDeletes: z.array(approvedDeleteSchema).optional(),
});

/** An account's file, for editors. */
export const accountSchema = z
  .strictObject({
    ...settingsShape,
    skills,
    roles,
    approvedDeletes: z
      .array(approvedDeleteSchema)
      .optional()
      .describe('Entries that may go although people have them; reviewed in git.'),
  })
  .meta({
    title: 'rolecall account',
    description: 'One account and what it shall hold. The base name of the file is the name of the account.',
    oneOf: [{ required: ['region'] }, { required: ['baseUrl'] }],
  });

/** A shared list of skills and roles, for editors and for the keys that it may have. */
export const catalogSchema = z.strictObject({ skills, roles }).meta({
  title: 'rolecall catalog',
  description: 'Lists of skills and roles that accounts share by `extends`.',
});

/** Errors: an approval for a desired name, or one given twice. Warnings: one that has expired, or can have no effect. */
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
    // Each is judged alone: a broken neighbour hides nothing.
    const approval = approvedDeleteSchema.safeParse(item).data;
    if (approval === undefined) continue;
    const { kind, name, expires } = approval;
    const report = (key: string, message: string, severity: ConfigIssue['severity'] = 'error') =>
      issues.push(file.issue(spotOf(locate(file, ['approvedDeletes', index, key])), message, severity));
    const label = `the ${kind} ${quoted(name)}`;
    if (seen.has(`${kind} ${name}`)) report('name', `${label} is approved twice; keep one of them`);
    seen.add(`${kind} ${name}`);
    if (desiredNames[kind].has(name)) {
      report('name', `${label} is both desired and in \`approvedDeletes\`; keep one of them`);
    }
    if (desired[kind] === undefined) {
      report(
        'kind',
        `${label} is approved, but ${kind}s are left out of this account and never touched; take the approval out`,
        'warning',
      );
    }
    if (expires !== undefined && expires < today) {
      report(
        'expires',
        `the approval for ${label} expired on ${expires}; renew it or take it out`,
        'warning',
      );
    }
  }
  return issues;
}
