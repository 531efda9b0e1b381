// rolecall approve, pause and resume: pass an operator’s decision to the daemon through the store that both share.
import { count, peopleLose } from '../core/amounts.ts';
import { UsageError } from '../core/errors.ts';
import type { AccountRecord, JournalReader } from '../core/ports/journal-reader.ts';
import type { Plan } from '../core/plan.ts';
import { PLAN_DIGEST, isPauseReason, REASON_TOO_LONG } from '../core/operator.ts';
import { holdersIn } from '../core/unknown-holders.ts';
import { changeCounts } from '../report/plan-sentence.ts';
import { ACCOUNT_HELP, type CommandContext, type CommandLine } from './command-line.ts';
import { printLine, showMessage } from './console.ts';
import { EXIT, type ExitStatus } from './exit-status.ts';
import { withOperatorCommands } from './open-journal.ts';

/** More are in the report of the run. */
const MOST_DELETES = 20;

export function addApprove({ program, run }: CommandLine): void {
  program
    .command('approve')
    .description('allow the daemon to apply the pending plan of an account')
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
  return await withOperatorCommands(context, account, async ({ operator, record, reader, user }) => {
    const outcome = await operator.approve(account, digest ?? null, user, Date.now());
    switch (outcome.type) {
      case 'approved': {
        const until = new Date(outcome.expiresAtMs).toISOString();
        const wait =
          (record?.state.pause ?? null) !== null
            ? `; ${account} is paused: run \`rolecall resume ${account}\` to continue`
            : '';
        const pending = record?.state.pending ?? null;
        const made = pending === null ? null : await reader.run(pending.runId);
        const effect =
          made?.run.mode === 'plan' ? '; in mode plan it accepts the lists and writes nothing' : '';
        printLine(`approved ${outcome.digest} of ${account}, once, until ${until}${effect}${wait}`);
        if (digest === undefined) {
          for (const line of await approvedLines(reader, account, outcome.digest, record)) printLine(line);
        }
        return EXIT.done;
      }
      case 'nothing_pending': {
        const last = record?.lastRun;
        const state = last ? `its last run (${last.id}) ended ${last.status}` : 'it has not run yet';
        showMessage(
          `error: ${account} has no plan that waits for approval: ${state}. Runs of the daemon that a guard blocked, and those in mode approve, make such plans`,
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

/**
 * What was approved without a digest: the plan may have changed since the operator reviewed it, even while the command
 * started.
 */
export async function approvedLines(
  reader: Pick<JournalReader, 'accounts' | 'run'>,
  account: string,
  digest: string,
  before: AccountRecord | undefined,
): Promise<string[]> {
  const isSame = before?.state.pending?.digest === digest;
  const [now] = isSame ? [before] : await reader.accounts(account);
  const pending = now?.state.pending ?? null;
  const run = pending?.digest === digest ? await reader.run(pending.runId) : null;
  const lines = planLines(run?.plan ?? null, pending?.runId ?? 'last');
  if (isSame) return lines;
  const replaced = `this is not the plan that was pending when the command started; review it, and run \`rolecall pause ${account}\` to keep it from being applied`;
  return [...lines, replaced];
}

/** The first line of an approved plan, and each delete with the number of people who lose the entry. */
function planLines(plan: Plan | null, runId: string): string[] {
  const all = `\`rolecall show ${runId}\` shows the plan`;
  if (plan === null) return [all];
  const deletes = plan.operations.filter(({ action }) => action === 'delete');
  const holders = holdersIn(plan);
  const shown = deletes
    .slice(0, MOST_DELETES)
    .map(
      (each) =>
        `  delete ${each.kind} ${JSON.stringify(each.name)}: ${peopleLose(holders(each)?.length ?? null)}`,
    );
  const rest = deletes.length - shown.length;
  return [
    changeCounts(plan),
    ...shown,
    ...(rest > 0 ? [`  … and ${count(rest, 'more delete')}; ${all}`] : []),
  ];
}

export function addPause({ program, run }: CommandLine): void {
  program
    .command('pause')
    .description('stop the scheduled runs of an account')
    .argument('<account>', ACCOUNT_HELP)
    .option('--reason <text>', 'why, for `rolecall status` and the pages')
    .action((account: string, options: { readonly reason?: string }) =>
      run((context) => pause(context, account, options.reason ?? null)),
    );
}

export function addResume({ program, run }: CommandLine): void {
  program
    .command('resume')
    .description('restart the scheduled runs of an account')
    .argument('<account>', ACCOUNT_HELP)
    .action((account: string) => run((context) => resume(context, account)));
}

/** Stops the scheduled runs of an account. A paused account stays paused, with the new reason if one is given. */
async function pause(context: CommandContext, account: string, reason: string | null): Promise<ExitStatus> {
  if (!isPauseReason(reason)) throw new UsageError(REASON_TOO_LONG);
  return await withOperatorCommands(context, account, async ({ operator, record, user }) => {
    const until = `until \`rolecall resume ${account}\``;
    if ((record?.state.pause ?? null) !== null && reason === null) {
      printLine(`${account} is paused already; no scheduled run starts ${until}`);
      return EXIT.done;
    }
    await operator.pause(account, reason, user, Date.now());
    printLine(`paused ${account}: no scheduled run starts ${until}`);
    return EXIT.done;
  });
}

/** Restarts the scheduled runs of an account. Reports when it was not paused. */
async function resume(context: CommandContext, account: string): Promise<ExitStatus> {
  return await withOperatorCommands(context, account, async ({ operator, record, user }) => {
    if ((record?.state.pause ?? null) === null) {
      printLine(`${account} is not paused; nothing was changed`);
      return EXIT.done;
    }
    await operator.resume(account, user, Date.now());
    printLine(`resumed ${account}: it runs on its schedule again`);
    return EXIT.done;
  });
}
