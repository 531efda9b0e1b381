// The git commit that the configuration stands in (contract, sections 4 and 7). Everything here answers "cannot tell"
// instead of failing: git may be missing, the folder no repository, the clone shallow, the repository somebody else's.
import { realpath, stat } from 'node:fs/promises';
import path from 'node:path';
import type { SimpleGit } from 'simple-git';
import { cutSubject } from '../core/commit-subject.ts';
import type { CommitRelation } from '../core/ports.ts';
import type { ConfigCommit } from '../core/settings.ts';

const TIMEOUT_MS = 10_000;
const SHA = /^[0-9a-f]{7,64}$/u;

/**
 * The commit that is checked out where `file` stands, or undefined when that is not in git. `dirty` tells whether
 * anything in the folders of `file` and `paths` differs from it, untracked files included. Three git processes, none
 * when no repository is around.
 */
export async function readConfigCommit(
  file: string,
  paths: readonly string[],
): Promise<ConfigCommit | undefined> {
  return orElse(undefined, async () => {
    const root = await repositoryRoot(file);
    if (root === undefined) return undefined;
    const folders = await foldersWithin(root, [file, ...paths]);
    const git = await gitIn(root);
    const [tracked, log, status] = await Promise.all([
      git.raw('ls-files', '--cached', '-z', '--', await realFile(file)),
      git.raw('log', '-1', '--no-show-signature', '--format=%H%x00%cI%x00%aI%x00%s', 'HEAD', '--'),
      git.raw('status', '--porcelain=v1', '-z', '--untracked-files=all', '--', ...folders),
    ]);
    const [sha, committedAt, authoredAt, subject] = log.trim().split('\0');
    // An ignored or untracked file inside of some repository, such as a home folder's, does not stand in git.
    if (tracked === '' || sha === undefined || committedAt === undefined) return undefined;
    return {
      sha,
      dirty: status !== '',
      committedAt: inUtc(committedAt),
      authoredAt: inUtc(authoredAt ?? committedAt),
      subject: cutSubject(subject ?? ''),
    };
  });
}

/**
 * How `older` relates to `newer`: `ancestor` means that `newer` was built upon it. Asks the repository of `file`;
 * `unknown` when git cannot tell, as in a shallow clone. Two git processes at most.
 */
export async function compareCommits(file: string, older: string, newer: string): Promise<CommitRelation> {
  if (!SHA.test(older) || !SHA.test(newer)) return 'unknown';
  return orElse<CommitRelation>('unknown', async () => {
    const root = await repositoryRoot(file);
    if (root === undefined) return 'unknown';
    const git = await gitIn(root);
    const counts = await git.raw('rev-list', '--left-right', '--count', `${older}...${newer}`, '--');
    const [onlyOlder, onlyNewer] = counts.trim().split(/\s+/u).map(Number);
    if (onlyOlder === undefined || onlyNewer === undefined) return 'unknown';
    if (onlyOlder === 0) return onlyNewer === 0 ? 'same' : 'ancestor';
    if (onlyNewer === 0) return 'descendant';
    // Where a shallow clone is cut off, two commits of one line look as if they had nothing in common.
    const shallow = await git.raw('rev-parse', '--is-shallow-repository');
    return shallow.trim() === 'false' ? 'diverged' : 'unknown';
  });
}

/** One spelling for one instant; versions of git differ in theirs. Throws when it is none. */
function inUtc(date: string): string {
  return new Date(date).toISOString();
}

async function orElse<T>(unknown: T, ask: () => Promise<T>): Promise<T> {
  try {
    return await ask();
  } catch {
    // Which git, which repository and which owner it failed for does not matter: the answer is "cannot tell".
    return unknown;
  }
}

/** Found without git, which costs nothing where there is no repository. */
async function repositoryRoot(file: string): Promise<string | undefined> {
  let folder = path.dirname(await realFile(file));
  for (;;) {
    const found = await stat(path.join(folder, '.git')).then(
      () => true,
      () => false,
    );
    if (found) return folder;
    const parent = path.dirname(folder);
    if (parent === folder) return undefined;
    folder = parent;
  }
}

async function foldersWithin(root: string, files: readonly string[]): Promise<readonly string[]> {
  const real = await Promise.all(files.map(async (file) => path.dirname(await realFile(file))));
  // git refuses a path outside of the repository altogether.
  return [...new Set(real)].filter((folder) => folder === root || folder.startsWith(`${root}${path.sep}`));
}

async function realFile(file: string): Promise<string> {
  const absolute = path.resolve(file);
  return realpath(absolute).catch(() => absolute);
}

async function gitIn(folder: string): Promise<SimpleGit> {
  const { simpleGit } = await import('simple-git');
  return simpleGit({
    baseDir: folder,
    timeout: { block: TIMEOUT_MS },
    // A repository's own settings must not make a look at it run programs.
    config: ['core.fsmonitor=false', 'core.hooksPath=/dev/null', 'core.quotePath=false'],
    unsafe: { allowUnsafeFsMonitor: true, allowUnsafeHooksPath: true },
    allowEnvironment: Object.keys(GIT_ENVIRONMENT),
  }).env({
    ...pick(process.env, ['PATH', 'HOME', 'USERPROFILE', 'SYSTEMROOT', 'XDG_CONFIG_HOME']),
    ...GIT_ENVIRONMENT,
  });
}

/** No prompt, no lock file, no pattern in a path, nothing fetched on the way. */
const GIT_ENVIRONMENT = {
  LC_ALL: 'C',
  GIT_TERMINAL_PROMPT: '0',
  GIT_OPTIONAL_LOCKS: '0',
  GIT_LITERAL_PATHSPECS: '1',
  GIT_NO_LAZY_FETCH: '1',
};

function pick(env: NodeJS.ProcessEnv, names: readonly string[]): Record<string, string> {
  return Object.fromEntries(
    names.flatMap((name) => {
      const value = env[name];
      return value === undefined ? [] : [[name, value]];
    }),
  );
}
