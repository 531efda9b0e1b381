// rolecall approve: lets the daemon apply the plans that wait, one by its digest, or those of many accounts after one question.
import { InvalidArgumentError } from 'commander';
import { approvalOf, waitingPlan } from '../core/account-states.ts';
import { count, firstFew } from '../core/amounts.ts';
import { UsageError } from '../core/errors.ts';
import { PLAN_DIGEST } from '../core/operator.ts';
import { onlyOf, type Plan } from '../core/plan.ts';
import type { AccountRecord, RunDetail } from '../core/ports/journal-reader.ts';
import { NAMED_ACCOUNTS } from '../report/fold.ts';
import { shortCommit } from '../report/formatting.ts';
import { changeCounts } from '../report/plan-sentence.ts';
import { type CommandLine, SOME_ACCOUNTS_HELP } from './command-line.ts';
import type { CommandContext } from './compose.ts';
import { openOutput, printLine, showMessage, showWarnings, canAsk, confirm } from './console.ts';
import { combine, EXIT, type ExitStatus } from './exit-status.ts';
import { type KnownAccount, selectAccounts } from './load-accounts.ts';
import { type OperatorJournal, withOperatorCommands } from './operator-commands.ts';

interface ApproveFlags {
  /** The beginning of a commit id. */
  readonly commit?: string;
  readonly yes?: true;
}

export function addApprove({ program, run }: CommandLine): void {
  program
    .command('approve')
    .description('let the daemon apply the pending plans of accounts')
    .argument(
      '[account...]',
      `${SOME_ACCOUNTS_HELP}; or one name and the digest of its plan, or its beginning`,
    )
    .option('--commit <sha>', 'only the plans of this commit', commitPrefix)
    .option('-y, --yes', 'do not ask for confirmation')
    .action(run(approve));
}

function commitPrefix(text: string): string {
  if (!/^[0-9a-f]{7,64}$/iu.test(text))
    throw new InvalidArgumentError('Use a commit id, or at least its first seven digits.');
  return text.toLowerCase();
}

async function approve(
  context: CommandContext,
  args: readonly string[],
  flags: ApproveFlags,
): Promise<ExitStatus> {
  if (args.length === 0 && flags.commit === undefined)
    throw new UsageError("approve needs names, globs such as 'eu-*', or --commit");
  return await withOperatorCommands(context, async (journal, known) => {
    const last = args.length > 1 ? args.at(-1) : undefined;
    const isDigest = last !== undefined && PLAN_DIGEST.test(last) && known.every(({ name }) => name !== last);
    const accounts = selectAccounts(known, isDigest ? args.slice(0, -1) : args);
    const [first, ...others] = accounts;
    if (isDigest && (others.length > 0 || flags.commit !== undefined))
      throw new UsageError('a digest names one plan; use it with the name of one account, and no --commit');
    const isNamed = args.length === 1 && first?.name === args[0] && flags.commit === undefined;
    // Who names no digest sees the plan first.
    const asks = flags.yes !== true && (first?.record?.state.pending ?? null) !== null;
    if (first === undefined || !(isDigest || (isNamed && !asks)))
      return await approveMany(accounts, flags, journal);
    return await approvePending(first.name, isDigest ? last : undefined, {
      ...journal,
      record: first.record,
    });
  });
}

/**
 * Approves the pending plan: the one with this digest, or with the beginning of one. Without it, the plan that was pending
 * when the record was read; one that replaced it meanwhile is not approved.
 */
export async function approvePending(
  account: string,
  digest: string | undefined,
  { operator, record, reader, user }: OperatorJournal & { readonly record: AccountRecord | undefined },
): Promise<ExitStatus> {
  const pending = record?.state.pending ?? null;
  const wanted = digest ?? pending?.digest;
  const outcome =
    wanted === undefined
      ? ({ type: 'nothing_pending' } as const)
      : await operator.operate({ action: 'approve', account, digest: wanted }, user, Date.now());
  if (outcome.type === 'approved') {
    const until = new Date(outcome.expiresAtMs).toISOString();
    const isPaused = (record?.state.pause ?? null) !== null;
    const wait = isPaused ? `; ${account} is paused: run \`rolecall resume ${account}\` to continue` : '';
    const made = pending === null ? null : await reader.run(pending.runId);
    const effect = made?.run.mode === 'plan' ? '; in mode plan it accepts the lists and writes nothing' : '';
    printLine(`approved ${outcome.digest} of ${account}, once, until ${until}${effect}${wait}`);
    const plan = made === null ? null : approvedPlan(made);
    if (made !== null && plan?.digest === outcome.digest)
      printLine(`${changeCounts(plan)}; \`rolecall show ${made.run.id}\` shows the plan`);
    return EXIT.done;
  }
  if (outcome.type === 'other_plan') {
    const hint = `Review it with \`rolecall show ${pending?.runId ?? 'RUN'}\``;
    showMessage(
      `error: the pending plan is ${outcome.pending}, not ${wanted ?? ''}; nothing was approved. ${hint}`,
    );
    return EXIT.stalePlan;
  }
  const last = record?.lastRun;
  const state = last ? `its last run (${last.id}) ended ${last.status}` : 'it has not run yet';
  showMessage(
    `error: ${account} has no plan that waits for approval: ${state}. Runs of the daemon that a guard blocked, and those in mode approve, make such plans`,
  );
  return EXIT.failed;
}

