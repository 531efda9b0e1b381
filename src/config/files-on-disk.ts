// The files of a configuration on disk. Within a checkout, symbolic links are resolved, so that no path leads out of it.
import {
  type BigIntStats,
  lstatSync,
  closeSync,
  constants,
  fstatSync,
  openSync,
  readFileSync,
  readdirSync,
  realpathSync,
  statSync,
} from 'node:fs';
import path from 'node:path';
import { errorCode } from '../core/errors.ts';
import type { CheckoutPlace, PinnedFolder } from '../core/ports/repository.ts';
import { realPathOf } from '../system/regular-file.ts';
import type { ConfigurationFiles } from './configuration-files.ts';
import type { FolderItem } from './path-glob.ts';
import {
  MAX_FILE_BYTES,
  type NamedFile,
  type SourceRead,
  decode,
  missingFile,
  refusal,
  shownPath,
  tooLarge,
} from './yaml/source-text.ts';

/** The message for a path that leads out of what is checked out. */
export const LEADS_OUT =
  'this leads out of the folder `path` in the repository of `source.git`, by its path or by a symbolic link; keep the file in that folder';

/** The real path of a file: below the folder if its path starts with the link. */
export function pinnedPath({ link, folder }: PinnedFolder, file: string): string {
  const below = belowLink(link, file);
  return below === undefined ? file : path.join(folder, below);
}

/**
 * The files on disk. Paths below the link of `pinned` are read from its folder and named relative to it: the link may
 * move during a load, which would otherwise read a mix of two versions. With `pinned`, nothing outside of its `path` is
 * read except `ownFile`, the service file of this machine.
 */
export function filesOnDisk(pinned?: CheckoutPlace, ownFile?: string): ConfigurationFiles {
  const root = pinned && targetOf(path.join(pinned.folder, pinned.path));
  const locate = (file: string): string | undefined => {
    if (pinned === undefined || file === ownFile) return file;
    const below = belowLink(pinned.link, file);
    const target = below === undefined ? undefined : targetOf(path.join(pinned.folder, below));
    const isInside = root !== undefined && target !== undefined && belowLink(root, target) !== undefined;
    return isInside ? target : undefined;
  };
  const shown = (file: string): string => {
    const below = pinned === undefined ? undefined : belowLink(pinned.link, file);
    return below === undefined ? shownPath(file) : below.split(path.sep).join('/') || '.';
  };
  return {
    read(file) {
      const [location, named] = [locate(file), { path: file, shown: shown(file) }];
      return location === undefined ? refusal(named, LEADS_OUT) : readDisk(location, named);
    },
    stamp(file) {
      const location = locate(file);
      return location === undefined ? undefined : currentStamp(location);
    },
    list(folder) {
      const location = locate(folder);
      return location === undefined ? [] : listFolder(location, (name) => locate(path.join(folder, name)));
    },
    leadsOut: (file) => locate(file) === undefined,
    realPath: (file) => realPathOf(file),
    shown,
  };
}

/** The path with all links resolved, also of a file that does not exist; undefined if a link has no target. */
function targetOf(file: string): string | undefined {
  try {
    return realpathSync.native(file);
  } catch {
    const above = path.dirname(file);
    if (above === file || isLink(file)) return undefined;
    const folder = targetOf(above);
    return folder && path.join(folder, path.basename(file));
  }
}

function belowLink(link: string, file: string): string | undefined {
  if (file === link) return '';
  return file.startsWith(`${link}${path.sep}`) ? file.slice(link.length + 1) : undefined;
}

/** Reads a complete file, or fails if the file keeps changing. */
function readDisk(location: string, named: NamedFile): SourceRead {
  for (let attempt = 0; attempt < 3; attempt += 1) {
    try {
      const read = readOnce(location, named);
      if (read !== 'changed') return read;
    } catch (error) {
      const code = errorCode(error);
      return code === 'ENOENT' || code === 'ENOTDIR'
        ? missingFile(named)
        : refusal(named, `the file cannot be read (${code}); check its permissions`);
    }
  }
  return refusal(named, 'the file changed while it was read; try again when it is completely written');
}

/** `changed` if the file changed during the read. */
function readOnce(location: string, named: NamedFile): SourceRead | 'changed' {
  const irregular = refusal(named, 'this is not a regular file; write the path of a YAML file');
  // Opening a device may have side effects, so its type is checked first.
  const found = statSync(location);
  if (found.isDirectory())
    return refusal(named, 'this is a folder and not a file; rename it, or write the path of a YAML file');
  if (!found.isFile()) return irregular;
  // If the file was replaced by a pipe since then, an open without O_NONBLOCK would block the process.
  const handle = openSync(location, constants.O_RDONLY | constants.O_NONBLOCK);
  try {
    const before = fstatSync(handle, { bigint: true });
    const size = Number(before.size);
    if (!before.isFile()) return irregular;
    if (size > MAX_FILE_BYTES) return tooLarge(named, size);
    const bytes = readFileSync(handle);
    const isSame = bytes.length === size && stampOf(fstatSync(handle, { bigint: true })) === stampOf(before);
    return isSame ? decode(named, bytes) : 'changed';
  } finally {
    closeSync(handle);
  }
}

function currentStamp(location: string): string | undefined {
  try {
    return stampOf(statSync(location, { bigint: true }));
  } catch {
    // The read that follows reports the reason.
    return undefined;
  }
}

function stampOf({ dev, ino, size, mtimeNs, ctimeNs }: BigIntStats): string {
  return `${dev} ${ino} ${size} ${mtimeNs} ${ctimeNs}`;
}

/** When the file of a stamp last changed, in epoch milliseconds; NaN without a stamp. */
export function changedAtMs(stamp: string): number {
  const ctimeNs = stamp.split(' ').at(-1);
  return ctimeNs === undefined || ctimeNs === '' ? NaN : Number(ctimeNs) / 1e6;
}

function listFolder(
  folder: string,
  locate: (name: string) => string | undefined,
): readonly FolderItem[] | null {
  try {
    return readdirSync(folder, { withFileTypes: true }).map((item): FolderItem => {
      const { name } = item;
      if (!item.isSymbolicLink()) return { name, isFolder: item.isDirectory() };
      const location = locate(name);
      // A link that leads out counts as a file, so that the account is reported as unreadable.
      if (location === undefined) return { name, isFolder: false, isLink: true, leadsOut: true };
      return { name, isFolder: isFolder(location), isLink: true };
    });
  } catch (error) {
    // A folder that does not exist has no accounts.
    return ['ENOENT', 'ENOTDIR'].includes(errorCode(error)) ? [] : null;
  }
}

function isFolder(location: string): boolean {
  try {
    return statSync(location).isDirectory();
  } catch {
    return false;
  }
}

function isLink(file: string): boolean {
  try {
    return lstatSync(file).isSymbolicLink();
  } catch {
    return false;
  }
}
