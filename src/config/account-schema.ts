// An account's file and a shared catalog, as they are written (contract, section 2). The JSON Schemas for editors
// come from these definitions too.
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
