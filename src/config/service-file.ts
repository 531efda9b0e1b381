// Converts rolecall.yaml to the settings of the service, with all defaults and with absolute paths: from it alone, or, with
// `source.git`, from it and from the file of the daemon's checkout.
import path from 'node:path';
import type { ConfigIssue } from '../core/errors.ts';
import type { CheckoutPlace } from '../core/ports/repository.ts';
import type { ConfigurationFiles } from './configuration-files.ts';
import type {
  SecretRef,
  SecretUse,
  ServiceSettings,
  StoreLocation,
  TrustSettings,
} from '../core/settings.ts';
import { remoteKind } from '../core/remote-address.ts';
import { fewIssues } from '../core/issue-limit.ts';
import { checkHttp, httpSettings } from './http-settings.ts';
import { checkNotify, notifySettings } from './notify-settings.ts';
import {
  type NodePath,
  issueAt,
  report,
  reportKey,
  plainRoot,
  type YamlFile,
  parseYaml,
} from './yaml/yaml-file.ts';
import { checkAgainstSchema, validKeys } from './schema-issues.ts';
import { absoluteRef } from './field-formats.ts';
import { type RolloutGlob, rolloutGlobs } from './join-accounts.ts';
import { gitSchema, type ServiceFile, serviceSchema } from './service-schema.ts';
import type { SourceRead } from './yaml/source-text.ts';

/** How long a run waits at most before it reads a list with missing entries again. */
const LONGEST_RECHECK_MS = 2000;

type Raw = Readonly<Record<string, unknown>>;

/** The service file as read. Valid parts are present even if others are not, so that accounts can be checked. */
export interface ServiceRead {
  readonly settings?: ServiceSettings | undefined;
  readonly issues: readonly ConfigIssue[];
  readonly secrets: readonly SecretUse[];
  readonly accounts?: { readonly pattern: string; readonly place: ConfigIssue } | undefined;
  /** Undefined when they are invalid, and then no region is checked. */
  readonly regions?: ServiceFile['regions'] | undefined;
  readonly defaults: ServiceFile['defaults'];
  /** The globs of `defaults.rollout`. */
  readonly defaultRollout: readonly RolloutGlob[];
}

/**
 * Checks the service file (absolute path) as it was read. Never throws because of the content of a file. `owner` is the
 * repository of `source.git` where its `api` is not used.
 */
export function readService(
  filePath: string,
  read: SourceRead,
  owner: 'machine' | 'repository' = 'machine',
): ServiceRead {
  const nothing = { secrets: [], defaults: {}, defaultRollout: [] };
  if ('issue' in read) {
    const fix = read.missing ? '; run `rolecall init` to write one, or name another file with --config' : '';
    return { ...nothing, issues: [{ ...read.issue, message: `${read.issue.message}${fix}` }] };
  }
  const { file, issues } = parseYaml(read.source);
  const raw = file && plainRoot(file, []);
  if (file === undefined || raw === undefined) return { ...nothing, issues };
  const written = checkAgainstSchema(file, serviceSchema, raw);
  checkApi(file, raw);
  if (owner === 'repository') checkUnused(file, raw);
  checkHttp(file, asRecord(raw['http']));
  checkNotify(file, raw['notify']);
  checkSource(file, raw);
  const { accounts: pattern, regions, defaults = {} } = written ?? validKeys(serviceSchema, raw);
  const isValid = !issues.some(({ severity }) => severity === 'error');
  const settings = isValid && written !== undefined ? complete(filePath, written) : undefined;
  return {
    issues: fewIssues(issues),
    accounts: pattern === undefined ? undefined : { pattern, place: issueAt(file, ['accounts']) },
    regions,
    defaults,
    defaultRollout: rolloutGlobs(file, ['defaults'], defaults.rollout),
    settings,
    secrets: settings === undefined ? [] : secretUses(file, settings),
  };
}

/**
 * Compares the two settings separately from the schema, so that another invalid key of `api` does not hide the issue.
 */
function checkApi(file: YamlFile, raw: Raw): void {
  const { timeout, settle } = validKeys(serviceSchema.shape.api.unwrap(), raw['api']);
  if (timeout === undefined || settle === undefined || settle > timeout) return;
  const key = Object.hasOwn(asRecord(raw['api']), 'settle') ? 'settle' : 'timeout';
  const message =
    'api.settle must be more than api.timeout, because a call may take effect until it times out';
  report(file, ['api', key], message);
}

/** ssh reads the private key itself, so for ssh the credentials must be a file. */
function checkSource(file: YamlFile, raw: Raw): void {
  const { url, credentials } = validKeys(gitSchema, asRecord(raw['source'])['git']);
  if (url === undefined || credentials === undefined || 'file' in credentials) return;
  if (remoteKind(url) !== 'ssh') return;
  const message =
    'this is ignored: with ssh, write { file: PATH } of the private key, or remove it to use the ssh agent';
  report(file, ['source', 'git', 'credentials'], message, 'warning');
}

/** The keys of a repository's file that only the service file of the machine may have. */
function checkUnused(file: YamlFile, raw: Raw): void {
  for (const key of ['trust', 'api'].filter((each) => Object.hasOwn(raw, each))) {
    const message = `\`${key}\` is not used here: it is read only from the service file of the machine; remove it`;
    reportKey(file, [key], message, 'warning');
  }
}

function asRecord(value: unknown): Raw {
  return typeof value === 'object' && value !== null ? { ...value } : {};
}

