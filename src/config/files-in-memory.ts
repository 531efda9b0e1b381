// Files that somebody has sent, as `plan --server` does (contract, section 3): loaded by the same rules as files on the
// disk, and without a look at any disk.
import path from 'node:path';
import type { ConfigurationFiles } from './configuration-files.ts';
import { type FolderLookup, matchPaths, yamlBelow } from './path-glob.ts';
import {
  MAX_FILE_BYTES,
  type NamedFile,
  type SourceRead,
  decode,
  missingFile,
  notUtf8,
  tooLarge,
} from './source-text.ts';

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
