// Which database files this process has open. POSIX drops a process's locks on a file when it closes any descriptor
// of that file, so a file that SQLite has open must not be opened and closed beside it.

interface FileIdentity {
  readonly dev: number;
  readonly ino: number;
}

const open = new Map<string, number>();

const keyOf = ({ dev, ino }: FileIdentity): string => `${String(dev)}:${String(ino)}`;

export function isOpenHere(file: FileIdentity): boolean {
  return open.has(keyOf(file));
}

/** Counts the file as open until the function that it returns is called. */
export function countAsOpen(file: FileIdentity): () => void {
  const key = keyOf(file);
  open.set(key, (open.get(key) ?? 0) + 1);
  return () => {
    const left = (open.get(key) ?? 1) - 1;
    if (left === 0) open.delete(key);
    else open.set(key, left);
  };
}
