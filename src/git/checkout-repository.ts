// The bare repository of the daemon's own checkout, and its access to the remote one. Each commit is checked out into its own folder, so that no reader
// sees half of an update. Almost every function is one git process.
import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { isLoopback, remoteKind, shownRemote, withoutUsers } from '../core/remote-address.ts';
import { Secret } from '../core/secret.ts';
import type { GitSourceSettings } from '../core/settings.ts';
import { shellWord } from '../core/yaml-text.ts';
import { type GitCall, GitFailure, runGit } from './run-git.ts';

const FETCHED = 'refs/rolecall/fetched';
/** For calls that depend on the network, or on the size of the repository. */
const LONG_MS = 120_000;
/** In characters: the list of some 150,000 files. */
const MAX_LIST = 16 * 1024 * 1024;
/** The mode of a symbolic link. */
const LINK = '120000';
/** Checks files out as committed: overrides filters and conversions of `.gitattributes`. */
const ATTRIBUTES = '* -filter -text -ident -working-tree-encoding -eol\n';

/** A folder that a commit is checked out into. */
export interface CommitFolder {
  readonly sha: string;
  readonly folder: string;
}

/** The folder of a repository, and the signal that stops its git processes. */
export interface Repository {
  readonly folder: string;
  readonly signal?: AbortSignal | undefined;
}

/** Fails for an old git, which ignores the settings and credentials that `runGit` passes in the environment. */
export async function requireRecentGit({ folder, signal }: Repository): Promise<void> {
  const version = await runGit({ folder, args: ['version'], signal });
  const [, major = '0', minor = '0'] = /(\d+)\.(\d+)/u.exec(version) ?? [];
  if (Number(major) > 2 || (Number(major) === 2 && Number(minor) >= 32)) return;
  throw new GitFailure('the installed git is too old; install git 2.32 or later');
}

/** Creates an empty bare repository. */
export async function initRepository(repository: Repository): Promise<void> {
  const { folder } = repository;
  await mkdir(folder, { recursive: true, mode: 0o700 });
  await git(repository, ['init', '--quiet', '--bare', '--template=', '.']);
  await mkdir(path.join(folder, 'info'), { recursive: true });
  await writeFile(path.join(folder, 'info/attributes'), ATTRIBUTES);
}

/** Fetches the branch with its complete history and returns its commit, also after a force push. */
export async function fetchBranch(
  repository: Repository,
  { url, branch }: GitSourceSettings,
  { env }: RemoteAccess,
): Promise<string> {
  const refspec = `+refs/heads/${branch}:${FETCHED}`;
  const options = ['--quiet', '--no-tags', '--no-recurse-submodules', '--no-write-fetch-head'];
  // The address is an argument, so no stored setting of the repository can change what is fetched.
  const args = ['fetch', ...options, '--', url, refspec];
  await git(repository, args, { env, timeoutMs: LONG_MS });
  try {
    return await git(repository, ['rev-parse', '--verify', '--quiet', `${FETCHED}^{commit}`]);
  } catch (error) {
    if (!(error instanceof GitFailure) || error.status === null) throw error;
    // git ignores the new commits of a shallow remote without a failure.
    const problem = `the history of ${shownRemote(url)} is incomplete (a shallow clone)`;
    throw new GitFailure(`${problem}; use a complete repository`);
  }
}

/** Whether `newer` is a descendant of `older`; also false if the repository does not have `older`. */
export async function isDescendant(repository: Repository, older: string, newer: string): Promise<boolean> {
  try {
    await git(repository, ['merge-base', '--is-ancestor', older, newer]);
    return true;
  } catch (error) {
    if (!(error instanceof GitFailure)) throw error;
    if (error.status === 1 || error.output.includes('Not a valid commit name')) return false;
    throw error;
  }
}

/** The YAML files and symbolic links of a commit below a folder: all that is written to the disk. */
export interface FilesBelow {
  /** The folder with slashes, without one at its ends; empty for the repository itself. */
  readonly folder: string;
  /** Infinity if the folder has too many files of any kind to list. */
  readonly count: number;
  readonly bytes: number;
  /** What selects them, relative to the folder. */
  readonly pathspecs: readonly string[];
}

export async function filesBelow(repository: Repository, sha: string, at: string): Promise<FilesBelow> {
  const folder = path.posix.normalize(`${at}/`).replace(/^\.\/|\/$/gu, '');
  const args = ['ls-tree', '-r', '--long', '-z', '--full-tree', sha, '--'];
  if (folder !== '') args.push(`${folder}/`);
  const output = await git(repository, args, { maxOutput: MAX_LIST });
  const isCut = output.length >= MAX_LIST || /[^\0]$/u.test(output);
  let [count, bytes] = [isCut ? Infinity : 0, 0];
  const pathspecs = new Set<string>();
  for (const entry of output.split('\0')) {
    const [, mode, size, name = ''] = /^(\d+) blob \w+ +(\d+)\t(.+)$/su.exec(entry) ?? [];
    const extension = /\.ya?ml$/iu.exec(name)?.[0].toLowerCase();
    if (mode !== LINK && extension === undefined) continue;
    // An account may be reached by a link to its folder.
    pathspecs.add(mode === LINK ? `:(top,literal)${name}` : `:(icase,glob)**/*${extension}`);
    count += 1;
    bytes += Number(size);
  }
  return { folder, count, bytes, pathspecs: [...pathspecs] };
}