/** What an approval allows: in mode `approve-deletes`, creates need none. */
function approvedPlan({ run, plan }: RunDetail): Plan | null {
  const isSplit = run.mode === 'approve-deletes' && plan?.status === 'planned';
  return isSplit ? onlyOf('delete', plan) : plan;
}

/** Shows the plans that wait, asks once, and approves exactly those. */
async function approveMany(
  accounts: readonly KnownAccount[],
  { commit, yes }: ApproveFlags,
  journal: OperatorJournal,
): Promise<ExitStatus> {
  const { plans, skipped } = await plansThatWait(accounts, commit, journal);
  showWarnings(skipped);
  const ofCommit = commit === undefined ? '' : ` of commit ${commit}`;
  if (plans.length === 0) {
    showMessage(
      `error: none of ${count(accounts.length, 'account')} has a plan${ofCommit} that waits for approval`,
    );
    return EXIT.failed;
  }
  const { showPlans, undoneText } = await import('./ask-to-apply.ts');
  await showPlans(plans, openOutput({ format: 'text' }), {});
  if (yes !== true) {
    if (!canAsk()) {
      throw new UsageError(
        'there is no terminal to ask on, so nothing was approved; review the plans and use --yes, or the name of one account and the digest of its plan',
      );
    }
    const [made = null, ...others] = new Set(plans.map(({ configCommit }) => configCommit));
    const of = made === null || others.length > 0 ? '' : ` of commit ${shortCommit(made)}`;
    const question = `Approve ${count(plans.length, 'plan')}${of}: ${changeCounts(...plans)}?${undoneText(plans)}`;
    const answer = await confirm(question, new AbortController().signal);
    if (answer !== 'yes') {
      showMessage('Nothing was approved.');
      return answer === 'interrupted' ? EXIT.interrupted : EXIT.changes;
    }
  }
  return await approveShown(plans, accounts, journal);
}

/** The plans that wait and are not approved yet, and what is left out although it waits. */
async function plansThatWait(
  accounts: readonly KnownAccount[],
  commit: string | undefined,
  { reader }: OperatorJournal,
): Promise<{ readonly plans: readonly Plan[]; readonly skipped: readonly string[] }> {
  const plans: Plan[] = [];
  const skipped: string[] = [];
  const otherCommits: string[] = [];
  for (const { name, record } of accounts) {
    const pending = record === undefined ? null : waitingPlan({ ...record.state, lastRun: record.lastRun });
    if (record === undefined || pending === null || approvalOf(record.state, Date.now()) !== null) continue;
    const made = await reader.run(pending.runId);
    const plan = made === null ? null : approvedPlan(made);
    const isOfCommit =
      made?.run.configDirty !== true && made?.run.configCommit?.startsWith(commit ?? '') === true;
    if (commit !== undefined && !isOfCommit) otherCommits.push(name);
    else if (plan?.digest === pending.digest) plans.push({ ...plan, account: name });
    else skipped.push(`${name}: its plan ${pending.digest} is no longer stored; approve it by its digest`);
  }
  if (otherCommits.length > 0) {
    const named = firstFew(otherCommits, NAMED_ACCOUNTS);
    skipped.push(`plans of other commits wait too, and are not approved: ${named}`);
  }
  return { plans, skipped };
}

async function approveShown(
  plans: readonly Plan[],
  accounts: readonly KnownAccount[],
  { operator, user }: OperatorJournal,
): Promise<ExitStatus> {
  const approved: string[] = [];
  const exits: ExitStatus[] = [];
  for (const { account, digest } of plans) {
    const outcome = await operator.operate({ action: 'approve', account, digest }, user, Date.now());
    if (outcome.type === 'approved') approved.push(account);
    else {
      const now = outcome.type === 'other_plan' ? `now ${outcome.pending} waits` : 'it no longer waits';
      showMessage(`error: ${account}: the plan ${digest} was not approved, because ${now}`);
      exits.push(outcome.type === 'other_plan' ? EXIT.stalePlan : EXIT.failed);
    }
  }
  if (approved.length > 0)
    printLine(
      `approved ${count(approved.length, 'plan')}, each once, within 24 hours: ${firstFew(approved, NAMED_ACCOUNTS)}`,
    );
  const paused = accounts.flatMap(({ name, record }) =>
    approved.includes(name) && record?.state.pause ? [name] : [],
  );
  if (paused.length > 0)
    printLine(
      `paused, so nothing is applied before \`rolecall resume\`: ${firstFew(paused, NAMED_ACCOUNTS)}`,
    );
  return combine(exits);
}
