// The glob of `accounts:`; `*` and `?` stay within a path segment and skip hidden files, as shells do
// (contract, section 2; globs over names are another matter, see core/names.ts).
import path from 'node:path';
import { compareCodePoints, globMatcher } from '../core/names.ts';

/** The folders that a glob is matched in. */
export interface FolderLookup {
  /** What a folder holds, links followed; nothing when it is not there. */
  list(folder: string): readonly { readonly name: string; readonly isFolder: boolean }[];
  /** Whether there is something at this path that is no folder. */
  isFile(file: string): boolean;
}

/** Every path that matches, absolute and sorted; folders are left out, links whose target is gone are not. */
export function matchPaths(pattern: string, folder: string, lookup: FolderLookup): readonly string[] {
  const { root } = path.parse(pattern);
  const segments = pattern
    .slice(root.length)
    .split('/')
    .filter((segment) => segment !== '' && segment !== '.');
  let found = [root === '' ? folder : root];
  for (const [index, segment] of segments.entries()) {
    const last = index === segments.length - 1;
    // Each once: `*/../*` would multiply them.
    found = [...new Set(found.flatMap((parent) => matchSegment(parent, segment, last, lookup)))];
  }
  return found.toSorted(compareCodePoints);
}

function matchSegment(parent: string, segment: string, last: boolean, lookup: FolderLookup): string[] {
  if (!/[*?]/u.test(segment)) {
    const literal = path.join(parent, segment);
    return !last || lookup.isFile(literal) ? [literal] : [];
  }
  // A backslash is a character of a path. No regular expression: somebody else may have written the glob.
  const matches = globMatcher(segment.replaceAll('\\', '\\\\'));
  return lookup
    .list(parent)
    .filter(({ name, isFolder }) => {
      const hidden = name.startsWith('.') && !segment.startsWith('.');
      return isFolder !== last && !hidden && matches(name);
    })
    .map(({ name }) => path.join(parent, name));
}
