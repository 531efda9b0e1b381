// Loads a complete configuration: the service file and all accounts. Also collects the files that `plan --server`
// sends.
import type { Configuration } from '../core/settings.ts';
import path from 'node:path';
import { recordingFiles, type RecordedFiles } from './configuration-files.ts';
import { filesOnDisk } from './files-on-disk.ts';
import { currentDay, type LoadTarget, loadFiles } from './load-files.ts';
import type { CheckoutPlace } from '../core/ports/repository.ts';

export interface CollectedConfiguration {
  /** The key of the service file in `files`. */
  readonly config: string;
  /** The text of each file that was read, by its path below the common folder, with slashes. */
  readonly files: Readonly<Record<string, string>>;
  readonly loaded: Configuration;
}

/**
 * Reads the service file (relative to the working directory, or absolute) and all account files of its glob. Uses
 * not the network, and reads a token only to remove it from messages about its account's file. Never throws because of the content of a file: problems are issues, and an invalid
 * account does not affect the others.
 */
export async function loadConfiguration(
  file: string,
  options: Partial<Omit<LoadTarget, 'file'>> = {},
): Promise<Configuration> {
  const machineFile = path.resolve(file);
  const files = filesOnDisk(options.checkout ?? undefined, machineFile);
  return (await loadFiles({ files, today: currentDay(), ...options, file: machineFile })).loaded;
}

/**
 * Loads the configuration and collects exactly the files that it consists of. A file that could not be read is missing,
 * and `loaded` has the issue. Loaded with `filesFromMemory`, the files give the same settings, except for absolute
 * paths in them.
 */
export async function collectConfiguration(file: string): Promise<CollectedConfiguration> {
  const { files: recorded, loaded } = await recordConfiguration(file);
  const config = path.resolve(file);
  const root = commonFolder([config, ...recorded.texts.keys()]);
  const relative = (found: string): string => path.relative(root, found).split(path.sep).join('/');
  const files = Object.fromEntries([...recorded.texts].map(([found, text]) => [relative(found), text]));
  return { config: relative(config), files, loaded };
}

export interface RecordedConfiguration {
  /** With the texts of all files that the configuration consists of, also of those that are invalid. */
  readonly files: RecordedFiles;
  readonly loaded: Configuration;
}

/** Loads the configuration, and keeps the texts of its files. */
export async function recordConfiguration(
  file: string,
  checkout?: CheckoutPlace,
): Promise<RecordedConfiguration> {
  const files = recordingFiles(filesOnDisk(checkout, path.resolve(file)));
  return { files, loaded: await loadConfiguration(file, { files, checkout }) };
}

/** The deepest folder that contains all of these files. */
function commonFolder(files: readonly string[]): string {
  let [common = path.sep, ...others] = files.map((file) => path.dirname(file));
  for (const folder of others) {
    while (folder !== common && !folder.startsWith(common.endsWith(path.sep) ? common : common + path.sep)) {
      common = path.dirname(common);
    }
  }
  return common;
}
