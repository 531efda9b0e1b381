// Reads the git commit of the configuration. The functions return "unknown" instead of failing: git may be missing, the
// folder may not be a repository, or the clone may be shallow.
//
// The repository may belong to another user, and its settings can name programs. So git is used only to read objects
// and the index. The files of the configuration are compared here, because git would run the filters of these settings.
import path from 'node:path';
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { cutSubject } from '../core/journal.ts';
import type { CommitPlace, CommitReader, CommitRelation } from '../core/ports/repository.ts';
import type { ConfigCommit } from '../core/settings.ts';
import { runGit } from './run-git.ts';
import { readRegularFile, realPathOf } from '../system/regular-file.ts';

const TIMEOUT_MS = 10_000;
/** Enough for the lists of a folder with 50,000 files. */
const MAX_OUTPUT = 16 * 1024 * 1024;
const SHA = /^[0-9a-f]{7,64}$/u;
/** Larger than any file that rolecall reads; a larger file counts as changed. */
const MAX_BYTES = 8 * 1024 * 1024;
/** For how long a commit is not read again while the content of the configuration stays the same. */
const RECENT_MS = 1000;

/** After a line with the word commit: the id, the dates in seconds, and the subject. */
const FORMAT = '--format=%H%n%ct%n%at%n%an%n%s';

type Locate = (given: string) => string;
const asGiven: Locate = (given) => given;

/** A commit, and the repository that it was found in. */
interface FoundCommit {
  readonly root: string;
  readonly commit: ConfigCommit;
}

/**
 * Reads the commit of a configuration, for a daemon that starts many runs per second. Concurrent calls share the result.
 * `nowMs` is for tests.
 */
export function createCommitReader(nowMs: () => number = Date.now): CommitReader {
  let last: { key: string; askedMs: number; answer: Promise<FoundCommit | undefined> };
  last = { key: '', askedMs: 0, answer: Promise.resolve(undefined) };

  async function read({ file, others, locate }: CommitPlace, before: typeof last.answer) {
    const known = await before;
    // The same files on the same HEAD. This costs one git process instead of three.
    if (known !== undefined && (await headOf(known.root)) === known.commit.sha) return known;
    return await findCommit(file, others, locate);
  }

  return {
    async commitAt(place) {
      const key = `${place.generation} ${place.file}`;
      const askedMs = nowMs();
      const age = askedMs - last.askedMs;
      if (key !== last.key || age < 0 || age >= RECENT_MS) {
        const before = key === last.key && age >= 0 ? last.answer : Promise.resolve(undefined);
        last = { key, askedMs, answer: read(place, before) };
      }
      return (await last.answer)?.commit ?? null;
    },
    compare: compareCommits,
  };
}

async function headOf(root: string): Promise<string> {
  return orElse('', async () => (await git(root, ['rev-parse', '--verify', 'HEAD'])).trim());
}

/**
 * The commit that is checked out in the repository of the configuration, or undefined when none of its files is in git: the
 * repository of `file`, or else of the first of the other `paths`. `changed`: those of them whose bytes are not in it. A file that is
 * outside of the repository, or in another one within it, is not compared. Three git processes, none outside of a repository.
 */
export async function readConfigCommit(
  file: string,
  paths: readonly string[],
): Promise<ConfigCommit | undefined> {
  return (await findCommit(file, paths))?.commit;
}

async function findCommit(
  file: string,
  paths: readonly string[],
  locate: Locate = asGiven,
): Promise<FoundCommit | undefined> {
  return orElse(undefined, async () => {
    for (const root of rootsOf(file, paths, locate)) {
      const commit = await commitIn(root, new Set([file, ...paths]), locate);
      if (commit) return { root, commit };
    }
    return undefined;
  });
}

/** Where the configuration may be in git: the repository of `file`, and that of the first of the others. */
function rootsOf(file: string, others: readonly string[], locate: Locate): readonly string[] {
  const places = [file, ...others.filter((other) => other !== file).slice(0, 1)];
  return places.flatMap((each) => repositoryRoot(locate(each)) ?? []);
}

async function commitIn(root: string, files: ReadonlySet<string>, locate: Locate) {
  const head = await git(root, ['rev-list', '--max-count=1', '--encoding=UTF-8', FORMAT, 'HEAD', '--']);
  const [sha = '', committed, authored, author = '', subject = ''] = head.trim().split('\n').slice(1);
  const found = filesWithin(root, sha, files, locate);
  const folders = new Set(found.map(({ name }) => `${path.dirname(name)}/`));
  const globs = [...folders].map((each) => `:(glob)${each}*`);
  const staged = new Set((await git(root, ['ls-files', '--cached', '-z', '--', ...globs])).split('\0'));
  const entries = treeEntries(await git(root, ['ls-tree', '-z', sha, '--', ...folders]));
  // Ignored and untracked files are not in git, even within a repository such as that of a home folder.
  if (!found.some(({ name }) => staged.has(name) || entries.has(name))) return undefined;
  const at = (seconds: string | undefined): string => new Date(Number(seconds) * 1000).toISOString();
  const changed = found.filter(({ name, ids }) => !ids.includes(entries.get(name)));
  return {
    sha,
    dirty: changed.length > 0,
    changed: new Map(changed.map(({ given, name }) => [given, name])),
    committedAt: at(committed),
    authoredAt: at(authored),
    author: cutSubject(author) || null,
    subject: cutSubject(subject),
  };
}

