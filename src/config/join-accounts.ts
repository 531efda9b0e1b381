// What only a look at all accounts shows: two of one name, or two with the same address and token
// (contract, section 2).
import type { ConfigIssue } from '../core/errors.ts';
import { compareCodePoints } from '../core/names.ts';
import type { AccountRead } from './account-file.ts';
import { sortedIssues } from '../core/issue-limit.ts';
import { refKey } from './secret-references.ts';
import type { AccountSettings, ServiceSettings, Trust } from '../core/settings.ts';
import type { SecretUse } from './secret-references.ts';

export interface LoadedConfiguration {
  /** Absent when the service's file is missing or has an error. */
  readonly service?: ServiceSettings;
  /** Sorted by code points of the name. */
  readonly accounts: readonly LoadedAccount[];
  /** Every problem of all files, errors and warnings, sorted by file, line and column. */
  readonly issues: readonly ConfigIssue[];
  /** Every secret that the sound parts refer to, for `checkSecrets`. */
  readonly secrets: readonly SecretUse[];
  /** What the machine's own file allows account files to use. */
  readonly trust: Trust;
}

/** One account's file, sound or not. */
export interface LoadedAccount {
  readonly name: string;
  /** Absolute. */
  readonly file: string;
  /** Absent when the account's own files, or the service's file, have an error. */
  readonly settings?: AccountSettings;
  /** This account's problems, those of the files that it extends included, sorted. */
  readonly issues: readonly ConfigIssue[];
}

/** The accounts sorted by name; those of an unsound service have no settings. `shown` names files for messages. */
export function joinAccounts(
  reads: readonly AccountRead[],
  serviceIsSound: boolean,
  shown: (file: string) => string,
): readonly LoadedAccount[] {
  const namesakes = grouped(reads, ({ name }) => name);
  const twins = grouped(reads, identityKey);
  return reads
    .map((read): LoadedAccount => {
      const { name, file, identity, settings } = read;
      const issues = [...read.issues];
      const namesake = otherOf(namesakes.get(name), read);
      if (namesake !== undefined) {
        const message = `${shown(namesake.file)} is an account named ${name} too; rename one of the files`;
        issues.push({ file: shown(file), line: 1, column: 1, message, severity: 'error' });
      }
      const twin = otherOf(twins.get(identityKey(read) ?? ''), read);
      if (twin !== undefined && identity !== undefined) {
        const message = `${shown(twin.file)} has the same base address and token; every account needs its own token`;
        issues.push({ ...identity.place, message });
      }
      const isSound = serviceIsSound && issues.every(({ severity }) => severity !== 'error');
      return {
        name,
        file,
        ...(isSound && settings !== undefined ? { settings } : {}),
        issues: sortedIssues(issues),
      };
    })
    .toSorted((a, b) => compareCodePoints(a.name, b.name) || compareCodePoints(a.file, b.file));
}

function grouped(
  reads: readonly AccountRead[],
  keyOf: (read: AccountRead) => string | undefined,
): ReadonlyMap<string, readonly AccountRead[]> {
  const groups = new Map<string, AccountRead[]>();
  for (const read of reads) {
    const key = keyOf(read);
    const group = key === undefined ? undefined : groups.get(key);
    if (group !== undefined) group.push(read);
    else if (key !== undefined) groups.set(key, [read]);
  }
  return groups;
}

/** The first other one of the group. */
function otherOf(group: readonly AccountRead[] | undefined, read: AccountRead): AccountRead | undefined {
  return group?.find((other) => other !== read);
}

/** The same for accounts that one token would make the same; undefined while that is not known. */
function identityKey({ identity }: AccountRead): string | undefined {
  return identity?.baseUrl === undefined ? undefined : `${identity.baseUrl} ${refKey(identity.token)}`;
}
