// Resolves references to secrets, names them in messages, and reads certificate authorities. No message quotes a value.
import { existsSync } from 'node:fs';
import path from 'node:path';
import { KINDS } from '../core/catalog.ts';
import { ConfigError, type ConfigIssue, type SecretIssue, SecretError } from '../core/errors.ts';
import { FileError, readRegularFile } from '../system/regular-file.ts';
import { filesOnDisk } from './files-on-disk.ts';
import { placeIn, shownPath } from './yaml/source-text.ts';
import { Secret } from '../core/secret.ts';
import { looksLikeSecret } from '../core/secret-looks.ts';
import type { AccountSettings, Configuration, ConfiguredAccount, SecretRef } from '../core/settings.ts';
import { OWN_SECRET, untrustedFile } from './trust.ts';

/** Longer than any token or key. */
const MAX_SECRET_BYTES = 64 * 1024;
const TOO_LARGE = `has more than ${MAX_SECRET_BYTES / 1024} KiB, so it can't be a secret`;
/** More than all public authorities together. */
const MAX_AUTHORITIES_BYTES = 4 * 1024 * 1024;

/** FileError codes for which the file exists. */
const EXISTING = new Set(['irregular', 'too_large']);

/** Shorter tokens match parts of usual names. */
const SHORTEST_COPY = 8;

const ADVICE =
  'remove it, and renew the token in the service: it is known to everybody who can read the file';

type Environment = Readonly<Record<string, string | undefined>>;

/** The value of a reference, or why it can't be read; for `isFound` see `shownRef`. */
type Found = { readonly isFound: boolean } & (
  { readonly value: string; readonly realPath?: string } | { readonly problem: string }
);

/**
 * A warning for each secret that is missing or cannot be sent, at the position of the reference; `validate
 * --require-secrets` makes them errors. An error if the token of an account is one of the daemon's own secrets, or is
 * written in the account's file. Nothing is sent anywhere.
 */
export async function checkSecrets(
  { secrets, accounts }: Pick<Configuration, 'secrets' | 'accounts'>,
  env: Environment,
): Promise<SecretIssue[]> {
  const found = secrets.map((use) => ({ use, found: find(use.ref, env) }));
  const own = new Set(
    found.flatMap(({ use, found: one }) =>
      use.account === undefined && 'value' in one ? [one.value, passwordOf(one.value)] : [],
    ),
  );
  const problems = found.flatMap(({ use, found: one }): SecretIssue[] => {
    const { what, account, file, line, column } = use;
    const place = { file, line, column, ...(account === undefined ? {} : { account }) };
    if (account !== undefined && 'value' in one && one.value !== '' && own.has(one.value)) {
      return [{ ...place, message: `${what}: ${OWN_SECRET}`, severity: 'error' }];
    }
    const problem = unusableProblem(one, use.isKeyFile);
    if (problem === undefined) return [];
    const message = `${what}: ${shownRef(use.ref, one.isFound)} ${problem}`;
    return [{ ...place, message, severity: 'warning' }];
  });
  const tokens = new Map(
    found.flatMap(({ use: { account }, found: one }) =>
      account !== undefined && 'value' in one ? [[account, one.value] as const] : [],
    ),
  );
  const copied = accounts.flatMap((account): SecretIssue[] => {
    const token = tokens.get(account.name);
    const issue = token === undefined ? undefined : copiedToken(account, token);
    return issue === undefined ? [] : [{ ...issue, account: account.name }];
  });
  return [...problems, ...copied];
}

/**
 * The secret itself, from the environment or its file, without trailing line breaks. `what` names its
 * purpose in the error. Throws SecretError, which names only the variable or the file.
 */
export async function resolveSecret(ref: SecretRef, what: string): Promise<Secret> {
  return new Secret(findUsable(ref, what).value);
}

/**
 * The token of an account, if the service file of this machine allows it and the account's file does not contain it. This is checked again with the real path and
 * the value, since links and contents may change after the load. Throws SecretError, or ConfigError if the token is not
 * allowed.
 */
export async function resolveToken(settings: AccountSettings): Promise<Secret> {
  const { name, file, token, tokenRules } = settings;
  const what = `the token of account ${name}`;
  const { value, realPath } = findUsable(token, what);
  const copied = copiedToken({ file, settings }, value);
  if (copied !== undefined) throw new ConfigError([copied]);
  if (tokenRules === undefined) return new Secret(value);
  const problem = realPath === undefined ? undefined : untrustedFile(realPath, tokenRules);
  const own = tokenRules.own.map((ref) => find(ref, process.env));
  const isOwn = own.some((one) => 'value' in one && (one.value === value || passwordOf(one.value) === value));
  const refusal = isOwn ? OWN_SECRET : problem;
  if (refusal !== undefined) throw new ConfigError([{ ...tokenRules.place, message: refusal }]);
  return new Secret(value);
}

/** A secret without the byte order mark and the line ends that editors add. */
export function stripped(text: string): string {
  let end = text.length;
  while (end > 0 && '\r\n'.includes(text[end - 1] ?? '')) end -= 1;
  return text.slice(text.startsWith('\uFEFF') ? 1 : 0, end);
}

/** The text of a PEM file. Throws ConfigError. */
export async function readAuthorities(file: string): Promise<string> {
  try {
    return readRegularFile(file, MAX_AUTHORITIES_BYTES).bytes.toString('utf8');
  } catch (error) {
    const code = error instanceof FileError ? error.code : 'unknown';
    const message = `api.caFile cannot be read (${code.replace('_', ' ')}); write the path of a regular PEM file of at most 4 MiB`;
    throw new ConfigError([{ file: shownPath(file), line: 1, column: 1, severity: 'error', message }]);
  }
}

