// Reads the git commit of the configuration. The functions return "unknown" instead of failing: git may be missing, the
// folder may not be a repository, or the clone may be shallow.
//
// The repository may belong to another user, and its settings can name programs. So git is used only to read objects
// and the index. The files of the working tree are compared here, because git would run the filters of these settings.
import path from 'node:path';
import { createHash } from 'node:crypto';
import { lstat, readlink, stat } from 'node:fs/promises';
import { cutSubject } from '../core/journal.ts';
import type { CommitPlace, CommitReader, CommitRelation } from '../core/ports/repository.ts';
import type { ConfigCommit } from '../core/settings.ts';
import { runGit } from './run-git.ts';
import { readRegularFile, realPathOf } from '../system/regular-file.ts';

const TIMEOUT_MS = 10_000;
/** Enough for the lists of a folder with 50,000 files. */
const MAX_OUTPUT = 16 * 1024 * 1024;
const SHA = /^[0-9a-f]{7,64}$/u;
/** Files of a configuration. The other files of a large repository are not read. */
const YAML = /\.ya?ml$/iu;

/** Larger than any file that rolecall reads; a larger file counts as changed. */
const MAX_BYTES = 8 * 1024 * 1024;
/** For how long a commit is not read again while the content of the configuration stays the same. */
const RECENT_MS = 1000;
/** The same while HEAD stays the same, which costs one git process instead of four. */
const FRESH_MS = 10_000;

/** After a line with the word commit: the id, the dates in seconds, and the subject. */
const FORMAT = '--format=%H%n%ct%n%at%n%an%n%s';

/** A file as `ls-files --stage` lists it. */
interface Listed {
  readonly mode: string;
  /** The id of its blob. */
  readonly id: string;
}

interface KnownCommit {
  readonly head: string;
  readonly readMs: number;
  readonly commit: ConfigCommit | null;
}

/**
 * Reads the commit of a configuration, for a daemon that starts many runs per second. Concurrent calls share the result.
 * `nowMs` is for tests.
 */
export function createCommitReader(nowMs: () => number = Date.now): CommitReader {
  let last: { key: string; askedMs: number; answer: Promise<KnownCommit | null> };
  last = { key: '', askedMs: 0, answer: Promise.resolve(null) };

  async function read({ file, others }: CommitPlace, before: typeof last.answer): Promise<KnownCommit> {
    const [known, head] = await Promise.all([before, headOf(file)]);
    const readMs = nowMs();
    if (head !== '' && known?.head === head && readMs - known.readMs < FRESH_MS) return known;
    return { head, readMs, commit: (await readConfigCommit(file, others)) ?? null };
  }

  return {
    async commitAt(place) {
      const key = `${place.generation} ${place.file}`;
      const askedMs = nowMs();
      const age = askedMs - last.askedMs;
      if (key !== last.key || age < 0 || age >= RECENT_MS) {
        const before = key === last.key && age >= 0 ? last.answer : Promise.resolve(null);
        last = { key, askedMs, answer: read(place, before) };
      }
      return (await last.answer)?.commit ?? null;
    },
    compare: compareCommits,
  };
}

/** The id of the commit that is checked out in the repository of `file`; empty if there is none. */
async function headOf(file: string): Promise<string> {
  return orElse('', async () => {
    const root = await repositoryRoot(file);
    return root === undefined ? '' : await git(root, ['rev-parse', '--verify', 'HEAD']);
  });
}

/**
 * The commit that is checked out in the repository of `file`, or undefined when the file is not in git. `dirty`: the
 * folders of `file` and `paths` differ from it by an untracked or added file, or by the bytes of a YAML file. Four git
 * processes, none outside of a repository.
 */
export async function readConfigCommit(
  file: string,
  paths: readonly string[],
): Promise<ConfigCommit | undefined> {
  return orElse(undefined, async () => {
    const root = await repositoryRoot(file);
    if (root === undefined) return undefined;
    const folders = await foldersWithin(root, [file, ...paths]);
    const [head, changed, index, others] = await Promise.all([
      git(root, ['rev-list', '--max-count=1', '--encoding=UTF-8', FORMAT, 'HEAD', '--']),
      git(root, ['diff-index', '--cached', '--name-only', '-z', 'HEAD', '--', ...folders]),
      git(root, ['ls-files', '--cached', '--stage', '-z', '--', ...folders]),
      git(root, ['ls-files', '--others', '--exclude-standard', '-z', '--', ...folders]),
    ]);
    const tracked = indexEntries(index);
    // An ignored or untracked file is not in git, even within a repository such as that of a home folder.
    if (!tracked.has(path.relative(root, await realFile(file)))) return undefined;
    const [sha = '', committed, authored, author = '', subject = ''] = head.trim().split('\n').slice(1);
    const at = (seconds: string | undefined): string => new Date(Number(seconds) * 1000).toISOString();
    return {
      sha,
      dirty: changed !== '' || others !== '' || (await differsOnDisk(root, tracked)),
      committedAt: at(committed),
      authoredAt: at(authored),
      author: cutSubject(author) || null,
      subject: cutSubject(subject),
    };
  });
}

