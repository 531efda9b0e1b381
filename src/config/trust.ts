// What account files may use: where tokens may be sent, and what may be a token. The service file of the machine
// decides this, because people who can push to the configuration's repository are trusted less than the machine's
// operator.
import type { ConfigIssue } from '../core/errors.ts';
import { globMatcher } from '../core/names.ts';
import type { SecretUse, ServiceSettings, Trust } from '../core/settings.ts';
import type { AccountRead } from './join-accounts.ts';
import type { ConfigurationFiles } from './configuration-files.ts';
import { matchesPath } from './path-glob.ts';

export const OWN_SECRET =
  'this is one of the daemon’s own secrets, which must not be an account’s token; give the account a separate token';

/** The folders in which systemd and container platforms store secrets. */
const SECRET_FOLDERS = ['/run/secrets/**', '/run/credentials/**', '/var/run/secrets/**'];

/** Variables with secrets of the daemon, even if its file does not name them. */
const OWN_VARIABLES = ['ROLECALL_HTTP_TOKEN', 'ROLECALL_DATABASE_URL', 'PGPASSWORD'];

/** What the machine's own service file says; a part is missing when it is invalid. */
interface MachineSettings {
  readonly settings?: ServiceSettings | undefined;
  readonly regions?: Readonly<Record<string, string>> | undefined;
  readonly secrets: readonly SecretUse[];
}

/**
 * The trust rules of the machine's own service file. What it omits is unrestricted, unless the configuration comes from
 * a repository: then the origins of the machine's own regions, the usual secret folders and any variable are allowed.
 */
export function trustOf(
  { settings, regions = {}, secrets }: MachineSettings,
  file: string,
  files: ConfigurationFiles,
): Trust {
  const { trust = {}, source } = settings ?? {};
  const fromGit = source !== undefined;
  const secretFiles = trust.files ?? (fromGit ? SECRET_FOLDERS : null);
  const own = secrets.map(({ ref }) => ref);
  return {
    origins: trust.origins ?? (fromGit ? Object.values(regions).map(originOf) : null),
    env: trust.env ?? null,
    files: secretFiles?.map((glob) => realGlob(glob, files)) ?? null,
    own,
    ownFiles: own.flatMap((ref) => ('file' in ref ? [files.realPath(ref.file)] : [])),
    decidedBy: files.shown(file) ?? 'the service file',
  };
}

/** Adds errors for what the account must not use, and the rules that are checked again when its token is read. */
export function checkTrust(read: AccountRead, trust: Trust, files: ConfigurationFiles): AccountRead {
  const { settings, token, address } = read;
  const issues = address === undefined ? [] : originIssues(address, trust);
  if (token !== undefined) issues.push(...tokenIssues(token, trust, files));
  // `joinAccounts` then gives the account no settings.
  if (issues.length > 0) return { ...read, issues: [...read.issues, ...issues] };
  const isBound = trust.files !== null || trust.own.length > 0;
  if (settings === undefined || token === undefined || !isBound) return read;
  return { ...read, settings: { ...settings, tokenRules: { ...trust, place: token.place } } };
}

/**
 * Why a secret file must not be an account's token, by its real path. The message omits the path: it may be a token.
 */
export function untrustedFile(realPath: string, { files, ownFiles, decidedBy }: Trust): string | undefined {
  if (ownFiles.includes(realPath)) return OWN_SECRET;
  if (files === null || files.some((glob) => matchesPath(glob, realPath))) return undefined;
  return `account files must not use this file as a token; use one that \`trust.files\` in ${decidedBy} allows, or add it there`;
}

function untrustedVariable(name: string, { env, own, decidedBy }: Trust): string | undefined {
  const isOwn = own.some((ref) => 'env' in ref && ref.env === name);
  if (isOwn || OWN_VARIABLES.includes(name)) return OWN_SECRET;
  if (env === null || env.some((glob) => globMatcher(glob)(name))) return undefined;
  return `account files must not use this variable as a token; use one that \`trust.env\` in ${decidedBy} allows, or add it there`;
}

function originIssues(
  { baseUrl, place }: NonNullable<AccountRead['address']>,
  { origins, decidedBy }: Trust,
): ConfigIssue[] {
  if (origins === null) return [];
  const origin = originOf(baseUrl);
  if (origins.some((glob) => globMatcher(glob)(origin))) return [];
  const message = `tokens must not be sent to ${origin}; to allow it, add it to \`trust.origins\` in ${decidedBy}`;
  return [{ ...place, message }];
}

function tokenIssues(
  { ref, place }: NonNullable<AccountRead['token']>,
  trust: Trust,
  files: ConfigurationFiles,
): ConfigIssue[] {
  if ('file' in ref && trust.files === null && trust.ownFiles.length === 0) return [];
  const problem =
    'env' in ref ? untrustedVariable(ref.env, trust) : untrustedFile(files.realPath(ref.file), trust);
  return problem === undefined ? [] : [{ ...place, message: problem }];
}

function originOf(baseUrl: string): string {
  return new URL(baseUrl).origin;
}

/** The glob with symbolic links resolved in the folders before its first `*` or `?`. */
function realGlob(glob: string, files: ConfigurationFiles): string {
  const segments = glob.split('/');
  const wild = segments.findIndex((segment) => /[*?]/u.test(segment));
  if (wild === -1) return files.realPath(glob);
  const folder = files.realPath(segments.slice(0, wild).join('/') || '/');
  return [folder === '/' ? '' : folder, ...segments.slice(wild)].join('/');
}
