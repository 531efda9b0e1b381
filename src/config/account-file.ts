// Reads one account file: its settings and its desired entries.
import { type AllowedDelete, type DesiredCatalog, KINDS, LIST_KEYS } from '../core/catalog.ts';
import { MOST_ENTRIES } from '../core/limits.ts';
import path from 'node:path';
import type { z } from 'zod';
import type { ConfigIssue } from '../core/errors.ts';
import { holdsToken, NOT_SHOWN } from '../core/secret-looks.ts';
import { type AccountSettings, configDigest } from '../core/settings.ts';
import {
  accountSettingsSchema,
  allowedDeleteIssues,
  readAllowedDeletes,
  type WrittenLine,
} from './account-schema.ts';
import { ACCOUNT_NAME, accountAddress } from './account-address.ts';
import { type CatalogRead, type MergeLists, withoutNames } from './merge-lists.ts';
import type { ConfigurationFiles } from './configuration-files.ts';
import { fewIssues } from '../core/issue-limit.ts';
import { LEADS_OUT } from './files-on-disk.ts';
import { ACCOUNT_DEFAULTS, mergePolicies } from './inherited-settings.ts';
import { type WrittenLists, readNameLists } from './name-list.ts';
import { type AccountRead, inheritedRollout, type RolloutGlob, rolloutGlobs } from './join-accounts.ts';
import { issueAt, plainRoot, report, type YamlFile, inQuotes, parseYaml, quoted } from './yaml/yaml-file.ts';
import { checkAgainstSchema, validKeys } from './schema-issues.ts';
import { absoluteRef } from './field-formats.ts';
import type { ServiceFile } from './service-schema.ts';
import { sha256 } from '../system/digest.ts';
import type { SourceRead } from './yaml/source-text.ts';

/** What an account needs from outside its own file. */
export interface AccountContext {
  readonly service: ServiceParts;
  readonly files: ConfigurationFiles;
  readonly readCatalog: (file: string) => CatalogRead;
  readonly mergeLists: MergeLists;
  /** `YYYY-MM-DD` in UTC, for approvals that have expired. */
  readonly today: string;
}

interface ServiceParts extends Pick<ServiceFile, 'defaults'> {
  /** Undefined when they are invalid, and then no region is checked. */
  readonly regions?: ServiceFile['regions'] | undefined;
  /** The globs of `defaults.rollout`. */
  readonly defaultRollout: readonly RolloutGlob[];
}

type Settings = z.output<typeof accountSettingsSchema>;

/** The account's name: its file's base name without `.yaml` or `.yml`. */
export function accountName(file: string): string {
  return path.basename(file).replace(/\.ya?ml$/u, '');
}

/** Checks one account file (absolute path) as it was read. Never throws because of the content of a file. */
export function readAccount(filePath: string, read: SourceRead, context: AccountContext): AccountRead {
  const { regions, defaults, defaultRollout } = context.service;
  const name = accountName(filePath);
  const base = { name, file: filePath, isDated: false };
  const { file, issues } = 'issue' in read ? { issues: [read.issue] } : parseYaml(read.source);
  if (!ACCOUNT_NAME.test(name)) {
    const message = `${quoted(name)} is not a valid account name; rename the file, with letters, digits, ".", "_" and "-" only`;
    const shown = context.files.shown(filePath) ?? name;
    issues.push({ file: shown, line: 1, column: 1, message, severity: 'error' });
  }
  const raw = file && plainRoot(file, Object.values(LIST_KEYS));
  if (file === undefined || raw === undefined) return { ...base, issues };
  const settings = checkAgainstSchema(file, accountSettingsSchema, raw);
  const address = accountAddress(file, raw, regions);
  const parts = settings ?? validKeys(accountSettingsSchema, raw);
  const allowed = readAllowedDeletes(file, raw['allowedDeletes'], context.today);
  const lists = readLists(file, parts.extends, allowed, context);

  const isOwn = settings?.rollout !== undefined;
  const rollout = settings?.rollout ?? inheritedRollout(name, defaults.rollout);
  const isValid = !issues.some(({ severity }) => severity === 'error');
  const account = {
    name,
    file: filePath,
    desired: lists.desired,
    ...(rollout === undefined ? {} : { rollout: { after: rollout.after, waitMs: rollout.wait } }),
  };
  return {
    ...base,
    issues: fewIssues(issues),
    isDated: lists.isDated,
    token: parts.token && {
      ref: absoluteRef(parts.token, path.dirname(filePath)),
      place: issueAt(file, ['token']),
    },
    address,
    rollout: rollout && { globs: isOwn ? rolloutGlobs(file, [], rollout) : defaultRollout, isOwn },
    settings:
      isValid && settings !== undefined && address !== undefined
        ? complete(settings, defaults, { ...account, baseUrl: address.baseUrl })
        : undefined,
  };
}

