// Remembers which database files this process has open. On POSIX systems, a process that closes any descriptor of a file
// loses all its locks on the file. So a file that SQLite has open must not be opened and closed a second time.

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
