// rolecall history and rolecall show: what the journal says. Asks the store only, never the service.
import { RUN_STATUSES } from '../core/journal.ts';
import type { RunStatus } from '../core/journal.ts';
import { UsageError } from '../core/errors.ts';
import { renderRuns } from '../report/history-report.ts';
import { renderRun } from '../report/run-report.ts';
import { loadAccounts } from './accounts.ts';
import type { OutputOptions } from './console.ts';
import { openOutput, say } from './console.ts';
import type { Environment } from './environment.ts';
import type { ExitStatus } from './exit-status.ts';
import { EXIT } from './exit-status.ts';

export interface HistoryOptions extends OutputOptions {
  readonly limit: number;
  readonly sinceMs?: number | undefined;
  readonly status?: string | undefined;
}

export async function history(
  environment: Environment,
  configFile: string,
  account: string | undefined,
  options: HistoryOptions,
): Promise<ExitStatus> {
  const status = options.status === undefined ? undefined : toStatus(options.status);
  const { service, accounts } = await loadAccounts(environment, configFile, []);
  const journal = await environment.openJournal(service);
  try {
    // An account that has left the configuration still has its history.
    const runs = await journal.reader.runs({
      limit: options.limit,
      ...(account === undefined ? {} : { account }),
      ...(status === undefined ? {} : { status }),
      ...(options.sinceMs === undefined ? {} : { sinceMs: Date.now() - options.sinceMs }),
    });
    if (account !== undefined && runs.length === 0 && !accounts.some(({ name }) => name === account)) {
      say(`warning: no account is called ${JSON.stringify(account)} now, and no run of one is kept`);
    }
    const output = openOutput(options);
    await output.print(renderRuns(runs, output.render));
    await output.close();
    return EXIT.done;
  } finally {
    await journal.close();
  }
}

export async function show(
  environment: Environment,
  configFile: string,
  runId: string,
  options: OutputOptions,
): Promise<ExitStatus> {
  const { service } = await loadAccounts(environment, configFile, []);
  const journal = await environment.openJournal(service);
  try {
    const run = await journal.reader.run(runId);
    if (run === null) {
      say(
        `error: no run has the id ${JSON.stringify(runId)}, or several begin so; \`rolecall history\` lists them`,
      );
      return EXIT.failed;
    }
    const output = openOutput(options);
    await output.print(renderRun(run, output.render));
    await output.close();
    return EXIT.done;
  } finally {
    await journal.close();
  }
}

function toStatus(text: string): RunStatus {
  const status = RUN_STATUSES.find((candidate) => candidate === text);
  if (status === undefined) {
    throw new UsageError(`--status ${JSON.stringify(text)} is none of ${RUN_STATUSES.join(', ')}`);
  }
  return status;
}
