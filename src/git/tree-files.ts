// Compares the files of a working tree with the objects in git. git's own comparison is not used, because it runs
// programs that the settings and attributes of a repository name.
import { createHash } from 'node:crypto';
import { lstat, readlink } from 'node:fs/promises';
import { readRegularFile } from '../platform/regular-file.ts';

/** A file as `ls-tree` and `ls-files --stage` list it. */
export interface Listed {
  readonly mode: string;
  /** The id of its blob. */
  readonly id: string;
}

/** Larger than any file that rolecall reads; a larger file counts as changed. */
const MAX_BYTES = 8 * 1024 * 1024;

/** Parses the output of both commands; keys are paths. */
export function treeEntries(output: string): ReadonlyMap<string, Listed> {
  const entries = new Map<string, Listed>();
  for (const line of output.split('\0')) {
    const [, mode, id, name] =
      /^(\d{6}) (?:blob |commit |tree )?([0-9a-f]{40,64})(?: [0-3])?\t(.+)$/su.exec(line) ?? [];
    if (mode !== undefined && id !== undefined && name !== undefined) entries.set(name, { mode, id });
  }
  return entries;
}

/** Whether a file differs from its blob, has another type, or is missing. */
export async function differsFromBlob(file: string, { mode, id }: Listed): Promise<boolean> {
  try {
    if (mode === '120000') return blobId(Buffer.from(await readlink(file)), id) !== id;
    if (mode === '160000') return false;
    if (!(await lstat(file)).isFile()) return true;
    return blobId((await readRegularFile(file, MAX_BYTES)).bytes, id) !== id;
  } catch {
    return true;
  }
}

/** The blob id of these bytes, with the hash algorithm of the id `like`. */
function blobId(bytes: Buffer, like: string): string {
  const hash = createHash(like.length === 64 ? 'sha256' : 'sha1');
  return hash.update(`blob ${bytes.length}\0`).update(bytes).digest('hex');
}
