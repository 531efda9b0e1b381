// rolecall approve, pause and resume: commands to the daemon, passed through the store that both share.
import { ConfigError, UsageError } from '../core/errors.ts';
import type { OperatorCommands } from '../core/operator.ts';
import { PLAN_DIGEST } from '../core/operator.ts';
import type { AccountRecord } from '../core/journal-reader.ts';
import { errorsOf } from './accounts.ts';
import { printLine, showMessage } from './console.ts';
import type { Environment } from './environment.ts';
import type { ExitStatus } from './exit-status.ts';
import { EXIT } from './exit-status.ts';

/** Approves the pending plan. With a digest, or the beginning of one, only the plan with that digest. */
export async function approve(
  environment: Environment,
  configFile: string,
  account: string,
  digest: string | undefined,
): Promise<ExitStatus> {
  if (digest !== undefined && !PLAN_DIGEST.test(digest)) {
    throw new UsageError(
      'DIGEST must be `sha256:` and at least eight hex digits, as `rolecall plan` and `rolecall show` print it',
    );
  }
  return await withJournal(environment, configFile, account, async (operator, record) => {
    const outcome = await operator.approve(account, digest ?? null, Date.now());
    switch (outcome.type) {
      case 'approved': {
        const until = new Date(outcome.expiresAtMs).toISOString();
        const wait =
          record?.state.paused === true
            ? `; ${account} is paused: run \`rolecall resume ${account}\` to continue`
            : '';
        printLine(`approved ${outcome.digest} of ${account}, once, until ${until}${wait}`);
        return EXIT.done;
      }
      case 'nothing_pending': {
        const last = record?.lastRun;
        const state = last ? `its last run (${last.id}) ended ${last.status}` : 'it has not run yet';
        showMessage(
          `error: ${account} has no plan that waits for approval: ${state}. Runs of the daemon in mode approve make such plans`,
        );
        return EXIT.failed;
      }
      case 'other_plan': {
        const hint = `Review it with \`rolecall show ${record?.state.pending?.runId ?? 'RUN'}\``;
        showMessage(
          `error: the pending plan is ${outcome.pending}, not ${digest ?? ''}; nothing was approved. ${hint}`,
        );
        return EXIT.stalePlan;
      }
      default:
        return outcome satisfies never;
    }
  });
}

/** Stops or restarts the scheduled runs of an account. Reports when nothing had to change. */
export async function setPaused(
  environment: Environment,
  configFile: string,
  account: string,
  paused: boolean,
): Promise<ExitStatus> {
  return await withJournal(environment, configFile, account, async (operator, record) => {
    if ((record?.state.paused ?? false) === paused) {
      printLine(
        paused
          ? `${account} is paused already; run \`rolecall resume ${account}\` to restart its scheduled runs`
          : `${account} is not paused; nothing was changed`,
      );
      return EXIT.done;
    }
    await operator.setPaused(account, paused);
    const what = paused
      ? `no scheduled run starts until \`rolecall resume ${account}\``
      : 'it runs on its schedule again';
    printLine(`${paused ? 'paused' : 'resumed'} ${account}: ${what}`);
    return EXIT.done;
  });
}

async function withJournal(
  environment: Environment,
  configFile: string,
  account: string,
  work: (operator: OperatorCommands, record: AccountRecord | undefined) => Promise<ExitStatus>,
): Promise<ExitStatus> {
  const { service, accounts, issues } = await environment.loadConfiguration(configFile);
  if (service === undefined) throw new ConfigError(errorsOf(issues));
  const journal = await environment.openJournal(service, { mayBeNew: true });
  try {
    // With `source.git` the account file may exist only in the daemon's checkout. Then the store knows the account.
    const [record] = await journal.reader.accounts(account);
    if (record === undefined && !accounts.some(({ name }) => name === account)) {
      const known = accounts.map(({ name }) => name).join(', ');
      throw new UsageError(
        `there is no account ${JSON.stringify(account)}; the accounts are: ${known || 'none'}`,
      );
    }
    return await work(journal.operator, record);
  } finally {
    await journal.close();
  }
}
