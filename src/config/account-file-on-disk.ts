// Writes the account file for `dump`: generates it from the contents of the account, checks it with the loader, and
// replaces it atomically.
import { randomBytes } from 'node:crypto';
import { chown, open, realpath, rename, rm, stat } from 'node:fs/promises';
import path from 'node:path';
import type { CheckoutPlace } from '../core/ports/repository.ts';
import { type ConfigIssue, errorCode, errorsOf } from '../core/errors.ts';
import { ConfigError, StoreError } from '../core/errors.ts';
import { openCatalogs } from './merge-lists.ts';
import { type ConfigurationFiles, readText } from './configuration-files.ts';
import { type AccountContents, type DumpedFile, dumpAccountFile } from './dump-account-file.ts';
import { filesOnDisk } from './files-on-disk.ts';
import { loadConfiguration } from './load-configuration.ts';

export interface DumpTarget {
  readonly configFile: string;
  readonly account: { readonly name: string; readonly file: string };
  readonly checkout?: CheckoutPlace | undefined;
  /** The source of the files; the disk by default. */
  readonly files?: ConfigurationFiles;
}

export interface DumpedAccount extends DumpedFile {
  /** The errors that the loader finds in the new text. */
  readonly errors: readonly ConfigIssue[];
  /** The text of the file before the dump. */
  readonly before: string;
}

/** Generates the account file from the contents of the account. Throws ConfigError when the file cannot be read. */
export async function dumpAccount(target: DumpTarget, contents: AccountContents): Promise<DumpedAccount> {
  const { configFile, account, checkout, files = filesOnDisk(checkout) } = target;
  const read = files.read(account.file);
  if ('issue' in read) throw new ConfigError([read.issue]);
  const before = read.source.text;
  const catalogs = openCatalogs(files, '');
  const dumped = dumpAccountFile(
    { file: account.file, text: before },
    contents,
    (file) => catalogs.read(file).lists,
  );
  const { accounts } = await loadConfiguration(configFile, {
    files: withText(files, account.file, dumped.text),
    checkout,
  });
  const errors = accounts
    .filter(({ file }) => file === account.file)
    .flatMap(({ issues }) => errorsOf(issues));
  return { ...dumped, errors, before };
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

function withText(files: ConfigurationFiles, file: string, text: string): ConfigurationFiles {
  const read = readText({ path: file, shown: files.shown(file) ?? file }, text);
  return { ...files, read: (other) => (other === file ? read : files.read(other)) };
}
