// What is posted to be planned: checked by hand down to the last field, since paths in it become files.
import type { PostedConfiguration } from '../daemon/daemon-api.ts';
import { decode } from '../daemon/http/body.ts';

const MOST_FILES = 5000;
const LONGEST_PATH = 1024;
const DEEPEST_PATH = 32;
const FIELDS = ['config', 'files', 'accounts', 'commit'];
const SHA = /^([0-9a-f]{40}|[0-9a-f]{64})$/;
const ACCOUNT = /^[A-Za-z0-9._-]{1,255}$/;

type Checked<T> = { readonly value: T } | { readonly problem: string };

/** The configuration in a body of JSON, or the first thing that is wrong with it and the fix. */
export function readPosted(body: Uint8Array): Checked<PostedConfiguration> {
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

function parsePosted(body: unknown): Checked<PostedConfiguration> {
  if (!isObject(body)) return wrong('the body must be an object with `config` and `files`');
  const unknown = Object.keys(body).find((key) => !FIELDS.includes(key));
  if (unknown !== undefined) return wrong(`${shown(unknown)} is none of ${FIELDS.join(', ')}`);
  const files = parseFiles(body['files']);
  if ('problem' in files) return files;
  const { config } = body;
  if (typeof config !== 'string' || !Object.hasOwn(files.value, config)) {
    return wrong('`config` must be the path of the service’s file, one of those in `files`');
  }
  const accounts = parseAccounts(body['accounts']);
  if ('problem' in accounts) return accounts;
  const commit = parseCommit(body['commit']);
  if ('problem' in commit) return commit;
  return { value: { config, files: files.value, accounts: accounts.value, commit: commit.value } };
}

function parseFiles(files: unknown): Checked<Record<string, string>> {
  if (!isObject(files)) return wrong('`files` must be an object of texts by their paths');
  const entries = Object.entries(files);
  if (entries.length > MOST_FILES) {
    return wrong(`\`files\` has ${entries.length} files; at most ${MOST_FILES} can be planned at a time`);
  }
  const texts: [string, string][] = [];
  for (const [path, text] of entries) {
    const problem = pathProblem(path);
    if (problem !== null) return wrong(`the path ${shown(path)} ${problem}`);
    if (typeof text !== 'string') return wrong(`the file ${shown(path)} must be a text`);
    texts.push([path, text]);
  }
  const inFile = texts
    .map(([path]) => path)
    .find((path) => foldersOf(path).some((folder) => Object.hasOwn(files, folder)));
  if (inFile !== undefined) return wrong(`the path ${shown(inFile)} leads through another of the files`);
  // Not an object literal filled by assignment: there a file called `__proto__` would be lost.
  return { value: Object.fromEntries(texts) };
}

/** What keeps a path from being one below a root that the reader chooses, on any system. */
function pathProblem(path: string): string | null {
  if (path === '') return 'is empty';
  if (path.length > LONGEST_PATH) return `is longer than ${LONGEST_PATH} characters`;
  if (path.startsWith('/')) return 'must be relative, without a slash at its beginning';
  if (path.includes('\\')) return 'has a backslash; write slashes';
  if (/[\p{Cc}\p{Cs}]/u.test(path)) return 'has a character that no path may have';
  if (/^[A-Za-z]:/.test(path)) return 'begins with a drive; paths are relative';
  const parts = path.split('/');
  if (parts.length > DEEPEST_PATH) return `has more than ${DEEPEST_PATH} parts`;
  if (parts.some((part) => part === '' || part === '.' || part === '..')) {
    return 'has an empty part, `.` or `..`; write it plainly';
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
  if (!isNames(accounts)) return wrong('`accounts` must be a list of names of accounts, or left out for all');
  return { value: [...new Set(accounts)] };
}

function parseCommit(commit: unknown): Checked<PostedConfiguration['commit']> {
  if (commit === undefined || commit === null) return { value: null };
  if (!isObject(commit)) return wrong('`commit` must be an object with `sha` and `committedAt`, or left out');
  const { sha, committedAt } = commit;
  if (typeof sha !== 'string' || !SHA.test(sha)) {
    return wrong('`commit.sha` must be a whole commit id in small hexadecimal digits');
  }
  if (typeof committedAt !== 'string' || Number.isNaN(Date.parse(committedAt))) {
    return wrong('`commit.committedAt` must be a time as 2026-11-21T05:24:10Z');
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
