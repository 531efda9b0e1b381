// A configuration as it is sent to a daemon, which knows the history (contract, section 3, `plan --server`).
import path from 'node:path';
import { recordingFiles } from './configuration-files.ts';
import { filesOnDisk } from './files-on-disk.ts';
import { type LoadedConfiguration, loadConfiguration } from './load-configuration.ts';

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
