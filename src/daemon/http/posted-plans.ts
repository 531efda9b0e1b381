// The body of `POST /api/v1/plans`: what accounts should contain by a proposed change. It can name no address and no token.
import { z } from 'zod';
import { type AllowedDelete, KINDS, type Policy } from '../../core/catalog.ts';
import { LONGEST_NAME } from '../../core/limits.ts';
import { nameKey } from '../../core/names.ts';
import { MAX_POSTED, type PostedPlan } from '../../run/posted-plan.ts';
import { isCronLine } from '../cron.ts';

const name = z.string().min(1).max(LONGEST_NAME);
/** A desired name; alone it has no former names. */
const desiredName = name.normalize();
const entry = z.union([
  desiredName.transform((text) => ({ name: text, formerly: [] })),
  z.strictObject({ name: desiredName, formerly: z.array(name) }),
]);
const time = z
  .string()
  .refine((text) => !Number.isNaN(Date.parse(text)), 'must be a time such as 2026-11-21T05:24:10Z');
const day = z.string().regex(/^\d{4}-\d\d-\d\d$/u, 'must be a day such as 2026-12-31');
const kind = z.enum(KINDS);

const allowedDelete: z.ZodType<AllowedDelete> = z.union([
  z.strictObject({ kind, name, expires: day }),
  z.strictObject({ atMost: z.int().min(1), expires: day }),
]);

const policy: z.ZodType<Policy> = z.strictObject({
  delete: z.enum(['never', 'unused', 'always']),
  ownership: z.enum(['all', 'managed', 'listed']),
  maxDeletes: z.int().min(0),
  maxDeletePercent: z.number().min(0).max(100),
  allowNoPeople: z.boolean(),
  protect: z.array(name),
  duplicates: z.enum(['report', 'remove-unused']),
  unusedForMs: z.int().min(0),
  freeze: z.array(
    z.union([
      z.strictObject({ from: time, to: time }),
      z.strictObject({
        cron: z.string().max(LONGEST_NAME).refine(isCronLine, 'must be a cron line'),
        forMs: z.int().min(0),
      }),
    ]),
  ),
});

/** The catalogs that accounts should have, with the policy that judges them and the commit that has them. */
export const postedPlansSchema = z
  .array(
    z.strictObject({
      account: z.string().describe('Name of an account in the configuration of the daemon.'),
      desired: z
        .strictObject({
          skill: z.array(entry).exactOptional(),
          role: z.array(entry).exactOptional(),
          allowedDeletes: z.array(allowedDelete),
          absent: z
            .strictObject({ skill: z.array(name).exactOptional(), role: z.array(name).exactOptional() })
            .exactOptional(),
        })
        .describe('What the account should contain. A kind that is left out is not managed.'),
      policy: policy.describe('The policy of the account, complete, with durations in milliseconds.'),
      commit: z
        .strictObject({ sha: z.string().regex(/^([0-9a-f]{40}|[0-9a-f]{64})$/u), committedAt: time })
        .nullable()
        .describe('The commit of the change; null outside of git.'),
    }),
  )
  .max(MAX_POSTED);

/** The posted changes, or the first problem of the body. */
export function readPosted(
  body: unknown,
): { readonly value: readonly PostedPlan[] } | { readonly problem: string } {
  const { data, error } = postedPlansSchema.safeParse(body);
  if (error !== undefined) {
    const [issue] = error.issues;
    const at = z.core.toDotPath(issue?.path ?? []);
    return { problem: (at && `${at}: `) + (issue?.message ?? 'the body is wrong') };
  }
  const accounts = new Set(data.map(({ account }) => account));
  if (accounts.size < data.length) return { problem: 'the list must have each account at most once' };
  const twice = data.find(({ desired }) => KINDS.some((of) => hasDuplicates(desired[of] ?? [])));
  return twice === undefined ? { value: data } : { problem: `${twice.account}: a name is in a list twice` };
}

function hasDuplicates(entries: readonly { readonly name: string }[]): boolean {
  return new Set(entries.map((each) => nameKey(each.name))).size < entries.length;
}

/** The JSON in a body. An empty body is read as `empty`. */
export function parseJson(
  body: Uint8Array,
  empty: string,
): { readonly value: unknown } | { readonly problem: string } {
  let text: string;
  try {
    text = new TextDecoder('utf-8', { fatal: true }).decode(body);
  } catch {
    return { problem: 'the body is not UTF-8' };
  }
  try {
    return { value: JSON.parse(text.trim() === '' ? empty : text) };
  } catch {
    return { problem: 'the body is not JSON' };
  }
}
