// The files of a configuration on disk. Inside a checkout, paths are followed link by link, and never leave it.
import {
  lstatSync,
  readlinkSync,
  closeSync,
  constants,
  fstatSync,
  openSync,
  readSync,
  readdirSync,
  statSync,
} from 'node:fs';
import path from 'node:path';
import { errorCode } from '../core/error-code.ts';
import type { PinnedFolder } from '../core/repository.ts';
import { realPathOf } from '../platform/regular-file.ts';
import type { ConfigurationFiles } from './configuration-files.ts';
import { type FolderItem, type FolderLookup, matchPaths, yamlBelow } from './path-glob.ts';
import {
  MAX_FILE_BYTES,
  type SourceRead,
  decode,
  missingFile,
  refusal,
  shownPath,
  tooLarge,
} from '../yaml/source-text.ts';

/** Where a file really is: below the folder, when its path goes by the link. */
export function pinnedPath({ link, folder }: PinnedFolder, file: string): string {
  const below = belowLink(link, file);
  return below === undefined ? file : path.join(folder, below);
}

/** What is to be done about a path that leads out of a checkout. */
export const LEADS_OUT =
  'this leads out of the repository of `source.git`, by its path or by a symbolic link; keep the file in the repository';

/**
 * The disk. What is below the link of `pinned` is read from its folder and named relative to it: a load that goes
 * through a link which moves meanwhile would otherwise see half of one version and half of the next. Nothing outside of
 * that folder is read then but `ownFile`, the machine's own.
 */
export function filesOnDisk(pinned?: PinnedFolder, ownFile?: string): ConfigurationFiles {
  const locate = (file: string): string | undefined => {
    if (pinned === undefined || file === ownFile) return file;
    const below = belowLink(pinned.link, file);
    return below === undefined ? undefined : resolveWithin(pinned.folder, below);
  };
  const shown = (file: string): string => {
    const below = pinned === undefined ? undefined : belowLink(pinned.link, file);
    return below === undefined ? shownPath(file) : below.split(path.sep).join('/') || '.';
  };
  const leadsOut = (file: string): boolean => locate(file) === undefined;
  const lookup: FolderLookup = {
    list(folder) {
      const location = locate(folder);
      return location === undefined ? [] : listFolder(location, (name) => locate(path.join(folder, name)));
    },
    isFile(file) {
      const location = locate(file);
      // A link that leads out is an account that cannot be read.
      if (location === undefined) return pinned !== undefined && belowLink(pinned.link, file) !== undefined;
      return isKind(location, 'file');
    },
    isFolder(file) {
      const location = locate(file);
      return location !== undefined && isKind(location, 'folder');
    },
    leadsOut,
  };
  return {
    read(file) {
      const [location, named] = [locate(file), { path: file, shown: shown(file) }];
      return location === undefined ? refusal(named, LEADS_OUT) : readDisk(location, named);
    },
    match: (pattern, folder) => matchPaths(pattern, folder, lookup),
    yamlBelow: (folder) => yamlBelow(folder, lookup),
    leadsOut,
    realPath: (file) => realPathOf(file),
    shown,
  };
}

function belowLink(link: string, file: string): string | undefined {
  if (file === link) return '';
  return file.startsWith(`${link}${path.sep}`) ? file.slice(link.length + 1) : undefined;
}

/** Reads a whole file, or nothing of it when it changed meanwhile. */
function readDisk(location: string, named: { readonly path: string; readonly shown: string }): SourceRead {
  for (let attempt = 0; attempt < 3; attempt += 1) {
    try {
      const read = readOnce(location);
      if (read === 'folder') {
        return refusal(named, 'this is a folder, not a regular file; rename it, or name a YAML file');
      }
      if (read === 'irregular') return refusal(named, 'this is not a regular file; name a YAML file');
      if (typeof read === 'number') return tooLarge(named, read);
      if (Buffer.isBuffer(read)) return decode(named, read);
    } catch (error) {
      const code = errorCode(error);
      return code === 'ENOENT' || code === 'ENOTDIR'
        ? missingFile(named)
        : refusal(named, `the file cannot be read (${code}); check its permissions`);
    }
  }
  return refusal(named, 'the file changed while it was read; try again when it is written completely');
}

/** The bytes; the size when they are too many; `changed` when they did not hold still. */
function readOnce(location: string): Buffer | number | 'folder' | 'irregular' | 'changed' {
  // A device may not like to be opened, so it is looked at first.
  const found = statSync(location);
  if (!found.isFile()) return found.isDirectory() ? 'folder' : 'irregular';
  // What has become a pipe since would block the whole program but for O_NONBLOCK.
  const handle = openSync(location, constants.O_RDONLY | constants.O_NONBLOCK);
  try {
    const before = fstatSync(handle);
    if (!before.isFile()) return 'irregular';
    if (before.size > MAX_FILE_BYTES) return before.size;
    // One byte more than there should be, to see that the file ends there.
    const bytes = Buffer.allocUnsafe(before.size + 1);
    let length = 0;
    while (length < bytes.length) {
      const count = readSync(handle, bytes, length, bytes.length - length, null);
      if (count === 0) break;
      length += count;
    }
    const after = fstatSync(handle);
    const still = length === before.size && after.size === before.size && after.mtimeMs === before.mtimeMs;
    return still ? bytes.subarray(0, length) : 'changed';
  } finally {
    closeSync(handle);
  }
}

function listFolder(folder: string, locate: (name: string) => string | undefined): readonly FolderItem[] {
  try {
    return readdirSync(folder, { withFileTypes: true }).map((item): FolderItem => {
      const { name } = item;
      if (!item.isSymbolicLink()) return { name, isFolder: item.isDirectory() };
      const location = locate(name);
      if (location === undefined) return { name, isFolder: false, isLink: true, leadsOut: true };
      return { name, isFolder: isKind(location, 'folder'), isLink: true };
    });
  } catch {
    // A folder that is not there, or may not be looked into, holds no account.
    return [];
  }
}

function isKind(location: string, kind: 'file' | 'folder'): boolean {
  try {
    return statSync(location).isDirectory() === (kind === 'folder');
  } catch {
    return false;
  }
}

/** As many as the system itself follows. */
const MAX_LINKS = 40;

/**
 * Where `below` (relative) really is within `folder`; undefined when it leads out, by `..` or by a symbolic link,
 * whether or not there is anything. What does not exist in it has the place that it would have.
 */
export function resolveWithin(folder: string, below: string): string | undefined {
  const steps = below.split(path.sep).toReversed();
  const place: string[] = [];
  let links = 0;
  for (let step = steps.pop(); step !== undefined; step = steps.pop()) {
    if (step === '' || step === '.') continue;
    if (step === '..') {
      if (place.pop() === undefined) return undefined;
      continue;
    }
    const target = linkTarget(path.join(folder, ...place, step));
    if (target === undefined) place.push(step);
    else {
      links += 1;
      if (path.isAbsolute(target) || links > MAX_LINKS) return undefined;
      steps.push(...target.split(path.sep).toReversed());
    }
  }
  return path.join(folder, ...place);
}

function linkTarget(file: string): string | undefined {
  try {
    return lstatSync(file).isSymbolicLink() ? readlinkSync(file) : undefined;
  } catch {
    return undefined;
  }
}
