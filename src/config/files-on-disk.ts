// The files of a configuration on disk. Within a checkout, symbolic links are resolved, so that no path leads out of it.
import { randomBytes } from 'node:crypto';
import { readdirSync, statSync } from 'node:fs';
import { chown, open, realpath, rename, rm, stat } from 'node:fs/promises';
import path from 'node:path';
import { errorCode, StoreError } from '../core/errors.ts';
import type { CheckoutPlace, PinnedFolder } from '../core/ports/repository.ts';
import { FileError, fileStamp, readRegularFile, realPathOf } from '../system/regular-file.ts';
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
  const root = pinned && realPathOf(path.join(pinned.folder, pinned.path));
  const locate = (file: string): string | undefined => {
    if (pinned === undefined || file === ownFile) return file;
    const below = belowLink(pinned.link, file);
    const target = below === undefined ? undefined : realPathOf(path.join(pinned.folder, below));
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
      return location === undefined ? undefined : fileStamp(location);
    },
    list(folder) {
      const location = locate(folder);
      return location === undefined ? [] : listFolder(location, (name) => locate(path.join(folder, name)));
    },
    leadsOut: (file) => locate(file) === undefined,
    realPath: (file) => realPathOf(file) ?? file,
    shown,
  };
}

function belowLink(link: string, file: string): string | undefined {
  if (file === link) return '';
  return file.startsWith(`${link}${path.sep}`) ? file.slice(link.length + 1) : undefined;
}

/** Reads a complete file, or fails if the file keeps changing. */
function readDisk(location: string, named: NamedFile): SourceRead {
  try {
    const found = statSync(location);
    if (found.isDirectory())
      return refusal(named, 'this is a folder and not a file; rename it, or write the path of a YAML file');
    if (found.isFile() && found.size > MAX_FILE_BYTES) return tooLarge(named, found.size);
    for (let attempt = 0; attempt < 3; attempt += 1) {
      const { bytes, isChanged } = readRegularFile(location, MAX_FILE_BYTES);
      if (!isChanged) return decode(named, bytes);
    }
    return refusal(named, 'the file changed while it was read; try again when it is completely written');
  } catch (error) {
    const code = error instanceof FileError ? error.code : errorCode(error);
    if (code === 'ENOENT' || code === 'ENOTDIR') return missingFile(named);
    if (code === 'irregular')
      return refusal(named, 'this is not a regular file; write the path of a YAML file');
    return refusal(named, `the file cannot be read (${code}); check its permissions`);
  }
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

/**
 * Replaces the file atomically, so that no reader sees half of it. Keeps its mode and, if this process is allowed to,
 * its owner. Writes nothing if the file is no longer equal to `before`. Throws StoreError.
 */
export async function replaceFile(file: string, before: string, text: string): Promise<void> {
  let fresh: string | undefined;
  try {
    // Replaces the target of a symbolic link, not the link.
    const target = await realpath(file);
    const { mode, uid, gid } = await stat(target);
    fresh = path.join(path.dirname(target), `.${path.basename(target)}.${randomBytes(6).toString('hex')}`);
    const handle = await open(fresh, 'wx', 0o600);
    try {
      await handle.writeFile(text);
      await handle.chmod(mode & 0o7777);
      await handle.sync();
    } finally {
      await handle.close();
    }
    await chown(fresh, uid, gid).catch(() => undefined);
    const current = filesOnDisk().read(target);
    if (!('source' in current) || current.source.text !== before) {
      throw new StoreError(
        'output_failed',
        `${file} changed while rolecall read the account, so it was not replaced; run the command again`,
      );
    }
    await rename(fresh, target);
  } catch (error) {
    if (fresh !== undefined) await rm(fresh, { force: true });
    if (error instanceof StoreError) throw error;
    const reason = `cannot be replaced (${errorCode(error)}); check the permissions of the file and its folder`;
    throw new StoreError('output_failed', `${file} ${reason}`);
  }
}
