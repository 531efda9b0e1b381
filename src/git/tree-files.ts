// The files of a working tree beside what git has stored, compared without git: its own comparison runs the programs
// that a repository's settings and attributes name.
import { createHash } from 'node:crypto';
import { lstat, readlink } from 'node:fs/promises';
import { readRegularFile } from '../platform/regular-file.ts';

/** A file as `ls-tree` and `ls-files --stage` list it. */
export interface Listed {
  readonly mode: string;
  /** Of its blob. */
  readonly id: string;
}

/** Nothing that rolecall reads is larger; a larger file counts as changed. */
const MAX_BYTES = 8 * 1024 * 1024;

/** The lists of both commands, by path. */
export function treeEntries(output: string): ReadonlyMap<string, Listed> {
  const entries = new Map<string, Listed>();
  for (const line of output.split('\0')) {
    const [, mode, id, name] =
      /^(\d{6}) (?:blob |commit |tree )?([0-9a-f]{40,64})(?: [0-3])?\t(.+)$/su.exec(line) ?? [];
    if (mode !== undefined && id !== undefined && name !== undefined) entries.set(name, { mode, id });
  }
  return entries;
}

/** Whether a file has other bytes than its blob, is another kind of file, or is missing. */
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

/** The id that git gives these bytes, in the hash of the repository that `like` is from. */
function blobId(bytes: Buffer, like: string): string {
  const hash = createHash(like.length === 64 ? 'sha256' : 'sha1');
  return hash.update(`blob ${bytes.length}\0`).update(bytes).digest('hex');
}