/** Checks these files of a commit out into a folder that must not exist. */
export async function addFolder(
  repository: Repository,
  { sha, folder }: CommitFolder,
  files: FilesBelow,
): Promise<void> {
  // Removes the records of folders that no longer exist.
  await git(repository, ['worktree', 'prune', '--expire=now']);
  await git(repository, ['worktree', 'add', '--quiet', '--force', '--detach', '--no-checkout', folder, sha]);
  const below = path.join(folder, files.folder);
  await mkdir(below, { recursive: true });
  const tree = [`--git-dir=${path.join(folder, '.git')}`, `--work-tree=${folder}`];
  const args = [...tree, 'checkout', '--quiet', sha, '--', ...files.pathspecs];
  const env = { GIT_LITERAL_PATHSPECS: '0' };
  await runGit({ folder: below, args, env, timeoutMs: LONG_MS, signal: repository.signal });
}

/** Whether a folder contains exactly what was checked out: complete, unchanged, and without other files. */
export async function isComplete({ sha, folder }: CommitFolder): Promise<boolean> {
  const args = ['ls-files', '-t', '--cached', '--deleted', '--modified', '--others'];
  try {
    const head = await runGit({ folder, args: ['rev-parse', 'HEAD'] });
    // H: a file of the index. Each difference from it has a line of its own.
    const isClean = /^(?:H .*\n)+$/u.test(await runGit({ folder, args, maxOutput: MAX_LIST }));
    return head.trim() === sha && isClean;
  } catch {
    return false;
  }
}

async function git(
  { folder, signal }: Repository,
  args: readonly string[],
  options: Pick<GitCall, 'env' | 'timeoutMs' | 'maxOutput'> = {},
): Promise<string> {
  // With an explicit git folder, git never uses a repository of a parent folder instead of a broken one.
  return (await runGit({ folder, args: ['--git-dir=.', ...args], signal, ...options })).trim();
}

/** What a fetch needs besides its arguments. */
export interface RemoteAccess {
  readonly env: Readonly<Record<string, string>>;
  /** Removes the credentials from a text of git, in each form that they may have in it. */
  readonly scrub: (text: string) => string;
}

/**
 * The access to the repository. For https the secret of `resolve` is a token, or `user:password`. For ssh the reference
 * in the settings is the file of the private key, and `resolve` is not called. Throws what `resolve` throws.
 */
export async function remoteAccess(
  settings: GitSourceSettings,
  resolve: () => Promise<Secret | undefined>,
): Promise<RemoteAccess> {
  const { url, credentials } = settings;
  const kind = remoteKind(url);
  if (kind === 'ssh') return { env: { GIT_SSH_COMMAND: sshCommand(credentials) }, scrub: withoutUsers };
  if (kind !== 'http') return { env: {}, scrub: withoutUsers };
  const { protocol, origin, hostname } = new URL(url);
  const isPlain = protocol === 'http:';
  // The fetched files decide what is deleted, so plain http is allowed only for this machine.
  const allow = {
    ...(isPlain && isLoopback(hostname) ? { GIT_ALLOW_PROTOCOL: 'http' } : {}),
    // A repository on this machine must not be requested through a proxy.
    ...(isLoopback(hostname) ? { NO_PROXY: '*', no_proxy: '*' } : {}),
  };
  const secret = await resolve();
  if (secret === undefined) return { env: allow, scrub: withoutUsers };
  const value = secret.reveal();
  // Most servers ignore the user name of a token; the others require this one.
  const user = value.includes(':') ? value : `x-access-token:${value}`;
  const basic = new Secret(Buffer.from(user).toString('base64'));
  const password = user.slice(user.indexOf(':') + 1);
  // The longest form first: after a part of it was removed, the rest would not be found.
  const hidden = [basic, secret, ...[password, encodeURIComponent(password)].map((text) => new Secret(text))];
  return {
    env: {
      ...allow,
      GIT_CONFIG_COUNT: '1',
      GIT_CONFIG_KEY_0: `http.${origin}/.extraHeader`,
      GIT_CONFIG_VALUE_0: `Authorization: Basic ${basic.reveal()}`,
    },
    // The secrets first: they may contain the characters that `withoutUsers` splits an address at.
    scrub: (text) => withoutUsers(hidden.reduce((rest, one) => one.scrub(rest), text)),
  };
}

/** The ssh command of a daemon: no prompts, and only hosts in known_hosts. */
function sshCommand(credentials: GitSourceSettings['credentials']): string {
  const options = ['BatchMode=yes', 'StrictHostKeyChecking=yes', 'ConnectTimeout=30', 'ControlPath=none'];
  const key = credentials !== undefined && 'file' in credentials ? credentials.file : undefined;
  const identity = key === undefined ? [] : ['-i', shellWord(key), '-o', 'IdentitiesOnly=yes'];
  return ['ssh', ...options.flatMap((option) => ['-o', option]), ...identity].join(' ');
}
