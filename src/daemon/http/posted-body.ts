// Validates the body of a posted plan. Every field is checked by hand, because its paths are used as file paths.
import type { PostedConfiguration } from '../../run/posted-plan.ts';

const MAX_FILES = 5000;
/** Objects and arrays of a valid body, with room to spare: parsing millions of them would take seconds. */
const MAX_PARTS = 100;
const MAX_PATH_LENGTH = 1024;
const MAX_PATH_PARTS = 32;
const FIELDS = ['config', 'files', 'accounts', 'commit'];
const SHA = /^([0-9a-f]{40}|[0-9a-f]{64})$/;
const ACCOUNT = /^[A-Za-z0-9._-]{1,255}$/;

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const OPEN_OBJECT = 0x7b;
const OPEN_ARRAY = 0x5b;

type Checked<T> = { readonly value: T } | { readonly problem: string };

/** The configuration in a JSON body, or its first problem and the fix. */
export function readPosted(body: Uint8Array): Checked<PostedConfiguration> {
  if (hasManyParts(body)) return wrong('the body has too many objects and lists');
  const text = decode(body);
  if (text === null) return wrong('the body is not UTF-8');
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return wrong('the body is not JSON');
  }
  return parsePosted(value);
}

function hasManyParts(body: Uint8Array): boolean {
  let parts = 0;
  let isInString = false;
  for (let at = 0; at < body.length && parts <= MAX_PARTS; at += 1) {
    const byte = body[at];
    if (byte === QUOTE) isInString = !isInString;
    else if (!isInString && (byte === OPEN_OBJECT || byte === OPEN_ARRAY)) parts += 1;
    else if (isInString && byte === BACKSLASH) at += 1;
  }
  return parts > MAX_PARTS;
}

/** null when the bytes are not UTF-8. */
function decode(bytes: Uint8Array): string | null {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    return null;
  }
}

function parsePosted(body: unknown): Checked<PostedConfiguration> {
  if (!isObject(body)) return wrong('the body must be an object with `config` and `files`');
  const unknown = Object.keys(body).find((key) => !FIELDS.includes(key));
  if (unknown !== undefined)
    return wrong(`${shown(unknown)} is unknown; the fields are ${FIELDS.join(', ')}`);
  const files = parseFiles(body['files']);
  if ('problem' in files) return files;
  const { config } = body;
  if (typeof config !== 'string' || !Object.hasOwn(files.value, config)) {
    return wrong('`config` must be the path of the service file, which must be in `files`');
  }
  const accounts = parseAccounts(body['accounts']);
  if ('problem' in accounts) return accounts;
  const commit = parseCommit(body['commit']);
  if ('problem' in commit) return commit;
  return { value: { config, files: files.value, accounts: accounts.value, commit: commit.value } };
}

function parseFiles(files: unknown): Checked<Record<string, string>> {
  if (!isObject(files)) return wrong('`files` must be an object from paths to texts');
  const entries = Object.entries(files);
  if (entries.length > MAX_FILES) {
    return wrong(`\`files\` has ${entries.length} files; at most ${MAX_FILES} can be planned at a time`);
  }
  const texts: [string, string][] = [];
  for (const [path, text] of entries) {
    const problem = pathProblem(path);
    if (problem !== null) return wrong(`the path ${shown(path)} ${problem}`);
    if (typeof text !== 'string') return wrong(`the content of ${shown(path)} must be a string`);
    texts.push([path, text]);
  }
  const inFile = texts
    .map(([path]) => path)
    .find((path) => foldersOf(path).some((folder) => Object.hasOwn(files, folder)));
  if (inFile !== undefined) return wrong(`the path ${shown(inFile)} has another of the files as a folder`);
  // Assignment to an object literal would lose a file named `__proto__`.
  return { value: Object.fromEntries(texts) };
}

/** Why a path is not, on any system, a path below the root that the reader chooses; null if it is. */
function pathProblem(path: string): string | null {
  if (path === '') return 'is empty';
  if (path.length > MAX_PATH_LENGTH) return `is longer than ${MAX_PATH_LENGTH} characters`;
  if (path.startsWith('/')) return 'must be relative: remove the slash at its beginning';
  if (path.includes('\\')) return 'has a backslash; write slashes';
  if (/[\p{Cc}\p{Cs}]/u.test(path)) return 'contains an invalid character';
  if (/^[A-Za-z]:/.test(path)) return 'begins with a drive; write a relative path';
  const parts = path.split('/');
  if (parts.length > MAX_PATH_PARTS) return `has more than ${MAX_PATH_PARTS} parts`;
  if (parts.some((part) => part === '' || part === '.' || part === '..')) {
    return 'has an empty part, `.` or `..`; remove it';
  }
  return null;
}

function foldersOf(path: string): string[] {
  const parts = path.split('/').slice(0, -1);
  return parts.map((_, index) => parts.slice(0, index + 1).join('/'));
}

function parseAccounts(accounts: unknown): Checked<readonly string[]> {
  if (accounts === undefined) return { value: [] };
  const isNames = (value: unknown): value is string[] =>
    Array.isArray(value) && value.every((name) => typeof name === 'string' && ACCOUNT.test(name));
  if (!isNames(accounts)) return wrong('`accounts` must be a list of account names; omit it to plan all');
  return { value: [...new Set(accounts)] };
}

function parseCommit(commit: unknown): Checked<PostedConfiguration['commit']> {
  if (commit === undefined || commit === null) return { value: null };
  if (!isObject(commit)) return wrong('`commit` must be an object with `sha` and `committedAt`, or omitted');
  const { sha, committedAt } = commit;
  if (typeof sha !== 'string' || !SHA.test(sha)) {
    return wrong('`commit.sha` must be a complete commit id in lower-case hexadecimal digits');
  }
  if (typeof committedAt !== 'string' || Number.isNaN(Date.parse(committedAt))) {
    return wrong('`commit.committedAt` must be a time such as 2026-11-21T05:24:10Z');
  }
  return { value: { sha, committedAt } };
}

function isObject(value: unknown): value is Readonly<Partial<Record<string, unknown>>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function wrong(problem: string): { readonly problem: string } {
  return { problem };
}

function shown(text: string): string {
  return JSON.stringify(text.length > 100 ? `${text.slice(0, 100)}…` : text);
}
