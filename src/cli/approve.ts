// rolecall approve: allows the daemon to apply the pending plan of an account. Passed through the store that both share.
import { UsageError } from '../core/errors.ts';
import { PLAN_DIGEST } from '../core/operator.ts';
import { ACCOUNT_HELP, type CommandContext, type CommandLine } from './command-line.ts';
import { printLine, showMessage } from './console.ts';
import { EXIT, type ExitStatus } from './exit-status.ts';
import { withOperatorCommands } from './operator-commands.ts';

export function addApprove({ program, run }: CommandLine): void {
  program
    .command('approve')
    .description('allow the daemon to apply the pending plan of an account, once, within 24 hours')
    .argument('<account>', ACCOUNT_HELP)
    .argument('[digest]', 'digest of the plan, or the beginning of it; refused if another plan is pending')
    .action((account: string, digest: string | undefined) =>
      run((context) => approve(context, account, digest)),
    );
}

/** Approves the pending plan. With a digest, or the beginning of one, only the plan with that digest. */
async function approve(
  context: CommandContext,
  account: string,
  digest: string | undefined,
): Promise<ExitStatus> {
  if (digest !== undefined && !PLAN_DIGEST.test(digest)) {
    throw new UsageError(
      'DIGEST must be the digest of the plan, or at least its first eight hex digits; `rolecall status` shows it',
    );
  }
  return await withOperatorCommands(context, account, async (operator, record) => {
    const outcome = await operator.approve(account, digest ?? null, context.environment.user(), Date.now());
    switch (outcome.type) {
      case 'approved': {
        const until = new Date(outcome.expiresAtMs).toISOString();
        const wait =
          (record?.state.pause ?? null) !== null
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
