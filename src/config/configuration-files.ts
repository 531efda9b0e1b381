// The interface by which a loader reads the files of a configuration, and its implementation for the files in memory
// that `plan --server` sends.
import path from 'node:path';
import type { FolderLookup } from './path-glob.ts';
import {
  MAX_FILE_BYTES,
  type NamedFile,
  type SourceRead,
  decode,
  missingFile,
  notUtf8,
  tooLarge,
} from './yaml/source-text.ts';

export interface ConfigurationFiles extends FolderLookup {
  /** Reads the file at an absolute path. Never throws: a problem is an issue. */
  read(file: string): SourceRead;
  /** What the file system records of the file: differs after any change. Undefined if there is no such record. */
  stamp(file: string): string | undefined;
  /** The path with all symbolic links resolved, also for a file that does not exist. */
  realPath(file: string): string;
  /** The name of a file in messages; undefined when a message must not contain its path. */
  shown(file: string): string | undefined;
}

/** Every text that was read through `files`, by its absolute path. */
export interface RecordedFiles extends ConfigurationFiles {
  readonly texts: ReadonlyMap<string, string>;
}

export function recordingFiles(files: ConfigurationFiles): RecordedFiles {
  const texts = new Map<string, string>();
  return {
    ...files,
    texts,
    read(file) {
      const read = files.read(file);
      if ('source' in read) texts.set(file, read.source.text);
      return read;
    },
  };
}

/**
 * Presents the texts as files below `root` (absolute), which need not exist. Names are relative, with slashes and
 * without `.` and `..`; other names are ignored. A file that was not sent does not exist, and no message names its
 * path.
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
  return {
    read(file) {
      const named = { path: file, shown: shown(file) ?? 'a file that was not sent' };
      const text = held.get(file);
      return text === undefined ? missingFile(named) : readText(named, text);
    },
    stamp: () => undefined,
    ...folderLookup(base, held),
    // Files of the disk must not have an effect here.
    realPath: (file) => file,
    shown,
  };
}

function isPlainRelative(name: string): boolean {
  return name.split('/').every((segment) => !/^\.{0,2}$/u.test(segment) && !/[\p{Cc}\\]/u.test(segment));
}

/** The text as a file that was read. */
export function readText(file: NamedFile, text: string): SourceRead {
  // JSON can contain a lone surrogate, which a UTF-8 file can't.
  const half = /\p{Cs}/u.exec(text)?.index;
  if (half !== undefined) return notUtf8(file, text, half);
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
    leadsOut: () => false,
  };
}
