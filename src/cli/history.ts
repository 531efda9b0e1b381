// rolecall history and rolecall show: print runs from the journal. They read the store and never call the service.
import { RUN_STATUSES } from '../core/journal.ts';
import type { RunStatus } from '../core/journal.ts';
import type { JournalReader } from '../core/journal-reader.ts';
import { UsageError } from '../core/errors.ts';
import { renderRuns } from '../report/history-report.ts';
import { renderRun } from '../report/run-report.ts';
import { loadAccounts } from './accounts.ts';
import type { OutputOptions } from './console.ts';
import { openOutput, showMessage } from './console.ts';
import type { Environment } from './environment.ts';
import type { ExitStatus } from './exit-status.ts';
import { EXIT } from './exit-status.ts';
import { orJsonFailure } from './json-failure.ts';

export interface HistoryOptions extends OutputOptions {
  readonly limit: number;
  readonly sinceMs?: number | undefined;
  readonly status?: string | undefined;
}

export async function history(...args: Parameters<typeof listRuns>): Promise<ExitStatus> {
  return await orJsonFailure(args[3], 'list', () => listRuns(...args));
}

async function listRuns(
  environment: Environment,
  configFile: string,
  account: string | undefined,
  options: HistoryOptions,
): Promise<ExitStatus> {
  const status = options.status === undefined ? undefined : toStatus(options.status);
  const { service, accounts } = await loadAccounts(environment, configFile, []);
  const journal = await environment.openJournal(service);
  try {
    // A removed account keeps its history, so any name is accepted.
    const runs = await journal.reader.runs({
      limit: options.limit,
      ...(account === undefined ? {} : { account }),
      ...(status === undefined ? {} : { status }),
      ...(options.sinceMs === undefined ? {} : { sinceMs: Date.now() - options.sinceMs }),
    });
    if (account !== undefined && runs.length === 0 && !accounts.some(({ name }) => name === account)) {
      showMessage(
        `warning: no account ${JSON.stringify(account)} is configured, and no run of such an account is stored`,
      );
    }
    const output = openOutput(options);
    await output.print(renderRuns(runs, output.render));
    await output.close();
    return EXIT.done;
  } finally {
    await journal.close();
  }
}

export async function show(...args: Parameters<typeof showRun>): Promise<ExitStatus> {
  return await orJsonFailure(args[3], 'one', () => showRun(...args));
}

async function showRun(
  environment: Environment,
  configFile: string,
  runId: string,
  options: OutputOptions,
): Promise<ExitStatus> {
  const { service } = await loadAccounts(environment, configFile, []);
  const journal = await environment.openJournal(service);
  try {
    const id = await findRun(journal.reader, runId);
    const run = id === null ? null : await journal.reader.run(id);
    if (run === null) return EXIT.failed;
    const output = openOutput(options);
    await output.print(renderRun(run, output.render));
    await output.close();
    return EXIT.done;
  } finally {
    await journal.close();
  }
}

/** The most runs that are listed for an ambiguous id. */
const MOST_LISTED = 20;

/** The id of the requested run: an id, an unambiguous beginning of one, or `last`. Shows an error and returns null if none fits. */
async function findRun(reader: JournalReader, wanted: string): Promise<string | null> {
  const runs =
    wanted === 'last'
      ? await reader.runs({ limit: 1 })
      : await reader.runsBeginning(wanted.toLowerCase(), MOST_LISTED + 1);
  const [run, ...others] = runs;
  const shown = JSON.stringify(wanted);
  if (run === undefined) {
    showMessage(
      wanted === 'last'
        ? 'error: no run is stored yet'
        : `error: no run has an id that begins with ${shown}; run \`rolecall history\` to list the runs`,
    );
    return null;
  }
  if (others.length === 0 || run.id === wanted) return run.id;
  const rows = runs
    .slice(0, MOST_LISTED)
    .map((each) => `  ${each.id}  ${each.account}  ${each.status}  ${each.startedAt}`);
  const rest = runs.length > MOST_LISTED ? ['  … and more'] : [];
  showMessage(
    [
      `error: several runs have an id that begins with ${shown}; use more characters of the id (\`rolecall history\` lists all runs):`,
      ...rows,
      ...rest,
    ].join('\n'),
  );
  return null;
}

function toStatus(text: string): RunStatus {
  const status = RUN_STATUSES.find((candidate) => candidate === text);
  if (status === undefined) {
    throw new UsageError(
      `--status ${JSON.stringify(text)} is not a status; use one of ${RUN_STATUSES.join(', ')}`,
    );
  }
  return status;
}
