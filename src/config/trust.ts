// What account files may use: where tokens may be sent, and what may be a token. The machine's own file decides, since
// whoever writes to the configuration's repository is trusted less than whoever sets up the machine.
import type { ConfigIssue } from '../core/errors.ts';
import { globMatcher } from '../core/names.ts';
import type { AccountSettings, TokenRules, Trust } from '../core/settings.ts';
import type { AccountRead } from './account-file.ts';
import type { ConfigurationFiles } from './configuration-files.ts';
import { matchesPath } from './path-glob.ts';
import type { ServiceRead } from './service-file.ts';

export const OWN_SECRET =
  'this is one of the daemon’s own secrets, which are never an account’s token; give the account a token of its own';

/** Where the usual tools put secrets. */
const SECRET_FOLDERS = ['/run/secrets/**', '/run/credentials/**', '/var/run/secrets/**'];

/** Variables that hold secrets of the daemon, whether or not its file names them. */
const OWN_VARIABLES = ['ROLECALL_HTTP_TOKEN', 'ROLECALL_DATABASE_URL'];

/**
 * The trust that the machine's own file gives. What it leaves out is unrestricted, unless a repository is the source:
 * then it is the origins of the machine's own regions, the usual secret folders and any variable.
 */
export async function trustOf(
  { settings, regions = {}, secrets }: ServiceRead,
  file: string,
  files: ConfigurationFiles,
): Promise<Trust> {
  const { trust = {}, source } = settings ?? {};
  const fromGit = source !== undefined;
  const secretFiles = trust.files ?? (fromGit ? SECRET_FOLDERS : null);
  const own = secrets.map(({ ref }) => ref);
  return {
    origins: trust.origins ?? (fromGit ? Object.values(regions).map(originOf) : null),
    env: trust.env ?? null,
    files: secretFiles === null ? null : await Promise.all(secretFiles.map((glob) => realGlob(glob, files))),
    own,
    ownFiles: await Promise.all(own.flatMap((ref) => ('file' in ref ? [files.realPath(ref.file)] : []))),
    decidedBy: files.shown(file) ?? 'the service’s file',
  };
}

/** What was judged before, so that an account that has not changed stays the same object. */
const judged = new WeakMap<AccountRead, { readonly by: string; readonly read: AccountRead }>();

/** The account with what it may not use as errors, and with the rules that its token is judged by when it is read. */
export async function checkTrust(
  read: AccountRead,
  trust: Trust,
  files: ConfigurationFiles,
): Promise<AccountRead> {
  const { settings, identity, address } = read;
  const issues: ConfigIssue[] = [];
  if (address !== undefined) issues.push(...originIssues(address, trust));
  if (identity === undefined) return issues.length === 0 ? read : refused(read, issues);
  const { token, place } = identity;
  const rules: TokenRules = {
    files: trust.files,
    ownFiles: trust.ownFiles,
    own: trust.own,
    decidedBy: trust.decidedBy,
    place,
  };
  const problem =
    'env' in token
      ? untrustedVariable(token.env, trust)
      : isUnrestricted(trust)
        ? undefined
        : untrustedFile(await files.realPath(token.file), rules);
  if (problem !== undefined) issues.push({ ...place, message: problem });
  if (issues.length > 0) return refused(read, issues);
  if (settings === undefined || (trust.files === null && trust.own.length === 0)) return read;
  const by = JSON.stringify(trust);
  const known = judged.get(read);
  if (known?.by === by) return known.read;
  const ruled = { ...read, settings: { ...settings, tokenRules: rules } };
  judged.set(read, { by, read: ruled });
  return ruled;
}

/**
 * An account that only posted files have, with the rules of its token. Null when its token may not be used: where it is
 * sent must be named as trusted by the machine's own file, since whoever posts files may be trusted less than whoever
 * may change the configuration.
 */
export async function trustPosted(
  settings: AccountSettings,
  trust: Trust,
  realPath: (file: string) => Promise<string>,
): Promise<AccountSettings | null> {
  const { baseUrl, token, file } = settings;
  const place: ConfigIssue = { file, line: 1, column: 1, severity: 'error', message: '' };
  if (trust.origins === null || originIssues({ baseUrl, place }, trust).length > 0) return null;
  const tokenRules: TokenRules = { ...trust, place };
  const problem =
    'env' in token
      ? untrustedVariable(token.env, trust)
      : untrustedFile(await realPath(token.file), tokenRules);
  return problem === undefined ? { ...settings, tokenRules } : null;
}

/** Why a secret file may not be an account's token, by its real path. The path is not repeated: it may be a token. */
export function untrustedFile(
  realPath: string,
  { files, ownFiles, decidedBy }: Pick<TokenRules, 'files' | 'ownFiles' | 'decidedBy'>,
): string | undefined {
  if (ownFiles.includes(realPath)) return OWN_SECRET;
  if (files === null || files.some((glob) => matchesPath(glob, realPath))) return undefined;
  return `account files may not use this file as a token; use one that \`trust.files\` of ${decidedBy} allows, or add it there`;
}

function untrustedVariable(name: string, { env, own, decidedBy }: Trust): string | undefined {
  const isOwn = own.some((ref) => 'env' in ref && ref.env === name);
  if (isOwn || OWN_VARIABLES.includes(name)) return OWN_SECRET;
  if (env === null || env.some((glob) => globMatcher(glob)(name))) return undefined;
  return `account files may not use this variable as a token; use one that \`trust.env\` of ${decidedBy} allows, or add it there`;
}

function originIssues(
  { baseUrl, place }: NonNullable<AccountRead['address']>,
  { origins, decidedBy }: Trust,
): ConfigIssue[] {
  const origin = originOf(baseUrl);
  if (origins === null || origins.some((glob) => globMatcher(glob)(origin))) return [];
  const message = `tokens may not be sent to ${origin}; if they may, add it to \`trust.origins\` of ${decidedBy}`;
  return [{ ...place, message }];
}

function isUnrestricted({ files, ownFiles }: Trust): boolean {
  return files === null && ownFiles.length === 0;
}

/** An account with an error gets no settings when all are joined. */
function refused(read: AccountRead, issues: readonly ConfigIssue[]): AccountRead {
  return { ...read, issues: [...read.issues, ...issues] };
}

function originOf(baseUrl: string): string {
  return new URL(baseUrl).origin;
}

/** The glob with links resolved in the folders before its first `*` or `?`. */
async function realGlob(glob: string, files: ConfigurationFiles): Promise<string> {
  const segments = glob.split('/');
  const wild = segments.findIndex((segment) => /[*?]/u.test(segment));
  if (wild === -1) return await files.realPath(glob);
  const folder = await files.realPath(segments.slice(0, wild).join('/') || '/');
  return [folder === '/' ? '' : folder, ...segments.slice(wild)].join('/');
}
