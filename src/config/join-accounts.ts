// Joins the accounts of a configuration, and finds the problems between them: two with the same name, or two with the
// same address and token. An invalid file does not make a valid one invalid by that.
import { compareCodePoints } from '../core/names.ts';
import type { ConfigIssue } from '../core/errors.ts';
import { sortedIssues } from '../core/issue-limit.ts';
import { checkRollouts, type RolloutRead } from './rollout.ts';
import { refKey } from './secret-references.ts';
import type { AccountSettings, ConfiguredAccount, SecretRef } from '../core/settings.ts';

/** An account as read, with what is needed to compare it with the other accounts. */
export interface AccountRead extends RolloutRead {
  /** Absolute. */
  readonly file: string;
  readonly settings?: AccountSettings;
  readonly issues: readonly ConfigIssue[];
  /** The token reference if it is valid, and its position. */
  readonly token?: { readonly ref: SecretRef; readonly place: ConfigIssue };
  /** The address if it is valid, and the position that sets it. */
  readonly address?: { readonly baseUrl: string; readonly place: ConfigIssue };
  /** Whether the issues depend on the current day. */
  readonly isDated: boolean;
}

/** The accounts sorted by name. Without a valid service file, none has settings. `shown` names files for messages. */
export function joinAccounts(
  reads: readonly AccountRead[],
  serviceIsSound: boolean,
  shown: (file: string) => string,
): readonly ConfiguredAccount[] {
  const sameNames = duplicates(reads, ({ name }) => name);
  // An invalid file, such as an unfinished copy, never runs: it must not stop the account that it resembles.
  const isValid = (read: AccountRead): boolean => !hasError(read.issues) && !sameNames.has(read);
  const valid = reads.filter(isValid);
  const sameIdentities = new Map([
    ...duplicates([...valid, ...reads.filter((read) => !isValid(read))], identityKey),
    ...duplicates(valid, identityKey),
  ]);
  const rolloutIssues = checkRollouts(reads);
  return reads
    .map((read): ConfiguredAccount => {
      const { name, file, token, settings } = read;
      const issues = [...read.issues, ...rolloutIssues(read)];
      const sameName = sameNames.get(read);
      if (sameName !== undefined) {
        const message = `${shown(sameName.file)} is also an account named ${name}; rename one of the files`;
        issues.push({ file: shown(file), line: 1, column: 1, message, severity: 'error' });
      }
      const sameIdentity = sameIdentities.get(read);
      const isStopped = sameIdentity !== undefined && (isValid(sameIdentity) || !isValid(read));
      if (isStopped && token !== undefined) {
        const message = `${shown(sameIdentity.file)} has the same base address and token; use a different token for each account`;
        issues.push({ ...token.place, message });
      }
      const isSound = serviceIsSound && !hasError(issues);
      return {
        name,
        file,
        ...(isSound && settings !== undefined ? { settings } : {}),
        issues: sortedIssues(issues),
      };
    })
    .toSorted((a, b) => compareCodePoints(a.name, b.name) || compareCodePoints(a.file, b.file));
}

function hasError(issues: readonly ConfigIssue[]): boolean {
  return issues.some(({ severity }) => severity === 'error');
}

/** The first other account with the same key, for each account that has one. */
function duplicates(
  reads: readonly AccountRead[],
  keyOf: (read: AccountRead) => string | undefined,
): ReadonlyMap<AccountRead, AccountRead> {
  const first = new Map<string, AccountRead>();
  const others = new Map<AccountRead, AccountRead>();
  for (const read of reads) {
    const key = keyOf(read);
    if (key === undefined) continue;
    const earlier = first.get(key);
    if (earlier === undefined) first.set(key, read);
    else {
      others.set(read, earlier);
      if (!others.has(earlier)) others.set(earlier, read);
    }
  }
  return others;
}

/** Equal for accounts that use the same token at the same address; undefined if the address or the token is unknown. */
function identityKey({ address, token }: AccountRead): string | undefined {
  return address && token && `${address.baseUrl} ${refKey(token.ref)}`;
}
