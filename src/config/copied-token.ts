// Finds the token of an account that somebody wrote into the account's own file: as a name, it would be sent to the
// service for everybody to see. No message repeats it.
import type { ConfigIssue } from '../core/errors.ts';
import { KINDS } from '../core/catalog.ts';
import { Secret } from '../core/secret.ts';
import type { AccountSettings, ConfiguredAccount } from '../core/settings.ts';
import { readRegularFile } from '../platform/regular-file.ts';
import { MAX_FILE_BYTES, shownPath } from '../yaml/source-text.ts';

/** Shorter tokens match parts of usual names. */
const SHORTEST = 8;

const ADVICE =
  'remove it, and renew the token in the service: it is known to everybody who can read the file';

/** The error at the token in the account's file, or undefined. Finds it in comments and in catalogs too. */
export async function copiedToken(
  { file, settings }: Pick<ConfiguredAccount, 'file' | 'settings'>,
  token: string,
): Promise<ConfigIssue | undefined> {
  if (token.length < SHORTEST) return undefined;
  const place = { file: shownPath(file), severity: 'error' } as const;
  const text = await textOf(file);
  const at = text.indexOf(token);
  if (at !== -1) {
    const before = text.slice(0, at).split('\n');
    const [line, column] = [before.length, (before.at(-1)?.length ?? 0) + 1];
    return { ...place, line, column, message: `the token itself is in this file; ${ADVICE}` };
  }
  if (settings === undefined || !namesIn(settings).some((name) => name.includes(token))) return undefined;
  const message = `the token itself is in this file or in a catalog that it extends; ${ADVICE}`;
  return { ...place, line: 1, column: 1, message };
}

/** The same account with its token removed from the messages about its files. */
export function withoutToken(account: ConfiguredAccount, token: string): ConfiguredAccount {
  if (token.length < SHORTEST) return account;
  const secret = new Secret(token);
  const issues = account.issues.map((issue) => ({ ...issue, message: secret.scrub(issue.message) }));
  return { ...account, issues };
}

/** An unreadable file is not this check's concern: its text is empty. */
async function textOf(file: string): Promise<string> {
  try {
    return (await readRegularFile(file, MAX_FILE_BYTES)).bytes.toString('utf8');
  } catch {
    return '';
  }
}

function namesIn({ desired, policy }: AccountSettings): string[] {
  const entries = KINDS.flatMap((kind) => desired[kind] ?? []);
  return [
    ...entries.flatMap(({ name, formerly }) => [name, ...formerly]),
    ...desired.approvedDeletes.map(({ name }) => name),
    ...policy.protect,
  ];
}
