// What a loader needs of the files of a configuration, and the files that `plan --server` sends, which are in memory.
import path from 'node:path';
import { type FolderLookup, matchPaths, yamlBelow, type GlobMatches } from './path-glob.ts';
import {
  MAX_FILE_BYTES,
  type NamedFile,
  type SourceRead,
  decode,
  missingFile,
  notUtf8,
  tooLarge,
} from '../yaml/source-text.ts';

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

/**
 * The texts as if they stood below `root` (absolute), which need not be there. Their names are relative, with slashes
 * and without `.` and `..`; one that is not is no file. Whatever is not among the texts does not exist, and no message
 * names a path that was not sent.
 */
export function filesFromMemory(root: string, texts: Readonly<Record<string, string>>): ConfigurationFiles {
  const base = path.resolve(root);
  const held = new Map<string, string>();
  for (const [name, text] of Object.entries(texts)) {
    if (isPlainRelative(name)) held.set(path.join(base, ...name.split('/')), text);
  }
  const shown = (file: string): string | undefined => {
    const relative = path.relative(base, file);
    const outside = relative.split(path.sep)[0] === '..' || path.isAbsolute(relative);
    return outside ? undefined : relative.split(path.sep).join('/') || '.';
  };
  const lookup = folderLookup(base, held);
  return {
    read(file) {
      const named = { path: file, shown: shown(file) ?? 'a file that was not sent' };
      const text = held.get(file);
      return text === undefined ? missingFile(named) : readText(named, text);
    },
    match: (pattern, folder) => matchPaths(pattern, folder, lookup),
    yamlBelow: (folder) => yamlBelow(folder, lookup),
    leadsOut: () => false,
    // No disk is looked at.
    realPath: async (file) => file,
    shown,
  };
}

function isPlainRelative(name: string): boolean {
  return name.split('/').every((segment) => !/^\.{0,2}$/u.test(segment) && !/[\p{Cc}\\]/u.test(segment));
}

function readText(file: NamedFile, text: string): SourceRead {
  // JSON can carry half of a character, which no file can.
  const half = /\p{Cs}/u.exec(text)?.index;
  if (half !== undefined) {
    const before = text.slice(0, half);
    const line = before.split('\n').length;
    return notUtf8(file, { line, column: half - before.lastIndexOf('\n') });
  }
  const bytes = Buffer.from(text);
  return bytes.length > MAX_FILE_BYTES ? tooLarge(file, bytes.length) : decode(file, bytes);
}

function folderLookup(base: string, held: ReadonlyMap<string, string>): FolderLookup {
  const folders = new Map<string, Map<string, boolean>>();
  for (const file of held.keys()) {
    let isFolder = false;
    for (let below = file; below !== base; below = path.dirname(below)) {
      const parent = path.dirname(below);
      const items = folders.get(parent) ?? new Map<string, boolean>();
      folders.set(
        parent,
        items.set(path.basename(below), isFolder || items.get(path.basename(below)) === true),
      );
      isFolder = true;
    }
  }
  return {
    list: (folder) => [...(folders.get(folder) ?? [])].map(([name, isFolder]) => ({ name, isFolder })),
    isFile: (file) => held.has(file),
    isFolder: (file) => folders.has(file),
    leadsOut: () => false,
  };
}
