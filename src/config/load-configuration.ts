// The way into this room: all files of a configuration, every problem at once (contract, section 2).
import path from 'node:path';
import type { ConfigIssue } from '../core/errors.ts';
import { compareCodePoints } from '../core/names.ts';
import type { AccountSettings, ServiceSettings } from '../core/settings.ts';
import { type AccountRead, readAccount } from './account-file.ts';
import { catalogReader } from './catalog-file.ts';
import { matchPaths } from './path-glob.ts';
import { type SecretUse, refKey } from './secret-refs.ts';
import { type ServiceRead, readService } from './service-file.ts';
import { shownPath } from './source-text.ts';

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

export interface LoadedConfiguration {
  /** Absent when the service's file is missing or has an error. */
  readonly service?: ServiceSettings;
  /** Sorted by code points of the name. */
  readonly accounts: readonly LoadedAccount[];
  /** Every problem of all files, errors and warnings, sorted by file, line and column. */
  readonly issues: readonly ConfigIssue[];
  /** Every secret that the sound parts refer to, for `checkSecrets`. */
  readonly secrets: readonly SecretUse[];
}

/** For tests; `today` is `YYYY-MM-DD` in UTC and decides which approvals have expired. */
export interface LoadOptions {
  readonly today?: string;
}

/**
 * Reads the service's file (relative to the working directory, or absolute) and all account files of its glob. Looks
 * at neither network nor secrets. What a file holds never makes it throw: problems are issues, and one broken account
 * leaves the others alone.
 */
export async function loadConfiguration(
  file: string,
  options: LoadOptions = {},
): Promise<LoadedConfiguration> {
  const today = options.today ?? new Date().toISOString().slice(0, 10);
  const filePath = path.resolve(file);
  const service = await readService(filePath);
  const { files, issues: globIssues } = await accountFiles(service, path.dirname(filePath));
  const context = {
    defaults: service.defaults,
    regions: service.regions,
    readCatalog: catalogReader(),
    today,
  };
  const reads = await Promise.all(files.map((accountFile) => readAccount(accountFile, context)));
  const accounts = reads
    .map((read) => toAccount(read, reads, service.settings !== undefined))
    .toSorted((a, b) => compareCodePoints(a.name, b.name) || compareCodePoints(a.file, b.file));
  const issues = [...service.issues, ...globIssues, ...accounts.flatMap((account) => account.issues)];
  return {
    ...(service.settings === undefined ? {} : { service: service.settings }),
    accounts,
    issues: sortedIssues(issues),
    secrets: [...service.secrets, ...reads.flatMap(tokenUse)],
  };
}

async function accountFiles(
  service: ServiceRead,
  folder: string,
): Promise<{ files: readonly string[]; issues: readonly ConfigIssue[] }> {
  if (service.accounts === undefined) return { files: [], issues: [] };
  const { pattern, place } = service.accounts;
  const files = await matchPaths(pattern, folder);
  if (files.length > 0) return { files, issues: [] };
  const message = `no file matches \`accounts\` below ${shownPath(folder)}; add an account's file or mend the glob`;
  return { files, issues: [{ ...place, message }] };
}

/** The account with what only a look at the others shows: the same name, or the same address and token. */
function toAccount(read: AccountRead, all: readonly AccountRead[], serviceIsSound: boolean): LoadedAccount {
  const issues = [...read.issues];
  const namesake = all.find((other) => other !== read && other.name === read.name);
  if (namesake !== undefined) {
    const message = `${shownPath(namesake.file)} is an account named ${read.name} too; rename one of the files`;
    issues.push({ file: shownPath(read.file), line: 1, column: 1, message, severity: 'error' });
  }
  const { identity } = read;
  const twin = all.find((other) => other !== read && sameIdentity(read, other));
  if (twin !== undefined && identity !== undefined) {
    const message = `${shownPath(twin.file)} has the same base address and token; every account needs its own token`;
    issues.push({ ...identity.place, message });
  }
  const sound = issues.every(({ severity }) => severity !== 'error');
  return {
    name: read.name,
    file: read.file,
    ...(sound && serviceIsSound && read.settings !== undefined ? { settings: read.settings } : {}),
    issues: sortedIssues(issues),
  };
}

function sameIdentity({ identity: a }: AccountRead, { identity: b }: AccountRead): boolean {
  return (
    a?.baseUrl !== undefined &&
    b !== undefined &&
    a.baseUrl === b.baseUrl &&
    refKey(a.token) === refKey(b.token)
  );
}

function tokenUse({ name, identity }: AccountRead): SecretUse[] {
  if (identity === undefined) return [];
  const { file, line, column } = identity.place;
  return [{ ref: identity.token, what: `token of ${name}`, account: name, file, line, column }];
}

/** In the order of reading, each problem once: a shared catalog is read for many accounts. */
function sortedIssues(issues: readonly ConfigIssue[]): readonly ConfigIssue[] {
  const unique = new Map(issues.map((issue) => [JSON.stringify(Object.values(issue)), issue]));
  return [...unique.values()].toSorted(
    (a, b) =>
      compareCodePoints(a.file, b.file) ||
      a.line - b.line ||
      a.column - b.column ||
      compareCodePoints(a.message, b.message),
  );
}