/** The lists of an account with those of its catalogs. `isDated`: a line of `allowedDeletes` expires. */
function readLists(
  file: YamlFile,
  catalogs: Settings['extends'] = [],
  ownLines: readonly WrittenLine[],
  context: AccountContext,
) {
  const own = readNameLists(file);
  const sources: WrittenLists[] = [];
  const allowed = [...ownLines];
  const seen = new Set<string>();
  let names = countNames(own);
  for (const [index, { file: written, except }] of catalogs.entries()) {
    const catalog = path.resolve(path.dirname(file.path), written);
    const at = ['extends', index];
    if (seen.has(catalog)) {
      report(file, at, 'this file is listed twice in `extends`; remove one of the two', 'warning');
      continue;
    }
    seen.add(catalog);
    if (catalog === file.path) {
      report(file, at, 'a file cannot extend itself; remove it from `extends`');
      continue;
    }
    const read = context.readCatalog(catalog);
    if (context.files.leadsOut(catalog)) report(file, at, LEADS_OUT);
    else if (read.missing) {
      // The parent folders may look like tokens, so only the text of the setting decides.
      const shown = holdsToken(written) ? NOT_SHOWN : inQuotes(context.files.shown(catalog) ?? written);
      report(file, at, `there is no file ${shown}; correct the path`);
    } else addAll(file.issues, read.issues);
    const { lists, unmatched } = withoutNames(read.lists, except);
    if (!read.issues.some(({ severity }) => severity === 'error')) {
      for (const { glob, path: below } of unmatched) {
        const message = `${quoted(glob)} matches no name of the catalog; correct it or remove it`;
        report(file, [...at, 'except', ...below], message);
      }
    }
    sources.push(lists);
    allowed.push(...read.allowed);
    names += countNames(lists);
    if (names > MOST_ENTRIES) {
      report(file, at, `with this file the account has more than ${MOST_ENTRIES} names; take some out`);
      break;
    }
  }
  const desired: { -readonly [K in keyof DesiredCatalog]: DesiredCatalog[K] } = {
    allowedDeletes: distinctLines(allowed),
  };
  for (const kind of KINDS) {
    const catalogs = sources.flatMap((source) => (source[kind] === undefined ? [] : [source[kind]]));
    const ownList = own[kind];
    if (catalogs.length === 0 && ownList === undefined) continue;
    const merged = context.mergeLists(kind, catalogs, ownList);
    desired[kind] = merged.entries;
    if (merged.absent.length > 0) desired.absent = { ...desired.absent, [kind]: merged.absent };
    addAll(file.issues, merged.issues);
  }
  addAll(file.issues, allowedDeleteIssues(allowed, ownLines, desired));
  return { desired, isDated: allowed.length > 0 };
}

/** One by one, since a hundred thousand issues are too many for the arguments of one call. */
function addAll(issues: ConfigIssue[], more: readonly ConfigIssue[]): void {
  for (const issue of more) issues.push(issue);
}

/** Each line once: several catalogs may have the same one. */
function distinctLines(lines: readonly WrittenLine[]): AllowedDelete[] {
  return [...new Map(lines.map(({ line }) => [JSON.stringify(line), line])).values()];
}

function countNames(lists: WrittenLists): number {
  return KINDS.reduce((sum, kind) => sum + (lists[kind]?.length ?? 0), 0);
}

function complete(
  settings: Settings,
  defaults: ServiceFile['defaults'],
  account: Pick<AccountSettings, 'name' | 'file' | 'baseUrl' | 'desired' | 'rollout'>,
): AccountSettings {
  const { region, accountId } = settings;
  const policy = mergePolicies([defaults.policy, settings.policy]);
  const pin = accountId === undefined ? {} : { accountId };
  let digest: string | undefined;
  return {
    ...account,
    ...(region === undefined ? {} : { region }),
    ...pin,
    token: absoluteRef(settings.token, path.dirname(account.file)),
    mode: settings.mode ?? defaults.mode ?? ACCOUNT_DEFAULTS.mode,
    schedule: settings.schedule ?? defaults.schedule ?? ACCOUNT_DEFAULTS.schedule,
    timezone: settings.timezone ?? defaults.timezone ?? ACCOUNT_DEFAULTS.timezone,
    policy,
    // On demand, since most commands read many accounts and need the digests of few.
    get configDigest() {
      digest ??= configDigest({ ...account, ...pin, policy }, sha256);
      return digest;
    },
  };
}
