// Globs over paths: `*` and `?` stay within a path segment, `**` stands for any number of folders, including none.
// (Globs over names are another matter, see core/names.ts.)
import path from 'node:path';
import { compareCodePoints, globMatcher } from '../core/names.ts';

export interface FolderItem {
  readonly name: string;
  /** Links followed. */
  readonly isFolder: boolean;
  readonly isLink?: boolean;
  /** A link that leads out of the repository that the configuration has to be in; it is not followed. */
  readonly leadsOut?: boolean;
}

/** The folders that a glob is matched in. */
export interface FolderLookup {
  /** What a folder holds; nothing when it is not there. */
  list(folder: string): readonly FolderItem[];
  /** Whether there is something at this path that is no folder. */
  isFile(file: string): boolean;
  /** Whether there is a folder at this path. */
  isFolder(file: string): boolean;
  /** As in ConfigurationFiles. */
  leadsOut(file: string): boolean;
}

export interface GlobMatches {
  /** Absolute and sorted. Of folders only those are among them that are named like a YAML file. */
  readonly files: readonly string[];
  /** The folders on the way that lead out of the repository, which were not looked into. */
  readonly leadingOut: readonly string[];
  /** There are more folders than are searched. */
  readonly isIncomplete: boolean;
}

/** The search of folders blocks the program, and so many take some 100 ms. */
export const MAX_FOLDERS = 5000;

/** What was met on a search. */
interface Findings {
  readonly leadingOut: Set<string>;
  /** For one segment of the glob. */
  folders: number;
  isIncomplete: boolean;
}

/** Every path that matches; hidden files are skipped unless the glob asks for them, as shells do. */
export function matchPaths(pattern: string, folder: string, lookup: FolderLookup): GlobMatches {
  const { root } = path.parse(pattern);
  const segments = segmentsOf(pattern.slice(root.length)).filter((segment) => segment !== '.');
  const findings: Findings = { leadingOut: new Set(), folders: 0, isIncomplete: false };
  let found = [root === '' ? folder : root];
  for (const [index, segment] of segments.entries()) {
    findings.folders = 0;
    const isLast = index === segments.length - 1;
    const step = (parent: string): string[] => matchSegment(parent, { segment, isLast, lookup, findings });
    // Each once: `*/../*` would multiply them.
    found = [...new Set(found.flatMap(step))];
  }
  return {
    files: found.toSorted(compareCodePoints),
    leadingOut: [...findings.leadingOut],
    isIncomplete: findings.isIncomplete,
  };
}

interface Step {
  readonly segment: string;
  readonly isLast: boolean;
  readonly lookup: FolderLookup;
  readonly findings: Findings;
}

function matchSegment(parent: string, { segment, isLast, lookup, findings }: Step): string[] {
  if (segment === '**') {
    const folders = foldersBelow(parent, lookup, findings);
    return isLast ? folders.flatMap((folder) => filesIn(folder, lookup)) : folders;
  }
  if (!/[*?]/u.test(segment)) {
    const literal = path.join(parent, segment);
    if (isLast) {
      const isFound = lookup.isFile(literal) || (isYaml(literal) && lookup.isFolder(literal));
      return isFound ? [literal] : leave(literal, lookup, findings);
    }
    return [literal];
  }
  if (isClosed(parent, lookup, findings)) return [];
  // A backslash is a character of a path. No regular expression: somebody else may have written the glob.
  const matches = globMatcher(segment.replaceAll('\\', '\\\\'));
  const items = lookup.list(parent).filter(({ name }) => {
    const isHidden = name.startsWith('.') && !segment.startsWith('.');
    return !isHidden && matches(name);
  });
  if (!isLast)
    for (const { name, leadsOut } of items)
      if (leadsOut === true) findings.leadingOut.add(path.join(parent, name));
  const found = items.filter((item) => (isLast ? looksLikeFile(item) : item.isFolder));
  return found.map(({ name }) => path.join(parent, name));
}

/** A folder that is named like a file is a mistake that whoever reads it reports. */
function looksLikeFile({ name, isFolder }: FolderItem): boolean {
  return !isFolder || isYaml(name);
}

function isYaml(name: string): boolean {
  return /\.ya?ml$/iu.test(name);
}

/** Nothing, and a note when that is because the path leads out. */
function leave(literal: string, lookup: FolderLookup, { leadingOut }: Findings): string[] {
  if (lookup.leadsOut(literal)) leadingOut.add(literal);
  return [];
}

/** Whether a folder is not to be listed: it leads out, or there have been too many. */
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

/** The folder and all below it; hidden ones and links are left out, so that there is an end. */
function foldersBelow(folder: string, lookup: FolderLookup, findings: Findings): string[] {
  if (isClosed(folder, lookup, findings)) return [];
  const below = lookup
    .list(folder)
    .filter(({ name, isFolder, isLink }) => isFolder && isLink !== true && !name.startsWith('.'));
  return [folder, ...below.flatMap(({ name }) => foldersBelow(path.join(folder, name), lookup, findings))];
}

function filesIn(folder: string, lookup: FolderLookup): string[] {
  const files = lookup.list(folder).filter((item) => looksLikeFile(item) && !item.name.startsWith('.'));
  return files.map(({ name }) => path.join(folder, name));
}

/** The YAML files in or below a folder; hidden folders, links to folders and the folders beyond MAX_FOLDERS are left out. */
export function yamlBelow(folder: string, lookup: FolderLookup): readonly string[] {
  return foldersBelow(folder, lookup, { leadingOut: new Set(), folders: 0, isIncomplete: false })
    .flatMap((below) =>
      lookup
        .list(below)
        // `.#name` is the lock of an editor.
        .filter(({ name, isFolder }) => !isFolder && isYaml(name) && !name.startsWith('.#'))
        .map(({ name }) => path.join(below, name)),
    )
    .toSorted(compareCodePoints);
}

/** Whether a glob matches a complete path; both absolute. `*` matches hidden names too. */
export function matchesPath(pattern: string, file: string): boolean {
  const steps = segmentsOf(pattern).map((segment) =>
    segment === '**' ? '**' : globMatcher(segment.replaceAll('\\', '\\\\')),
  );
  // Where in the glob the path may be, after each of its segments.
  let places = withoutFolders(new Set([0]), steps);
  for (const name of segmentsOf(file)) {
    const next = new Set<number>();
    for (const at of places) {
      const step = steps[at];
      if (step === '**') next.add(at);
      else if (step?.(name) === true) next.add(at + 1);
    }
    places = withoutFolders(next, steps);
  }
  return places.has(steps.length);
}

/** The places, and those behind each `**` at them. */
function withoutFolders(places: Set<number>, steps: readonly unknown[]): Set<number> {
  for (const at of places) if (steps[at] === '**') places.add(at + 1);
  return places;
}

function segmentsOf(text: string): string[] {
  return text.split('/').filter((segment) => segment !== '');
}
