// The glob of `accounts:`; `*` and `?` stay within a path segment and skip hidden files, as shells do
// (contract, section 2; globs over names are another matter, see core/names.ts).
import { readdir, stat } from 'node:fs/promises';
import path from 'node:path';
import { compareCodePoints } from '../core/names.ts';

/** Every path that matches, absolute and sorted; folders are left out, links whose target is gone are not. */
export async function matchPaths(pattern: string, folder: string): Promise<readonly string[]> {
  const { root } = path.parse(pattern);
  const segments = pattern
    .slice(root.length)
    .split('/')
    .filter((segment) => segment !== '' && segment !== '.');
  let found = [root === '' ? folder : root];
  for (const [index, segment] of segments.entries()) {
    const last = index === segments.length - 1;
    const next = await Promise.all(found.map((parent) => matchSegment(parent, segment, last)));
    found = next.flat();
  }
  return found.toSorted(compareCodePoints);
}

async function matchSegment(parent: string, segment: string, last: boolean): Promise<string[]> {
  if (!/[*?]/u.test(segment)) {
    const literal = path.join(parent, segment);
    return !last || (await isThere(literal)) ? [literal] : [];
  }
  const pattern = segmentPattern(segment);
  const names = await readdir(parent).catch(() => []);
  const matching = names.filter(
    (name) => pattern.test(name) && (segment.startsWith('.') || !name.startsWith('.')),
  );
  const kept = await Promise.all(
    matching.map(async (name) =>
      (await isFolder(path.join(parent, name))) === last ? [] : [path.join(parent, name)],
    ),
  );
  return kept.flat();
}

function segmentPattern(segment: string): RegExp {
  const source = segment
    .replace(/\*+/gu, '*')
    .replace(/[\\^$.+()[\]{}|/]/gu, '\\$&')
    .replaceAll('*', '.*')
    .replaceAll('?', '.');
  return new RegExp(`^${source}$`, 'su');
}

async function isFolder(file: string): Promise<boolean> {
  return stat(file).then(
    (found) => found.isDirectory(),
    () => false,
  );
}

async function isThere(file: string): Promise<boolean> {
  return stat(file).then(
    (found) => !found.isDirectory(),
    () => false,
  );
}
