// Where a load finds its files: on the disk, in the daemon's own checkout, or in memory (contract, section 2). Loading
// looks at nothing but through this, so that files which somebody else has sent reach no disk.
import type { GlobMatches } from './path-glob.ts';
import type { SourceRead } from './source-text.ts';

export interface ConfigurationFiles {
  /**
   * The file at an absolute path. Never throws: whatever is wrong with it is an issue. Synchronous, since a small file
   * costs 20 µs so and ten times as much by way of the thread pool, and a daemon looks at a thousand of them.
   */
  read(file: string): SourceRead;
  /** The files that match a glob below `folder` (see path-glob.ts). */
  match(pattern: string, folder: string): GlobMatches;
  /** Every YAML file in or below a folder, absolute, without what is in hidden folders or behind links to folders. */
  yamlBelow(folder: string): readonly string[];
  /** Whether a path, by itself or by a link, leads out of the repository that the configuration has to be in. */
  leadsOut(file: string): boolean;
  /** A path without links on the way, also when nothing is there. */
  realPath(file: string): Promise<string>;
  /** How messages name a file; undefined when they may not know its path. */
  shown(file: string): string | undefined;
}

/** Every text that was read through `files`, by its absolute path. */
export interface RecordedFiles extends ConfigurationFiles {
  readonly texts: ReadonlyMap<string, string>;
}

export function recordingFiles(files: ConfigurationFiles): RecordedFiles {
  const texts = new Map<string, string>();
  return {
    texts,
    read(file) {
      const read = files.read(file);
      if ('source' in read) texts.set(file, read.source.text);
      return read;
    },
    match: (pattern, folder) => files.match(pattern, folder),
    yamlBelow: (folder) => files.yamlBelow(folder),
    leadsOut: (file) => files.leadsOut(file),
    realPath: (file) => files.realPath(file),
    shown: (file) => files.shown(file),
  };
}
