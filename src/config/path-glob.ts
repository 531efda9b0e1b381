// Globs over paths: `*` and `?` match within a path segment, `**` matches any number of folders, including none.
// (For globs over names see core/names.ts.)
import path from 'node:path';
import { compareCodePoints, globMatcher } from '../core/names.ts';

export interface FolderItem {
  readonly name: string;
  /** Also true for a link to a folder. */
  readonly isFolder: boolean;
  readonly isLink?: boolean;
  /** A link that leads out of the repository that contains the configuration; it is not followed. */
  readonly leadsOut?: boolean;
}

/** The folders that a glob is matched in. */
export interface FolderLookup {
  /** The items of a folder; none if it does not exist, null if it cannot be listed. */
  list(folder: string): readonly FolderItem[] | null;
  /** Whether a path, directly or by a link, leads out of the repository that contains the configuration. */
  leadsOut(file: string): boolean;
}

/** The search blocks the process; this many folders take about 100 ms. */
export const MAX_FOLDERS = 5000;

/** One search: what is in the folders, and which of them were not searched. */
class Search {
  /** The folders that lead out of the repository, which were not searched. */
  readonly leadingOut = new Set<string>();
  /** The folders that cannot be listed. */
  readonly unreadable = new Set<string>();
  /** There are more than MAX_FOLDERS folders, and not all were searched. */
  isIncomplete = false;
  readonly #lookup: FolderLookup;
  /** The number of folders searched for the current segment of the glob. */
  #folders = 0;

  constructor(lookup: FolderLookup) {
    this.#lookup = lookup;
  }

  /** What a segment of a glob matches in the folders. */
  step(folders: readonly string[], segment: string, isLast: boolean): string[] {
    this.#folders = 0;
    // Distinct, because `*/../*` would multiply the paths.
    return [...new Set(folders.flatMap((folder) => this.#matches(folder, segment, isLast)))];
  }

  itemsOf(folder: string): readonly FolderItem[] {
    const items = this.#lookup.list(folder);
    if (items === null) this.unreadable.add(folder);
    return items ?? [];
  }

  /** The folder and all folders below it, without those that `left` matches. Links are not followed, since they may form a cycle. */
  foldersBelow(folder: string, left = /^\./u): string[] {
    if (this.#isClosed(folder)) return [];
    const below = this.itemsOf(folder).filter(
      ({ name, isFolder, isLink }) => isFolder && isLink !== true && !left.test(name),
    );
    return [folder, ...below.flatMap(({ name }) => this.foldersBelow(path.join(folder, name), left))];
  }

  #matches(parent: string, segment: string, isLast: boolean): string[] {
    if (segment === '..') return [path.dirname(parent)];
    const isDeep = segment === '**';
    if (!isDeep && this.#isClosed(parent)) return [];
    const folders = isDeep ? this.foldersBelow(parent) : [parent];
    if (isDeep && !isLast) return folders;
    // A backslash is an ordinary character of a path. Not a regular expression, since the glob may be hostile.
    const matches = globMatcher(segment.replaceAll('\\', '\\\\'));
    const isMatch = ({ name }: FolderItem): boolean =>
      (segment.startsWith('.') || !name.startsWith('.')) && matches(name);
    return folders.flatMap((below) => {
      const items = this.itemsOf(below).filter(isMatch);
      const outside = isLast ? [] : items.filter(({ leadsOut }) => leadsOut === true);
      for (const { name } of outside) this.leadingOut.add(path.join(below, name));
      const found = items.filter((item) => (isLast ? looksLikeFile(item) : item.isFolder));
      return found.map(({ name }) => path.join(below, name));
    });
  }

  /** Whether a folder must not be listed: it leads out of the repository, or there were too many folders. */
  #isClosed(folder: string): boolean {
    this.#folders += 1;
    if (this.#folders > MAX_FOLDERS) this.isIncomplete = true;
    else if (this.#lookup.leadsOut(folder)) this.leadingOut.add(folder);
    else return false;
    return true;
  }
}

/**
 * Every path that matches, sorted, and the search. Includes folders that are named like a YAML file, so that the mistake is
 * reported. As in shells, hidden files match only a segment that starts with a dot.
 */
export function matchPaths(pattern: string, folder: string, lookup: FolderLookup) {
  const { root } = path.parse(pattern);
  const segments = segmentsOf(pattern.slice(root.length)).filter((segment) => segment !== '.');
  const wild = segments.findIndex((segment) => /[*?]/u.test(segment));
  // Folders without a wildcard are not listed: perhaps this process may only pass through them.
  const fixed = segments.splice(0, wild === -1 ? segments.length - 1 : wild);
  const search = new Search(lookup);
  let found = [path.resolve(folder, root, ...fixed)];
  for (const [index, segment] of segments.entries())
    found = search.step(found, segment, index === segments.length - 1);
  return { files: found.toSorted(compareCodePoints), search };
}

/**
 * The YAML files in or below a folder, without the folders of git and of Kubernetes (`..data`), links to folders and
 * folders beyond MAX_FOLDERS.
 */
export function yamlBelow(folder: string, lookup: FolderLookup): readonly string[] {
  const search = new Search(lookup);
  return search
    .foldersBelow(folder, /^\.(?:git|\.)/u)
    .flatMap((below) =>
      search
        .itemsOf(below)
        // `.#name` is the lock file of an editor, `._name` has what macOS knows of a file.
        .filter(({ name, isFolder }) => !isFolder && isYaml(name) && !/^\.[#_]/u.test(name))
        .map(({ name }) => path.join(below, name)),
    )
    .toSorted(compareCodePoints);
}

/** Whether a glob matches a complete path; both absolute. `*` matches hidden names too. */
export function matchesPath(pattern: string, file: string): boolean {
  const steps = segmentsOf(pattern).map((segment): GlobStep =>
    segment === '**' ? '**' : globMatcher(segment.replaceAll('\\', '\\\\')),
  );
  return matchesFrom(steps, segmentsOf(file));
}

type GlobStep = '**' | ((name: string) => boolean);

function matchesFrom([step, ...steps]: readonly GlobStep[], names: readonly string[]): boolean {
  const [name, ...below] = names;
  if (step === '**') {
    return matchesFrom(steps, names) || (name !== undefined && matchesFrom(['**', ...steps], below));
  }
  if (step === undefined || name === undefined) return step === undefined && name === undefined;
  return step(name) && matchesFrom(steps, below);
}

/** A folder that is named like a YAML file counts as a file, so that reading it reports the mistake. */
function looksLikeFile({ name, isFolder }: FolderItem): boolean {
  return !isFolder || isYaml(name);
}

function isYaml(name: string): boolean {
  return /\.ya?ml$/iu.test(name);
}

function segmentsOf(text: string): string[] {
  return text.split('/').filter((segment) => segment !== '');
}
