// Detects that the state of a repository may have changed, from a few small files. Running git would need three
// processes.
import { readFileSync, realpathSync, statSync } from 'node:fs';
import path from 'node:path';

const MAX_BYTES = 4096;

/**
 * A text that changes whenever HEAD, its branch or the index of the repository of `file` changes. Supports worktrees.
 * Empty outside of a repository. Never throws.
 */
export function gitFingerprint(file: string): string {
  const found = findRepository(file);
  if (found === undefined) return '';
  const own = gitFolder(found);
  const common = path.resolve(own, smallText(path.join(own, 'commondir')).trim() || '.');
  const head = smallText(path.join(own, 'HEAD'));
  const branch = /^ref: (\S+)/u.exec(head)?.[1];
  const watched = [
    path.join(own, 'index'),
    path.join(own, 'logs/HEAD'),
    path.join(common, 'packed-refs'),
    path.join(common, 'reftable/tables.list'),
  ];
  const ofBranch =
    branch === undefined
      ? []
      : [smallText(path.join(common, branch)), stamp(path.join(common, 'logs', branch))];
  return [found, head, ...ofBranch, ...watched.map(stamp)].join('\0');
}

/** The `.git` of the innermost repository, a folder or, in a worktree, a file. */
function findRepository(file: string): string | undefined {
  let folder = path.dirname(realPath(file));
  for (;;) {
    const git = path.join(folder, '.git');
    if (stamp(git) !== '') return git;
    const parent = path.dirname(folder);
    if (parent === folder) return undefined;
    folder = parent;
  }
}

function gitFolder(git: string): string {
  const target = /^gitdir: (.+)/u.exec(smallText(git))?.[1];
  return target === undefined ? git : path.resolve(path.dirname(git), target.trim());
}

/** The text of a small regular file, otherwise empty: a foreign repository could contain a pipe or a huge file. */
function smallText(file: string): string {
  try {
    const found = statSync(file);
    return found.isFile() && found.size <= MAX_BYTES ? readFileSync(file, 'utf8') : '';
  } catch {
    return '';
  }
}

/** git replaces its files instead of writing into them, so a change affects the inode as well as the times. */
function stamp(file: string): string {
  try {
    const { ino, size, mtimeMs, ctimeMs } = statSync(file);
    return `${ino} ${size} ${mtimeMs} ${ctimeMs}`;
  } catch {
    return '';
  }
}

function realPath(file: string): string {
  try {
    return realpathSync.native(file);
  } catch {
    return path.resolve(file);
  }
}
