// Validates the body of a posted plan. Its paths are used as file paths.
import { z } from 'zod';
import type { PostedConfiguration } from '../../run/posted-plan.ts';

const MAX_FILES = 5000;
const MAX_PATH_LENGTH = 1024;
const MAX_PATH_PARTS = 32;
const SHA = /^([0-9a-f]{40}|[0-9a-f]{64})$/;
const ACCOUNT = /^[A-Za-z0-9._-]{1,255}$/;

type Checked<T> = { readonly value: T } | { readonly problem: string };

const WRONG_CONFIG = '`config` must be the path of the service file, which must be in `files`';
const WRONG_ACCOUNTS = '`accounts` must be a list of account names; omit it to plan all';
const WRONG_SHA = '`commit.sha` must be a complete commit id in lower-case hexadecimal digits';
const WRONG_TIME = '`commit.committedAt` must be a time such as 2026-11-21T05:24:10Z';

/** A record of zod would lose a file named `__proto__`. */
const FILES = z.custom<PostedConfiguration['files']>().superRefine((files, context) => {
  const problem = filesProblem(files);
  if (problem !== null) context.addIssue(problem);
});

const COMMIT = z.object(
  {
    sha: z.string(WRONG_SHA).regex(SHA, WRONG_SHA),
    committedAt: z.string(WRONG_TIME).refine((text) => !Number.isNaN(Date.parse(text)), WRONG_TIME),
  },
  '`commit` must be an object with `sha` and `committedAt`, or omitted',
);

const SHAPE = {
  config: z.string(WRONG_CONFIG),
  files: FILES,
  accounts: z
    .array(z.string(WRONG_ACCOUNTS).regex(ACCOUNT, WRONG_ACCOUNTS), WRONG_ACCOUNTS)
    .default([])
    .transform((names) => [...new Set(names)]),
  commit: COMMIT.nullable().default(null),
};

const BODY = z.strictObject(SHAPE, {
  error: (issue) =>
    issue.code === 'unrecognized_keys'
      ? `${shown(issue.keys[0] ?? '')} is unknown; the fields are ${Object.keys(SHAPE).join(', ')}`
      : 'the body must be an object with `config` and `files`',
});

/** The first problem of the files; null if there is none. */
function filesProblem(files: unknown): string | null {
  if (typeof files !== 'object' || files === null || Array.isArray(files))
    return '`files` must be an object from paths to texts';
  const entries = Object.entries(files);
  if (entries.length > MAX_FILES)
    return `\`files\` has ${entries.length} files; at most ${MAX_FILES} can be planned at a time`;
  for (const [path, text] of entries) {
    const problem = pathProblem(path);
    if (problem !== null) return `the path ${shown(path)} ${problem}`;
    if (typeof text !== 'string') return `the content of ${shown(path)} must be a string`;
    if (foldersOf(path).some((folder) => Object.hasOwn(files, folder)))
      return `the path ${shown(path)} has another of the files as a folder`;
  }
  return null;
}

/** The configuration in a JSON body, or its first problem and the fix. */
export function readPosted(body: Uint8Array): Checked<PostedConfiguration> {
  const json = parseJson(body, '');
  if ('problem' in json) return json;
  const { data, error } = BODY.safeParse(json.value);
  if (error !== undefined) return wrong(error.issues[0]?.message ?? 'the body is wrong');
  return Object.hasOwn(data.files, data.config) ? { value: data } : wrong(WRONG_CONFIG);
}

/** The JSON in a body. An empty body is read as `empty`. */
export function parseJson(body: Uint8Array, empty: string): Checked<unknown> {
  let text: string;
  try {
    text = new TextDecoder('utf-8', { fatal: true }).decode(body);
  } catch {
    return wrong('the body is not UTF-8');
  }
  try {
    return { value: JSON.parse(text.trim() === '' ? empty : text) };
  } catch {
    return wrong('the body is not JSON');
  }
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

function wrong(problem: string): { readonly problem: string } {
  return { problem };
}

function shown(text: string): string {
  return JSON.stringify(text.length > 100 ? `${text.slice(0, 100)}…` : text);
}
