// Whether the account that answers is the account that the file means (contract, section 5).
import { ServiceError } from './errors.ts';
import type { ObservedCatalog } from './catalog.ts';
import { holdsToken, NOT_SHOWN } from './secret-looks.ts';
import { yamlQuoted } from './yaml-text.ts';

export interface IdentityFacts {
  readonly account: string;
  readonly pinned: string | undefined;
  /** The id that the store remembers from this account's first run. */
  readonly remembered: string | null;
}

/** The one account id that everything listed carries, or null when nothing carries one. Throws on several. */
export function listedAccountId(observed: ObservedCatalog): string | null {
  const ids = new Set<string>();
  for (const list of [observed.skill, observed.role, observed.resources]) {
    for (const { accountId } of list) if (accountId !== undefined) ids.add(accountId);
  }
  if (ids.size > 1) {
    throw new ServiceError(
      'identity',
      `the lists carry different account ids (${[...ids].sort().slice(0, 5).join(', ')}); nothing was written. Check the base address and any proxy: one account has one id`,
    );
  }
  const [id] = ids;
  return id ?? null;
}

/**
 * The remote account id of this run: the listed one, checked against the pin, else the remembered one. Throws ServiceError `identity` before anything could be written.
 */
export function checkIdentity(listed: string | null, facts: IdentityFacts): string | null {
  const expected = facts.pinned ?? facts.remembered;
  if (listed !== null && expected !== null && listed !== expected) {
    throw new ServiceError(
      'identity',
      facts.pinned === undefined
        ? `the token belongs to account ${listed}, but the first run of “${facts.account}” saw account ${expected}; nothing was written. Mend the token, or pin accountId: ${yamlQuoted(listed)} if the change is meant`
        : `the token belongs to account ${listed}, but the file pins accountId: ${shownPin(expected)}; nothing was written. Mend the token or the pin`,
    );
  }
  return listed ?? expected;
}

/** A pinned account id as messages show it. */
export function shownPin(accountId: string): string {
  return holdsToken(accountId) ? NOT_SHOWN : yamlQuoted(accountId);
}

/** The error of lists that carry no account id, but show what was seen in another account than the one meant. */
export function foreignEntries(remoteAccountId: string | null, other: string): ServiceError {
  const meant = remoteAccountId === null ? 'another one is meant' : `this account is ${remoteAccountId}`;
  return new ServiceError(
    'identity',
    `nothing listed carries an account id, but something that is listed was made in account ${other}, and ${meant}; nothing was written. Mend the token or the pin; if this is the right account all the same, delete there by hand what that run made (\`rolecall history\`, \`rolecall show\`)`,
  );
}

/** The error of a token that another account uses at the same address, before anything tells whose account that is. */
export function sharedToken(other: string): ServiceError {
  return new ServiceError(
    'identity',
    `the token is the same as that of “${other}” at the same address; nothing was written. Was the token copied? Every account needs its own`,
  );
}

/** The error of a remote account that another account of the store manages already: a copied token. */
export function copiedToken(remoteAccountId: string, other: string): ServiceError {
  return new ServiceError(
    'identity',
    `the token belongs to account ${remoteAccountId}, which “${other}” already manages at the same address; nothing was written. Was the token copied? Every account needs its own`,
  );
}