function complete(filePath: string, written: ServiceFile): ServiceSettings {
  const folder = path.dirname(filePath);
  const { api, http, retention, log, source } = written;
  const { timeout, settle, caFile, ...counts } = api;
  return {
    file: filePath,
    store: storeLocation(written.store, folder),
    api: {
      ...counts,
      timeoutMs: timeout,
      settleMs: settle,
      recheckMs: Math.min(settle / 16, LONGEST_RECHECK_MS),
      ...(caFile === undefined ? {} : { caFile: path.resolve(folder, caFile) }),
    },
    http: httpSettings(http, folder),
    ...(written.trust === undefined ? {} : { trust: trustSettings(written.trust, folder) }),
    notify: written.notify.map((webhook) => notifySettings(webhook, folder, http.publicUrl)),
    ...(source === undefined ? {} : { source: { git: gitSettings(source.git, folder) } }),
    retentionMs: retention,
    log,
  };
}

function storeLocation(written: ServiceFile['store'], folder: string): StoreLocation {
  if (typeof written === 'string') return { file: path.resolve(folder, written) };
  const { url, ...rest } = written.postgres;
  return { postgres: { ...rest, url: typeof url === 'string' ? url : absoluteRef(url, folder) } };
}

function trustSettings(
  { origins, env, files }: NonNullable<ServiceFile['trust']>,
  folder: string,
): TrustSettings {
  return {
    ...(origins === undefined ? {} : { origins }),
    ...(env === undefined ? {} : { env }),
    ...(files === undefined
      ? {}
      : {
          // A slash at the end means all files in the folder.
          files: files.map((glob) => path.resolve(folder, glob.endsWith('/') ? `${glob}**` : glob)),
        }),
  };
}

function gitSettings(written: NonNullable<ServiceFile['source']>['git'], folder: string) {
  const { url, interval, credentials, ...rest } = written;
  const isPath = remoteKind(url) === 'local' && !/^file:/iu.test(url);
  return {
    ...rest,
    url: isPath ? path.resolve(folder, url) : url,
    intervalMs: interval,
    ...(credentials === undefined ? {} : { credentials: absoluteRef(credentials, folder) }),
  };
}

function secretUses(file: YamlFile, settings: ServiceSettings): SecretUse[] {
  const uses: SecretUse[] = [];
  const add = (ref: SecretRef | string | undefined, what: string, path: NodePath, isKey = false): void => {
    if (ref === undefined || typeof ref === 'string') return;
    const { file: shown, line, column } = issueAt(file, path);
    uses.push({ ref, what, file: shown, line, column, ...(isKey ? { isKeyFile: true } : {}) });
  };
  if ('postgres' in settings.store) {
    add(settings.store.postgres.url, 'store.postgres.url', ['store', 'postgres', 'url']);
  }
  add(settings.http.token, 'http.token', ['http', 'token']);
  for (const [index, { name, token }] of settings.http.tokens.entries()) {
    add(token, `token ${name} of http.tokens`, ['http', 'tokens', index, 'token']);
  }
  for (const [index, { url, secret, repository }] of settings.notify.entries()) {
    const key = repository === undefined ? 'secret' : 'token';
    add(url, 'notify url', ['notify', index, 'url']);
    add(secret, `notify ${key}`, ['notify', index, key]);
  }
  const git = settings.source?.git;
  const isKey = git !== undefined && remoteKind(git.url) === 'ssh';
  add(git?.credentials, 'git credentials', ['source', 'git', 'credentials'], isKey);
  return uses;
}

/** The settings of the service, merged from all its files. */
export interface ServiceLayers {
  readonly read: ServiceRead;
  /** The service file of the machine, which alone decides what is trusted. */
  readonly machine: ServiceRead;
  /** The folder that the glob of `accounts` is relative to. */
  readonly folder: string;
  /** The files that were read, and those that do not exist, with their digests. */
  readonly digests: ReadonlyMap<string, string>;
}

/**
 * Reads the service file (absolute). With a checkout, `accounts`, `regions` and `defaults` come from the
 * checkout's own rolecall.yaml if it has one; the rest of that file is checked and not used. `api` decides whom the
 * machine trusts with tokens, and how much work an account may cause, so a commit cannot change it. If it has none, the glob
 * `accounts` of the service file is used in the checkout. `null` is a checkout before its first fetch.
 */
export function readServiceLayers(
  file: string,
  files: ConfigurationFiles,
  checkout: CheckoutPlace | null | undefined,
): ServiceLayers {
  const source = files.read(file);
  const digests = new Map([[file, source.digest]]);
  const machine = readService(file, source);
  const own = { machine, folder: path.dirname(file), digests };
  if (checkout === undefined) return { ...own, read: machine };
  if (checkout === null) return { ...own, read: withoutCheckout(machine, files.shown(file) ?? file) };
  const folder = path.join(checkout.link, checkout.path);
  const innerFile = path.join(folder, 'rolecall.yaml');
  const innerSource = files.read(innerFile);
  digests.set(innerFile, innerSource.digest);
  const isMissing = 'issue' in innerSource && innerSource.missing;
  const read = isMissing ? machine : layered(machine, readService(innerFile, innerSource, 'repository'));
  return { machine, folder, digests, read };
}

/** The settings of the machine with the accounts, regions and defaults of the repository's service file. */
function layered(machine: ServiceRead, { settings, ...inner }: ServiceRead): ServiceRead {
  return {
    ...inner,
    settings: settings && machine.settings,
    issues: [...machine.issues, ...inner.issues],
    secrets: machine.secrets,
  };
}

/** No settings, so that "not fetched yet" is not mistaken for "no accounts". */
function withoutCheckout({ issues, secrets }: ServiceRead, shown: string): ServiceRead {
  const message =
    'the daemon has not fetched the repository of `source.git` yet; check its log if this does not change';
  const issue: ConfigIssue = { file: shown, line: 1, column: 1, message, severity: 'error' };
  return { issues: [...issues, issue], secrets, defaults: {}, defaultRollout: [] };
}
