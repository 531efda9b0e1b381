// Advice for a damaged store: the commands that replace it by a backup.
import { StoreError } from '../../core/errors.ts';

const LONGEST_FINDING = 200;

/** The error for a damaged store: what SQLite found first, and how to recover. */
export function damagedStore(file: string, finding: string): StoreError {
  const lines = finding.split('\n').filter((line) => !line.startsWith('*** in database'));
  const first = (lines[0] ?? finding).slice(0, LONGEST_FINDING);
  return new StoreError('store_corrupt', `${file}: the store is damaged (${first}). ${recovery(file)}`);
}

/** The commands that replace a damaged store. They keep the damaged files, which may be the only remaining data. */
export function recovery(file: string): string {
  const [store, aside] = [quoted(file), quoted(`${file}.damaged`)];
  return `To recover: stop every rolecall process that uses it, then run \`mkdir ${aside}; mv ${store} ${store}-* ${aside}/; cp BACKUP ${store}\`, where BACKUP is a file that \`rolecall backup\` wrote. Without a backup, omit \`cp\`: rolecall then starts with an empty store`;
}

function quoted(path: string): string {
  return /^[\w./-]+$/.test(path) ? path : `'${path.replaceAll("'", "'\\''")}'`;
}
