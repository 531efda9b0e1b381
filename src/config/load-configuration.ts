// Loads a complete configuration: the service file and all accounts; also as the files that `plan --server` sends.
import path from 'node:path';
import { recordingFiles, type ConfigurationFiles } from './configuration-files.ts';
import { filesOnDisk } from './files-on-disk.ts';
import type { LoadedConfiguration } from './join-accounts.ts';
import { loadFiles } from './load-files.ts';
import type { CheckoutPlace } from '../core/repository.ts';

export interface LoadOptions {
  /** `YYYY-MM-DD` in UTC, decides which approvals have expired; for tests. */
  readonly today?: string;
  /** Where the files are found; the disk unless given. */
  readonly files?: ConfigurationFiles;
  /** The daemon's checkout, whose accounts are loaded in place of those beside the service's file. */
  readonly checkout?: CheckoutPlace;
  /** Ends a load of files that somebody else has sent, with the signal's reason. */
  readonly signal?: AbortSignal;
  /** How many names all accounts may have together; a load that finds more throws UsageError. */
  readonly mostNames?: number;
}

/**
 * Reads the service's file (relative to the working directory, or absolute) and all account files of its glob. Looks
 * at neither network nor secrets. What a file holds never makes it throw: problems are issues, and one broken account
 * leaves the others alone.
 */
export async function loadConfiguration(
  file: string,
  options: LoadOptions = {},
): Promise<LoadedConfiguration> {
  const { checkout, signal, mostNames, today = currentDay() } = options;
  const machineFile = path.resolve(file);
  const files = options.files ?? filesOnDisk(checkout, machineFile);
  const { loaded } = await loadFiles({ file: machineFile, files, today, checkout, signal, mostNames });
  return loaded;
}

/** Today as approvals count it: `YYYY-MM-DD` in UTC. */
export function currentDay(): string {
  return new Date().toISOString().slice(0, 10);
}

export interface CollectedConfiguration {
  /** Which of `files` is the service's. */
  readonly config: string;
  /** The text of each file that was read, by its path below the folder that they have in common, with slashes. */
  readonly files: Readonly<Record<string, string>>;
  readonly loaded: LoadedConfiguration;
}

/**
 * Loads the configuration and collects exactly the files that it consists of. What could not be read is not among them;
 * `loaded` has the issue. Loaded by `filesFromMemory`, the files give the same settings, but for what an absolute path
 * in them names.
 */
export async function collectConfiguration(file: string): Promise<CollectedConfiguration> {
  const recorded = recordingFiles(filesOnDisk());
  const loaded = await loadConfiguration(file, { files: recorded });
  const config = path.resolve(file);
  const root = commonFolder([config, ...recorded.texts.keys()]);
  const relative = (found: string): string => path.relative(root, found).split(path.sep).join('/');
  const files = Object.fromEntries([...recorded.texts].map(([found, text]) => [relative(found), text]));
  return { config: relative(config), files, loaded };
}

/** The deepest folder that all of these are below. */
function commonFolder(files: readonly string[]): string {
  let [common = path.sep, ...others] = files.map((file) => path.dirname(file));
  for (const folder of others) {
    while (folder !== common && !folder.startsWith(common.endsWith(path.sep) ? common : common + path.sep)) {
      common = path.dirname(common);
    }
  }
  return common;
}
