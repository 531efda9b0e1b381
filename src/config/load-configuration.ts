// The way into this room: all files of a configuration, every problem at once (contract, section 2).
import path from 'node:path';
import type { ConfigIssue } from '../core/errors.ts';
import type { ServiceSettings } from '../core/settings.ts';
import type { ConfigurationFiles } from './configuration-files.ts';
import { filesOnDisk } from './files-on-disk.ts';
import type { LoadedAccount } from './join-accounts.ts';
import { loadFiles } from './load-files.ts';
import type { Trust } from './trust.ts';
import type { SecretUse } from './secret-refs.ts';
import type { CheckoutPlace } from '../core/repository.ts';

export interface LoadedConfiguration {
  /** Absent when the service's file is missing or has an error. */
  readonly service?: ServiceSettings;
  /** Sorted by code points of the name. */
  readonly accounts: readonly LoadedAccount[];
  /** Every problem of all files, errors and warnings, sorted by file, line and column. */
  readonly issues: readonly ConfigIssue[];
  /** Every secret that the sound parts refer to, for `checkSecrets`. */
  readonly secrets: readonly SecretUse[];
  /** What the machine's own file allows account files to use. */
  readonly trust: Trust;
}

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