/** What git answered about two commits, which never changes. */
const relations = new Map<string, Promise<CommitRelation>>();
const MOST_RELATIONS = 1000;

/**
 * How `older` is related to `newer`: `ancestor` means that `newer` descends from it. Uses the repository of `file`, or else
 * of the others; `unknown` when git can't determine it, such as in a shallow clone. Git compares each two commits once.
 */
export async function compareCommits(
  { file, others = [], locate = asGiven }: Pick<CommitPlace, 'file' | 'locate'> & Partial<CommitPlace>,
  older: string,
  newer: string,
): Promise<CommitRelation> {
  const key = `${older} ${newer} ${file}`;
  if (relations.size === MOST_RELATIONS) relations.clear();
  const asking = relations.get(key) ?? askGit(rootsOf(file, others, locate), older, newer);
  relations.set(key, asking);
  const relation = await asking;
  // A later fetch may bring the commit that is missing.
  if (relation === 'unknown') relations.delete(key);
  return relation;
}

async function askGit(roots: readonly string[], older: string, newer: string): Promise<CommitRelation> {
  if (!SHA.test(older) || !SHA.test(newer)) return 'unknown';
  for (const root of roots) {
    const relation = await orElse<CommitRelation>('unknown', () => relationIn(root, older, newer));
    if (relation !== 'unknown') return relation;
  }
  return 'unknown';
}

async function relationIn(root: string, older: string, newer: string): Promise<CommitRelation> {
  const counts = await git(root, ['rev-list', '--left-right', '--count', `${older}...${newer}`, '--']);
  const [onlyOlder, onlyNewer] = counts.trim().split(/\s+/u).map(Number);
  if (onlyOlder === undefined || onlyNewer === undefined) return 'unknown';
  if (onlyOlder === 0) return onlyNewer === 0 ? 'same' : 'ancestor';
  if (onlyNewer === 0) return 'descendant';
  // In a shallow clone, two commits of one branch may seem to have no common ancestor.
  const shallow = await git(root, ['rev-parse', '--is-shallow-repository']);
  return shallow.trim() === 'false' ? 'diverged' : 'unknown';
}

/** The address of the remote `origin` in the settings of the repository of `file`; undefined if there is none. */
export async function remoteOrigin(file: string): Promise<string | undefined> {
  return orElse(undefined, async () => {
    const root = repositoryRoot(file);
    const args = ['config', '--local', '--no-includes', '--get', 'remote.origin.url'];
    return root === undefined ? undefined : (await git(root, args)).trim();
  });
}

interface FoundFile {
  /** Its path as the configuration has it. */
  readonly given: string;
  /** Its path in the repository. */
  readonly name: string;
  /** The ids of the blobs that it is equal to; undefined if it does not exist or cannot be read. */
  readonly ids: readonly (string | undefined)[];
}

/** The files that are in the repository, and not in another one within it. */
function filesWithin(root: string, sha: string, files: ReadonlySet<string>, locate: Locate): FoundFile[] {
  const roots = new Map<string, string | undefined>();
  return [...files].flatMap((given) => {
    const { real, ids } = blobOf(path.resolve(locate(given)), sha);
    const folder = path.dirname(real);
    if (!roots.has(folder)) roots.set(folder, repositoryRoot(real));
    return roots.get(folder) === root ? [{ given, name: path.relative(root, real), ids }] : [];
  });
}

/** The real path of a file, and the ids of the blobs that it is equal to. */
function blobOf(file: string, sha: string): { readonly real: string; readonly ids: FoundFile['ids'] } {
  try {
    const { bytes, realPath } = readRegularFile(file, MAX_BYTES);
    return { real: realPath, ids: blobIds(bytes, sha) };
  } catch {
    return { real: realPathOf(file) ?? file, ids: [undefined] };
  }
}

async function git(root: string, args: readonly string[]): Promise<string> {
  const limits = { timeoutMs: TIMEOUT_MS, maxOutput: MAX_OUTPUT };
  const output = await runGit({ folder: root, args: ['--no-pager', ...args], isForeign: true, ...limits });
  if (output.length >= MAX_OUTPUT) throw new Error('too much output');
  return output;
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
function repositoryRoot(file: string): string | undefined {
  for (let folder = path.dirname(realPathOf(path.resolve(file)) ?? file); ; folder = path.dirname(folder)) {
    if (existsSync(path.join(folder, '.git'))) return folder;
    if (folder === path.dirname(folder)) return undefined;
  }
}

/** The ids of a tree's files by their paths, without those of symbolic links. */
function treeEntries(output: string): ReadonlyMap<string, string> {
  const entries = output.split('\0').map((line) => /^100\d+ blob ([0-9a-f]+)\t(.+)$/su.exec(line) ?? []);
  return new Map(entries.map(([, id = '', name = '']) => [name, id]));
}

/**
 * The id of the blob with these bytes, and with the line breaks that git stores if it converts them, with the hash algorithm of
 * the id `like`. git's own comparison is not used, because it runs programs that a repository names.
 */
function blobIds(bytes: Buffer, like: string): string[] {
  const converted = Buffer.from(bytes.toString('latin1').replaceAll('\r\n', '\n'), 'latin1');
  return [bytes, converted].map((content) => {
    const hash = createHash(like.length === 64 ? 'sha256' : 'sha1');
    return hash.update(`blob ${content.length}\0`).update(content).digest('hex');
  });
}
