// How ids of runs are printed in tables: shortened where a person reads them, complete where a program may.
import type { JournalReader } from '../core/journal-reader.ts';
import type { Output } from './console.ts';

/** The printed form of each id. A shortened one still names only that run. */
export async function printedIds(
  reader: Pick<JournalReader, 'shortRunIds'>,
  ids: readonly string[],
  { isTerminal }: Pick<Output, 'isTerminal'>,
): Promise<ReadonlyMap<string, string>> {
  return isTerminal ? await reader.shortRunIds(ids) : new Map(ids.map((id) => [id, id]));
}
