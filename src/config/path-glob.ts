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

export interface GlobMatches {
  /** Absolute and sorted. Includes folders that are named like a YAML file, so that the mistake is reported. */
  readonly files: readonly string[];
  /** The folders that lead out of the repository, which were not searched. */
  readonly leadingOut: readonly string[];
  /** The folders that cannot be listed. */
  readonly unreadable: readonly string[];
  /** There are more than MAX_FOLDERS folders, and not all were searched. */
  readonly isIncomplete: boolean;
}

/** The search blocks the process; this many folders take about 100 ms. */
export const MAX_FOLDERS = 5000;

/** What a search collects. */
interface Findings {
  readonly leadingOut: Set<string>;
  readonly unreadable: Set<string>;
  /** The number of folders searched for the current segment of the glob. */
  folders: number;
  isIncomplete: boolean;
}

interface Step {
  readonly segment: string;
  readonly isLast: boolean;
  readonly lookup: FolderLookup;
  readonly findings: Findings;
}

/** Every path that matches. As in shells, hidden files match only a segment that starts with a dot. */
export function matchPaths(pattern: string, folder: string, lookup: FolderLookup): GlobMatches {
  const { root } = path.parse(pattern);
  const segments = segmentsOf(pattern.slice(root.length)).filter((segment) => segment !== '.');
  const wild = segments.findIndex((segment) => /[*?]/u.test(segment));
  // Folders without a wildcard are not listed: perhaps this process may only pass through them.
  const fixed = segments.splice(0, wild === -1 ? segments.length - 1 : wild);
  const findings = noFindings();
  let found = [path.resolve(folder, root, ...fixed)];
  for (const [index, segment] of segments.entries()) {
    findings.folders = 0;
    const isLast = index === segments.length - 1;
    const step = (parent: string): string[] => matchSegment(parent, { segment, isLast, lookup, findings });
    // Distinct, because `*/../*` would multiply the paths.
    found = [...new Set(found.flatMap(step))];
  }
  return {
    files: found.toSorted(compareCodePoints),
    leadingOut: [...findings.leadingOut],
    unreadable: [...findings.unreadable],
    isIncomplete: findings.isIncomplete,
  };
}

/**
 * The YAML files in or below a folder, without the folders of git and of Kubernetes (`..data`), links to folders and
 * folders beyond MAX_FOLDERS.
 */
export function yamlBelow(folder: string, lookup: FolderLookup): readonly string[] {
  const findings = noFindings();
  return foldersBelow(folder, lookup, findings, /^\.(?:git|\.)/u)
    .flatMap((below) =>
      itemsOf(below, lookup, findings)
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

function matchSegment(parent: string, { segment, isLast, lookup, findings }: Step): string[] {
  if (segment === '..') return [path.dirname(parent)];
  const isDeep = segment === '**';
  const closed = !isDeep && isClosed(parent, lookup, findings);
  const folders = isDeep ? foldersBelow(parent, lookup, findings) : closed ? [] : [parent];
  if (isDeep && !isLast) return folders;
  // A backslash is an ordinary character of a path. Not a regular expression, since the glob may be hostile.
  const matches = globMatcher(segment.replaceAll('\\', '\\\\'));
  const isMatch = ({ name }: FolderItem): boolean =>
    (segment.startsWith('.') || !name.startsWith('.')) && matches(name);
  return folders.flatMap((below) => {
    const items = itemsOf(below, lookup, findings).filter(isMatch);
    const outside = isLast ? [] : items.filter(({ leadsOut }) => leadsOut === true);
    for (const { name } of outside) findings.leadingOut.add(path.join(below, name));
    const found = items.filter((item) => (isLast ? looksLikeFile(item) : item.isFolder));
    return found.map(({ name }) => path.join(below, name));
  });
}

function noFindings(): Findings {
  return { leadingOut: new Set(), unreadable: new Set(), folders: 0, isIncomplete: false };
}

function itemsOf(folder: string, lookup: FolderLookup, findings: Findings): readonly FolderItem[] {
  const items = lookup.list(folder);
  if (items === null) findings.unreadable.add(folder);
  return items ?? [];
}

/** A folder that is named like a YAML file counts as a file, so that reading it reports the mistake. */
function looksLikeFile({ name, isFolder }: FolderItem): boolean {
  return !isFolder || isYaml(name);
}

function isYaml(name: string): boolean {
  return /\.ya?ml$/iu.test(name);
}

/** Whether a folder must not be listed: it leads out of the repository, or there were too many folders. */
function isClosed(folder: string, lookup: FolderLookup, findings: Findings): boolean {
  findings.folders += 1;
  if (findings.folders > MAX_FOLDERS) {
    findings.isIncomplete = true;
    return true;
  }
  if (!lookup.leadsOut(folder)) return false;
  findings.leadingOut.add(folder);
  return true;
}

/** The folder and all folders below it, without those that `left` matches. Links are not followed, since they may form a cycle. */
function foldersBelow(folder: string, lookup: FolderLookup, findings: Findings, left = /^\./u): string[] {
  if (isClosed(folder, lookup, findings)) return [];
  const below = itemsOf(folder, lookup, findings).filter(
    ({ name, isFolder, isLink }) => isFolder && isLink !== true && !left.test(name),
  );
  return [
    folder,
    ...below.flatMap(({ name }) => foldersBelow(path.join(folder, name), lookup, findings, left)),
  ];
}

function segmentsOf(text: string): string[] {
  return text.split('/').filter((segment) => segment !== '');
}
