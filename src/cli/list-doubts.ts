// Why the lists of an account may be incomplete, for commands that write them to a file.
import type { ReadAccount } from '../app/read-account.ts';
import { KINDS } from '../core/catalog.ts';
import type { EntryKey } from '../core/usage.ts';
import { count } from '../report/formatting.ts';
import { showWarnings } from './console.ts';

/** One sentence for each reason, without a full stop; none if nothing is missing. */
export function listDoubts({
  implausible,
  unlisted,
}: Pick<ReadAccount, 'implausible' | 'unlisted'>): string[] {
  const are = implausible === null ? 'may be' : 'are';
  const shrunk =
    implausible?.code === 'suspicious_shrink'
      ? ['the lists lack much of what the last good run saw, in two readings']
      : [];
  const referred =
    unlisted.length === 0
      ? []
      : [`the lists ${are} incomplete: people refer to ${kindsOf(unlisted)} that no list contains`];
  return [...shrunk, ...referred];
}

/** `3 skills and 1 role` */
function kindsOf(keys: readonly EntryKey[]): string {
  return KINDS.map((kind) => [kind, keys.filter((key) => key.startsWith(`${kind}:`)).length] as const)
    .filter(([, amount]) => amount > 0)
    .map(([kind, amount]) => count(amount, kind))
    .join(' and ');
}

/** Warns of lists that are written to a file nevertheless. */
export function showDoubts(account: string, doubts: readonly string[]): void {
  showWarnings(
    doubts.map((doubt) => `${account}: ${doubt}; a later apply deletes what the new file does not name`),
  );
}
