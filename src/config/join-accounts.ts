// Joins the accounts of a configuration, and finds the problems between them: two with the same name, two with the same
// address and token, or a rollout that can never end. An invalid file does not make a valid one invalid by that.
import { compareCodePoints, globMatcher } from '../core/names.ts';
import type { ConfigIssue } from '../core/errors.ts';
import { sortedIssues } from '../core/issue-limit.ts';
import type { AccountAddress } from './account-address.ts';
import { refKey } from './field-formats.ts';
import type { AccountSettings, ConfiguredAccount, SecretRef } from '../core/settings.ts';
import { issueAt, type NodePath, quoted, type YamlFile } from './yaml/yaml-file.ts';

/** As a file has it. */
type Rollout = { readonly after: readonly string[]; readonly wait: number } | undefined;

/** A glob of `rollout.after` with its position. */
export interface RolloutGlob {
  readonly glob: string;
  readonly place: ConfigIssue;
}

/** An account as read, with what is needed to compare it with the other accounts. */
export interface AccountRead {
  readonly name: string;
  /** Absolute. */
  readonly file: string;
  readonly settings?: AccountSettings | undefined;
  readonly issues: readonly ConfigIssue[];
  /** The token reference if it is valid, and its position. */
  readonly token?: { readonly ref: SecretRef; readonly place: ConfigIssue } | undefined;
  /** If it is valid. */
  readonly address?: AccountAddress | undefined;
  /** The accounts that run newer commits before this one, by its own file or by `defaults`. */
  readonly rollout?: { readonly globs: readonly RolloutGlob[]; readonly isOwn: boolean } | undefined;
  /** Whether the issues depend on the current day. */
  readonly isDated: boolean;
}

/** The accounts sorted by name. Without a valid service file, none has settings. `shown` names files for messages. */
export function joinAccounts(
  reads: readonly AccountRead[],
  serviceIsSound: boolean,
  shown: (file: string) => string,
  defaultRollout: readonly RolloutGlob[],
): readonly ConfiguredAccount[] {
  const sameNames = duplicates(reads, ({ name }) => name);
  // An invalid file, such as an unfinished copy, never runs: it must not stop the account that it resembles.
  const isValid = (read: AccountRead): boolean => !hasError(read.issues) && !sameNames.has(read);
  const valid = reads.filter(isValid);
  const sameIdentities = new Map([
    ...duplicates([...valid, ...reads.filter((read) => !isValid(read))], identityKey),
    ...duplicates(valid, identityKey),
  ]);
  const rolloutIssues = checkRollouts(reads, defaultRollout);
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

export function rolloutGlobs(file: YamlFile, parent: NodePath, rollout: Rollout): RolloutGlob[] {
  return (rollout?.after ?? []).map((glob, index) => ({
    glob,
    place: issueAt(file, [...parent, 'rollout', 'after', index]),
  }));
}

/** The accounts that the globs of `defaults` match run first, so the defaults do not bind them. */
export function inheritedRollout(name: string, rollout: Rollout): Rollout {
  return rollout?.after.some((glob) => globMatcher(glob)(name)) === true ? undefined : rollout;
}

/** Returns the errors of one account: a glob that matches no account, the account itself, or one that waits for it. */
function checkRollouts(
  reads: readonly AccountRead[],
  defaults: readonly RolloutGlob[],
): (read: AccountRead) => ConfigIssue[] {
  const known = new Map<string, readonly string[]>();
  const matched = (glob: string): readonly string[] => {
    const names = known.get(glob) ?? reads.map(({ name }) => name).filter(globMatcher(glob));
    known.set(glob, names);
    return names;
  };
  const firstOf = new Map(reads.map(({ name, rollout }) => [name, rollout?.globs ?? []]));
  const waitFor = (names: readonly string[], wanted: string): boolean => {
    const seen = new Set(names);
    const followed = new Set<string>();
    // A set also visits what is added meanwhile. Most accounts share their globs, and one glob may match all of them.
    for (const name of seen) {
      for (const { glob } of firstOf.get(name) ?? []) {
        if (!followed.has(glob)) for (const next of matched(glob)) seen.add(next);
        followed.add(glob);
      }
    }
    return seen.has(wanted);
  };
  const isOfAll = ({ glob }: RolloutGlob): boolean =>
    reads.length > 1 && matched(glob).length === reads.length;
  const ofAll = defaults.filter(isOfAll).map(({ glob, place }) => ({
    ...place,
    message: `${quoted(glob)} matches every account, so none would wait; correct it`,
  }));
  return ({ name, rollout }) => [
    ...ofAll,
    ...(rollout?.globs ?? []).flatMap(({ glob, place }) => {
      const names = matched(glob);
      if (names.length === 0)
        return [
          { ...place, message: `no account has a name that ${quoted(glob)} matches; correct the glob` },
        ];
      const isItself = names.includes(name);
      if (rollout?.isOwn !== true || !(isItself || waitFor(names, name))) return [];
      const whom = isItself ? 'this account itself' : 'accounts that wait for this one';
      return [{ ...place, message: `${quoted(glob)} matches ${whom}, so it would never end; correct it` }];
    }),
  ];
}
