// Checks that the account behind the token is the account that the file intends.
import { ServiceError } from './errors.ts';
import { type Entry, type Kind, KINDS, type ObservedCatalog } from './catalog.ts';
import { holdsToken, NOT_SHOWN } from './secret-looks.ts';
import { yamlQuoted } from './yaml-text.ts';

export interface IdentityFacts {
  readonly account: string;
  readonly pinned: string | undefined;
  /** The id that the store remembers from the account's first run. */
  readonly remembered: string | null;
}

/** The entries of an account's lists. */
export interface ListedEntries {
  readonly account: string;
  readonly remoteAccountId: string | null;
  /** Names of all configured accounts. */
  readonly configured: ReadonlySet<string>;
  readonly listed: Readonly<Record<Kind, readonly Pick<Entry, 'id'>[]>>;
  /** Whether a listed object carries the account id. Otherwise the id is the pinned or the remembered one, or null. */
  readonly identified: boolean;
}

/**
 * Where else an entry was seen: in another configured account, whose latest lists show it, or in a former remote account
 * of the same one.
 */
export type EntryOwner = Pick<ListedEntries, 'account' | 'remoteAccountId'>;

/** The one account id that the listed objects carry, or null when none carries one. Throws ServiceError on several. */
export function listedAccountId(observed: ObservedCatalog): string | null {
  const ids = new Set<string>();
  for (const list of [...KINDS.map((kind) => observed[kind]), observed.resources]) {
    for (const { accountId } of list) if (accountId !== undefined) ids.add(accountId);
  }
  if (ids.size > 1) {
    throw new ServiceError(
      'identity',
      `the lists carry different account ids (${[...ids].sort().slice(0, 5).join(', ')}); nothing was written. One account has one id: check the base address and any proxy in between`,
    );
  }
  const [id] = ids;
  return id ?? null;
}

/**
 * The remote account id of this run: the listed one, otherwise the pinned or the remembered one. Throws ServiceError
 * `identity` when the listed id is not the pinned or remembered one.
 */
export function checkIdentity(listed: string | null, facts: IdentityFacts): string | null {
  const expected = facts.pinned ?? facts.remembered;
  if (listed !== null && expected !== null && listed !== expected) {
    throw new ServiceError(
      'identity',
      facts.pinned === undefined
        ? `the token belongs to account ${listed}, but the first run of “${facts.account}” saw account ${expected}; nothing was written. Fix the token, or pin accountId: ${yamlQuoted(listed)} if the change is intended`
        : `the token belongs to account ${listed}, but the file pins accountId: ${shownPin(expected)}; nothing was written. Fix the token or the pinned accountId`,
    );
  }
  return listed ?? expected;
}

/** A pinned account id as messages show it. */
export function shownPin(accountId: string): string {
  return holdsToken(accountId) ? NOT_SHOWN : yamlQuoted(accountId);
}

/** The error for lists that contain an entry of another configured account, or of a former remote account. */
export function foreignEntries({ account, remoteAccountId }: EntryOwner, owner: EntryOwner): ServiceError {
  if (owner.account !== account) {
    return new ServiceError(
      'identity',
      `the lists contain an entry of “${owner.account}”, and an entry belongs to one account; nothing was written. Fix the token or the base address of one of the two. If both are right now, rename both account files: their history begins again`,
    );
  }
  const other = owner.remoteAccountId ?? '';
  const intended =
    remoteAccountId === null ? 'that is not this account' : `this account is ${remoteAccountId}`;
  return new ServiceError(
    'identity',
    `no listed object carries an account id, but the lists contain an entry that rolecall created or saw in account ${other}, and ${intended}; nothing was written. Fix the token or the pinned accountId. If this is the right account, delete by hand the entries that the earlier run created there; find them with \`rolecall history\` and \`rolecall show\``,
  );
}

/** The error for a token that a running account uses at the same address, while no account id is known. */
export function sharedToken(other: string): ServiceError {
  return new ServiceError(
    'identity',
    `the token is the same as that of “${other}” at the same address; nothing was written. Give each account its own token`,
  );
}

/** The error for a remote account that another account of the store already manages: a copied token. */
export function copiedToken(remoteAccountId: string, other: string): ServiceError {
  return new ServiceError(
    'identity',
    `the token belongs to account ${remoteAccountId}, which “${other}” already manages at the same address; nothing was written. Give each account its own token`,
  );
}
