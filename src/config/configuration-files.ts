// Where a load finds its files: on the disk, in the daemon's own checkout, or in memory (contract, section 2). Loading
// looks at nothing but through this, so that files which somebody else has sent reach no disk.
import type { SourceRead } from './source-text.ts';

export interface ConfigurationFiles {
  /**
   * The file at an absolute path. Never throws: whatever is wrong with it is an issue. Synchronous, since a small file
   * costs 20 µs so and ten times as much by way of the thread pool, and a daemon looks at a thousand of them.
   */
  read(file: string): SourceRead;
  /** The files that match a glob below `folder` (see path-glob.ts), absolute and sorted. */
  match(pattern: string, folder: string): readonly string[];
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
    shown: (file) => files.shown(file),
  };
}
