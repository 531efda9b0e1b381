// The bare repository of the daemon's own checkout: what is fetched, and the folders that its commits are checked out
// into, one for each, so that nobody ever sees half of an update. Every call is one git process.
import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { GitSourceSettings } from '../core/settings.ts';
import { type GitCall, type GitResult, runGit } from './run-git.ts';
import type { RemoteAccess } from './remote-access.ts';

/** The last commit that was accepted. It lives where the objects live, and moves in one step. */
const ACCEPTED = 'refs/rolecall/accepted';
const FETCHED = 'refs/rolecall/fetched';
/** For what depends on the network, or on the size of the repository. */
const LONG_MS = 120_000;
/** The files as committed: no program, no conversion, whatever `.gitattributes` says. */
const ATTRIBUTES = '* -filter -text -ident -working-tree-encoding -eol\n';

/** A failure that `explainGitFailure` makes a sentence of. */
export class GitFailure extends Error {
  override readonly name = 'GitFailure';
  readonly result: Exclude<GitResult, { type: 'done' }>;

  constructor(result: Exclude<GitResult, { type: 'done' }>) {
    super(`git: ${result.type}`);
    this.result = result;
  }
}

/** A folder that a commit is checked out into. */
export interface CommitFolder {
  readonly sha: string;
  readonly folder: string;
}

/** Where a repository stands, and what ends its work. */
export interface Repository {
  readonly folder: string;
  readonly signal?: AbortSignal | undefined;
}

/** Fails for a git that would not hear what it is told by its environment, the credentials among it. */
export async function requireRecentGit({ folder, signal }: Repository): Promise<void> {
  const version = outputOf(await runGit({ folder, args: ['version'], signal }));
  const [, major = '0', minor = '0'] = /(\d+)\.(\d+)/u.exec(version) ?? [];
  if (Number(major) > 2 || (Number(major) === 2 && Number(minor) >= 32)) return;
  throw new GitFailure({ type: 'failed', status: null, stderr: 'git is too old' });
}

/** Makes an empty bare repository. */
export async function initRepository(repository: Repository): Promise<void> {
  const { folder } = repository;
  await mkdir(folder, { recursive: true, mode: 0o700 });
  await git(repository, ['init', '--quiet', '--bare', '--template=', '.']);
  await mkdir(path.join(folder, 'info'), { recursive: true });
  await writeFile(path.join(folder, 'info/attributes'), ATTRIBUTES);
}

/** Fetches the branch with all of its history and gives the commit that it is at, wherever that has moved. */
export async function fetchBranch(
  repository: Repository,
  { url, branch }: GitSourceSettings,
  { env }: RemoteAccess,
): Promise<string> {
  const refspec = `+refs/heads/${branch}:${FETCHED}`;
  const options = ['--quiet', '--no-tags', '--no-recurse-submodules', '--no-write-fetch-head'];
  // The address stands in no configuration, and nothing but it and the branch is fetched.
  const args = ['fetch', ...options, '--', url, refspec];
  await git(repository, args, { env, timeoutMs: LONG_MS });
  const fetched = await run(repository, ['rev-parse', '--verify', '--quiet', `${FETCHED}^{commit}`]);
  // The one thing that git passes over without a failure.
  if (fetched.type === 'failed') throw new GitFailure({ ...fetched, stderr: 'shallow history' });
  return outputOf(fetched);
}

/** The last accepted commit; undefined when none is, or when its object is gone. */
export async function acceptedCommit(repository: Repository): Promise<string | undefined> {
  const result = await run(repository, ['rev-parse', '--verify', '--quiet', `${ACCEPTED}^{commit}`]);
  return result.type === 'done' ? result.stdout.trim() : undefined;
}

/** The file that a repository keeps the accepted commit in, for when the repository itself is broken. */
export function acceptedFile({ folder }: Repository): string {
  return path.join(folder, ACCEPTED);
}

export async function accept(repository: Repository, sha: string): Promise<void> {
  await git(repository, ['update-ref', ACCEPTED, sha]);
}

/** Whether `newer` was built upon `older`; false also when `older` is not known here. */
export async function isDescendant(repository: Repository, older: string, newer: string): Promise<boolean> {
  const result = await run(repository, ['merge-base', '--is-ancestor', older, newer]);
  const isUnknown = result.type === 'failed' && result.stderr.includes('Not a valid commit name');
  if (isUnknown || (result.type === 'failed' && result.status === 1)) return false;
  return outputOf(result) === '';
}

/** Whether the commit has a folder at this path. */
export async function hasFolder(repository: Repository, sha: string, folder: string): Promise<boolean> {
  const inside = path.posix.normalize(`${folder}/`).replace(/^\.\/|\/$/gu, '');
  if (inside === '') return true;
  const entry = await git(repository, ['ls-tree', '--full-tree', sha, '--', inside]);
  return entry.startsWith('040000 tree ');
}

/** Checks a commit out into a folder that must not be there yet. */
export async function addFolder(repository: Repository, { sha, folder }: CommitFolder): Promise<void> {
  const args = ['worktree', 'add', '--quiet', '--force', '--detach', folder, sha];
  await git(repository, args, { timeoutMs: LONG_MS });
}

/** Forgets the folders that are no longer there. */
export async function pruneFolders(repository: Repository): Promise<void> {
  await git(repository, ['worktree', 'prune', '--expire=now']);
}

/** Every folder that a commit was checked out into, finished or not. */
export async function listFolders(repository: Repository): Promise<readonly CommitFolder[]> {
  const listed = await git(repository, ['worktree', 'list', '--porcelain']);
  return [...listed.matchAll(/^worktree (.+)\nHEAD ([0-9a-f]+)$/gmu)].map(([, folder = '', sha = '']) => ({
    sha,
    folder,
  }));
}

/** Whether a folder holds exactly its commit: complete, unchanged, and with nothing else in it. */
export async function isComplete({ sha, folder }: CommitFolder): Promise<boolean> {
  const head = await runGit({ folder, args: ['rev-parse', 'HEAD'] });
  if (head.type !== 'done' || head.stdout.trim() !== sha) return false;
  const args = ['status', '--porcelain', '--untracked-files=all', '--ignored'];
  const status = await runGit({ folder, args });
  return status.type === 'done' && status.stdout === '';
}

async function git(
  repository: Repository,
  args: readonly string[],
  options: Pick<GitCall, 'env' | 'timeoutMs'> = {},
): Promise<string> {
  return outputOf(await run(repository, args, options));
}

function run(
  { folder, signal }: Repository,
  args: readonly string[],
  options: Pick<GitCall, 'env' | 'timeoutMs'> = {},
): Promise<GitResult> {
  // Named, so that a broken repository is not taken for a folder in the repository around it.
  return runGit({ folder, args: ['--git-dir=.', ...args], signal, ...options });
}

function outputOf(result: GitResult): string {
  if (result.type !== 'done') throw new GitFailure(result);
  return result.stdout.trim();
}
