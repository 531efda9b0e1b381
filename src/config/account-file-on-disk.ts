// The account's file on the disk, for `dump`: made of what the account contains, judged as the loader would judge it,
// and replaced in one step.
import { randomBytes } from 'node:crypto';
import { chown, open, realpath, rename, rm, stat } from 'node:fs/promises';
import path from 'node:path';
import type { CheckoutPlace } from '../core/repository.ts';
import { errorCode } from '../core/error-code.ts';
import type { ConfigIssue } from '../core/errors.ts';
import { ConfigError, StoreError } from '../core/errors.ts';
import { openCatalogs } from './catalog-file.ts';
import type { ConfigurationFiles } from './configuration-files.ts';
import { type AccountContents, type DumpedFile, dumpAccountFile } from './dump-account-file.ts';
import { filesOnDisk } from './files-on-disk.ts';
import { loadConfiguration } from './load-configuration.ts';

import { MAX_FILE_BYTES, decode, tooLarge } from '../yaml/source-text.ts';

export interface DumpTarget {
  readonly configFile: string;
  readonly account: { readonly name: string; readonly file: string };
  readonly checkout?: CheckoutPlace | undefined;
}

export interface DumpedAccount extends DumpedFile {
  /** What the loader has against the new text. */
  readonly errors: readonly ConfigIssue[];
  /** The text that it was made from. */
  readonly before: string;
}

/** The account's file with what the account contains. Throws ConfigError when the file cannot be read. */
export async function dumpAccount(target: DumpTarget, contents: AccountContents): Promise<DumpedAccount> {
  const { configFile, account, checkout } = target;
  const files = filesOnDisk(checkout);
  const read = files.read(account.file);
  if ('issue' in read) throw new ConfigError([read.issue]);
  const before = read.source.text;
  const catalogs = openCatalogs(files);
  const dumped = dumpAccountFile(
    { file: account.file, text: before },
    contents,
    (file) => catalogs.read(file).lists,
  );
  const { accounts } = await loadConfiguration(configFile, {
    files: withText(files, account.file, dumped.text),
    ...(checkout === undefined ? {} : { checkout }),
  });
  const errors = accounts
    .filter(({ file }) => file === account.file)
    .flatMap(({ issues }) => issues.filter(({ severity }) => severity === 'error'));
  return { ...dumped, errors, before };
}

function withText(files: ConfigurationFiles, file: string, text: string): ConfigurationFiles {
  const named = { path: file, shown: files.shown(file) ?? file };
  const bytes = Buffer.from(text);
  const read = bytes.length > MAX_FILE_BYTES ? tooLarge(named, bytes.length) : decode(named, bytes);
  return { ...files, read: (other) => (other === file ? read : files.read(other)) };
}

/**
 * Replaces the file by the text in one step: nobody reads half of it, and it keeps its mode and, where this process may
 * say so, its owner. Nothing is written when it is no longer what it was. Throws StoreError.
 */
export async function replaceAccountFile(file: string, before: string, text: string): Promise<void> {
  let fresh: string | undefined;
  try {
    // What a link names is replaced, not the link.
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
        `${file} changed while its account was read, so it was not replaced; dump again`,
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
