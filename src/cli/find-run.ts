// Finds the run that an argument names: an id, an unambiguous beginning of one, or `last`.
import { StoreError, UsageError } from '../core/errors.ts';
import type { JournalReader } from '../core/journal-reader.ts';
import type { RunRecord } from '../core/journal.ts';

export const RUN_HELP = 'id of the run, the beginning of the id, or `last`';
export const ACCOUNT_OF_LAST_HELP = 'with `last`: the latest run of this account';

/** The most runs that are listed for an ambiguous id. */
const MOST_LISTED = 20;

/**
 * The run with this id, with the only id that begins so, or the latest one (`last`), of `account` if given. Throws
 * StoreError that describes how to find the id, or lists the runs that an ambiguous beginning matches.
 */
export async function findRun(
  reader: Pick<JournalReader, 'runs' | 'runsBeginning'>,
  wanted: string,
  account: string | undefined,
): Promise<RunRecord> {
  if (wanted === 'last') return await lastRun(reader, account);
  if (account !== undefined) throw new UsageError('--account selects the run only with `last`; leave it out');
  const runs = await reader.runsBeginning(wanted.toLowerCase(), MOST_LISTED + 1);
  const [run, ...others] = runs;
  const shown = JSON.stringify(wanted);
  if (run === undefined) {
    throw new StoreError(
      'run_unknown',
      `no run has an id that begins with ${shown}; run \`rolecall history\` to list the runs`,
    );
  }
  if (others.length === 0 || run.id === wanted.toLowerCase()) return run;
  throw new StoreError('run_ambiguous', ambiguous(shown, runs));
}

async function lastRun(reader: Pick<JournalReader, 'runs'>, account: string | undefined): Promise<RunRecord> {
  const [run] = await reader.runs({ limit: 1, ...(account === undefined ? {} : { account }) });
  if (run !== undefined) return run;
  throw new StoreError(
    'run_unknown',
    account === undefined
      ? 'no run is stored yet'
      : `no run of an account ${JSON.stringify(account)} is stored; run \`rolecall history\` to list the runs`,
  );
}

function ambiguous(shown: string, runs: readonly RunRecord[]): string {
  const rows = runs
    .slice(0, MOST_LISTED)
    .map((each) => `  ${each.id}  ${each.account}  ${each.status}  ${each.startedAt}`);
  return [
    `several runs have an id that begins with ${shown}; use more characters of the id (\`rolecall history\` lists all runs):`,
    ...rows,
    ...(runs.length > MOST_LISTED ? ['  … and more'] : []),
  ].join('\n');
}