function findUsable(ref: SecretRef, what: string): Extract<Found, { value: string }> {
  const found = find(ref, process.env);
  const problem = unusableProblem(found);
  if (problem === undefined && 'value' in found) return found;
  throw new SecretError(`${what}: ${shownRef(ref, found.isFound)} ${problem ?? 'is not set'}`);
}

function find(ref: SecretRef, env: Environment): Found {
  if ('env' in ref) {
    const value = env[ref.env];
    if (value === undefined) return { isFound: false, problem: 'is not set' };
    if (value.length > MAX_SECRET_BYTES) return { isFound: true, problem: TOO_LARGE };
    return { isFound: true, value: stripped(value) };
  }
  try {
    const { bytes, realPath } = readRegularFile(ref.file, MAX_SECRET_BYTES);
    return { isFound: true, value: stripped(bytes.toString('utf8')), realPath };
  } catch (error) {
    const code = error instanceof FileError ? error.code : 'unknown';
    return { isFound: EXISTING.has(code), problem: readProblem(code) };
  }
}

function readProblem(code: string): string {
  if (code === 'ENOENT' || code === 'ENOTDIR' || code === 'ENAMETOOLONG') return 'does not exist';
  if (code === 'irregular')
    return 'is not a regular file; write the path of a regular file that contains only the secret';
  if (code === 'too_large') return TOO_LARGE;
  return `cannot be read (${code})`;
}

/** Why a value cannot be used. A key file is read by ssh, whatever is in it. */
function unusableProblem(found: Found, isKeyFile = false): string | undefined {
  if ('problem' in found) return found.problem;
  if (found.value === '') return 'is empty';
  if (isKeyFile) return undefined;
  if (!/^[\x20-\x7e]+$/u.test(found.value))
    return 'has characters that are not allowed in an HTTP header, such as a line break';
  return found.value.trim() === found.value ? undefined : 'starts or ends with white space';
}

/**
 * The error at the token in the account's file, or undefined: as a name, it would be sent to the service for everybody to
 * see. Finds it in comments and in catalogs too. No message repeats it.
 */
export function copiedToken(
  { file, settings }: Pick<ConfiguredAccount, 'file' | 'settings'>,
  token: string,
): ConfigIssue | undefined {
  if (token.length < SHORTEST_COPY) return undefined;
  const place = { file: shownPath(file), severity: 'error' } as const;
  const text = textOf(file);
  const at = text.indexOf(token);
  if (at !== -1)
    return { ...place, ...placeIn(text, at), message: `the token itself is in this file; ${ADVICE}` };
  if (settings === undefined || !namesIn(settings).some((name) => name.includes(token))) return undefined;
  const message = `the token itself is in this file or in a catalog that it extends; ${ADVICE}`;
  return { ...place, line: 1, column: 1, message };
}

/** The same account with its token removed from the messages about its files. Reads no token without messages. */
export function withoutToken(account: ConfiguredAccount, ref: SecretRef | undefined): ConfiguredAccount {
  const found = account.issues.length === 0 || ref === undefined ? undefined : find(ref, process.env);
  if (found === undefined || 'problem' in found || found.value.length < SHORTEST_COPY) return account;
  const secret = new Secret(found.value);
  const issues = account.issues.map((issue) => ({ ...issue, message: secret.scrub(issue.message) }));
  return { ...account, issues };
}

/** An unreadable file is not this check's concern: its text is empty. */
function textOf(file: string): string {
  const read = filesOnDisk().read(file);
  return 'source' in read ? read.source.text : '';
}

function namesIn({ desired, policy }: AccountSettings): string[] {
  const entries = KINDS.flatMap((kind) => desired[kind] ?? []);
  return [
    ...entries.flatMap(({ name, formerly }) => [name, ...formerly]),
    ...KINDS.flatMap((kind) => desired.absent?.[kind] ?? []),
    ...desired.allowedDeletes.flatMap((line) => ('name' in line ? [line.name] : [])),
    ...policy.protect,
  ];
}

/** The password of `user:password`, otherwise the value itself; git credentials may have both forms. */
function passwordOf(value: string): string {
  return value.slice(value.indexOf(':') + 1);
}

/**
 * How messages name a reference. A user may have pasted the secret itself instead of the name of a variable or the path
 * of a file, so a message names a missing target only if it does not look like a secret. `isFound`: the variable or file
 * exists, so its name is not a secret.
 */
export function shownRef(ref: SecretRef, isFound: boolean): string {
  if ('file' in ref) return shownFile(ref.file, isFound);
  return isFound || (/^[A-Z][A-Z0-9_]*$/u.test(ref.env) && !looksLikeSecret(ref.env))
    ? `the environment variable ${ref.env}`
    : 'the environment variable (its name is not shown because it looks like a secret; write the name of a variable)';
}

function shownFile(file: string, isFound: boolean): string {
  if (isFound) return `the file ${shownPath(file)}`;
  let known = path.dirname(file);
  while (!existsSync(known) && path.dirname(known) !== known) known = path.dirname(known);
  const unknown = path.relative(known, file).split(path.sep);
  return unknown.some(looksLikeSecret)
    ? `a file in ${shownPath(known)} (its name is not shown because it looks like a secret; write the path of a file)`
    : `the file ${shownPath(file)}`;
}