/** What git answered about two commits, which never changes. */
const relations = new Map<string, Promise<CommitRelation>>();
const MOST_RELATIONS = 1000;

/**
 * How `older` is related to `newer`: `ancestor` means that `newer` descends from it. Uses the repository of `file`;
 * `unknown` when git can't determine it, such as in a shallow clone. At most two git processes for each two commits.
 */
export async function compareCommits(file: string, older: string, newer: string): Promise<CommitRelation> {
  const key = `${older} ${newer} ${file}`;
  if (relations.size === MOST_RELATIONS) relations.clear();
  const asking = relations.get(key) ?? askGit(file, older, newer);
  relations.set(key, asking);
  const relation = await asking;
  // A later fetch may bring the commit that is missing.
  if (relation === 'unknown') relations.delete(key);
  return relation;
}

async function askGit(file: string, older: string, newer: string): Promise<CommitRelation> {
  if (!SHA.test(older) || !SHA.test(newer)) return 'unknown';
  return orElse<CommitRelation>('unknown', async () => {
    const root = await repositoryRoot(file);
    if (root === undefined) return 'unknown';
    const counts = await git(root, ['rev-list', '--left-right', '--count', `${older}...${newer}`, '--']);
    const [onlyOlder, onlyNewer] = counts.trim().split(/\s+/u).map(Number);
    if (onlyOlder === undefined || onlyNewer === undefined) return 'unknown';
    if (onlyOlder === 0) return onlyNewer === 0 ? 'same' : 'ancestor';
    if (onlyNewer === 0) return 'descendant';
    // In a shallow clone, two commits of one branch may seem to have no common ancestor.
    const shallow = await git(root, ['rev-parse', '--is-shallow-repository']);
    return shallow.trim() === 'false' ? 'diverged' : 'unknown';
  });
}

/** The address of the remote `origin` in the settings of the repository of `file`; undefined if there is none. */
export async function remoteOrigin(file: string): Promise<string | undefined> {
  return orElse(undefined, async () => {
    const root = await repositoryRoot(file);
    const args = ['config', '--local', '--no-includes', '--get', 'remote.origin.url'];
    return root === undefined ? undefined : (await git(root, args)).trim();
  });
}

async function differsOnDisk(root: string, tracked: ReadonlyMap<string, Listed>): Promise<boolean> {
  for (const [name, listed] of tracked) {
    if (YAML.test(name) && (await differsFromBlob(path.join(root, name), listed))) return true;
  }
  return false;
}

async function git(root: string, args: readonly string[]): Promise<string> {
  const result = await runGit({
    folder: root,
    args: ['--no-pager', ...args],
    timeoutMs: TIMEOUT_MS,
    maxOutput: MAX_OUTPUT,
    isForeign: true,
  });
  if (result.type !== 'done' || result.stdout.length >= MAX_OUTPUT) throw new Error('git failed');
  return result.stdout;
}

async function orElse<T>(unknown: T, ask: () => Promise<T>): Promise<T> {
  try {
    return await ask();
  } catch {
    // Why git failed does not matter, since the commit is only information in reports.
    return unknown;
  }
}

/** Searched without git, so that no process starts outside of a repository. */
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
  // git fails if one of the paths is outside of the repository.
  return [...new Set(real)].filter((folder) => folder === root || folder.startsWith(`${root}${path.sep}`));
}

/** With a time limit, since a link may lead to a file system that does not answer. */
async function realFile(file: string): Promise<string> {
  return await realPathOf(path.resolve(file));
}

/** The files of the index; keys are paths. */
function indexEntries(output: string): ReadonlyMap<string, Listed> {
  const entries = new Map<string, Listed>();
  for (const line of output.split('\0')) {
    const [, mode, id, name] = /^(\d{6}) ([0-9a-f]{40,64}) [0-3]\t(.+)$/su.exec(line) ?? [];
    if (mode !== undefined && id !== undefined && name !== undefined) entries.set(name, { mode, id });
  }
  return entries;
}

/**
 * Whether a file differs from its blob, has another type, or is missing. git's own comparison is not used, because it runs
 * programs that the settings and attributes of a repository name.
 */
async function differsFromBlob(file: string, { mode, id }: Listed): Promise<boolean> {
  try {
    if (mode === '120000') return blobId(Buffer.from(await readlink(file)), id) !== id;
    if (mode === '160000') return false;
    if (!(await lstat(file)).isFile()) return true;
    return blobId((await readRegularFile(file, MAX_BYTES)).bytes, id) !== id;
  } catch {
    return true;
  }
}

/** The blob id of these bytes, with the hash algorithm of the id `like`. */
function blobId(bytes: Buffer, like: string): string {
  const hash = createHash(like.length === 64 ? 'sha256' : 'sha1');
  return hash.update(`blob ${bytes.length}\0`).update(bytes).digest('hex');
}
