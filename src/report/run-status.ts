// What the status of a run means, what became of its changes, and which commands to run next.
import type { OperationStatus } from '../core/journal.ts';
import type { OperationRecord, RunRecord } from '../core/schemas.ts';
import { SUSPICIOUS_LIST } from '../core/list-plausibility.ts';
import { PAUSED } from '../core/operator.ts';
import { type FailedPlan, type Plan, UNKNOWN_ACCOUNT } from '../core/plan.ts';
import type { RunDetail, RunTally } from '../core/ports/journal-reader.ts';
import type { Links } from '../core/settings.ts';
import { code, type Line, type ReportDocument, type Tone } from './document.ts';
import { commitCode, count, messageLines } from './formatting.ts';

const TONES: Readonly<Record<RunRecord['status'], Tone>> = {
  running: 'warn',
  planned: 'quiet',
  converged: 'good',
  held: 'warn',
  partial: 'bad',
  blocked: 'bad',
  failed: 'bad',
  interrupted: 'bad',
};

/** The tone in which reports show a status. */
export function statusTone(status: RunRecord['status']): Tone {
  // A newer version may have written a status that this one lacks.
  return Object.hasOwn(TONES, status) ? TONES[status] : 'warn';
}

/** The operations that have one of these statuses. */
export function withStatus(
  operations: readonly OperationRecord[],
  ...statuses: readonly OperationStatus[]
): OperationRecord[] {
  return operations.filter((operation) => statuses.includes(operation.status));
}

/** The result of the run, in one sentence. */
export function runSentence({ run: { status, mode, held }, operations }: RunDetail): string {
  switch (status) {
    case 'planned':
      if (operations.length > 0)
        return `Planned: ${progress(operations)}; its deletes ${mode === 'apply' ? 'were left out' : 'need approval'}.`;
      return `Planned: nothing was written${needsApproval(mode) ? '; the plan needs approval' : ''}.`;
    case 'converged':
      return 'Converged: nothing left to do.';
    case 'held':
      return `${count(held, 'change is', 'changes are')} held; nothing else remains.`;
    case 'running':
      return `Running: ${progress(operations, 'nothing has been written yet')}.`;
    case 'partial':
      return `Partial: ${progress(operations, 'the account does not match the file yet')}.`;
    case 'blocked':
      return `Blocked: a guard stopped the run; ${progress(operations)}.`;
    case 'failed':
    case 'interrupted':
    default:
      // A newer version may have written a status that this one lacks.
      return `${status.charAt(0).toUpperCase()}${status.slice(1)}: ${progress(operations)}.`;
  }
}

/** Whether what the runs of this mode leave waits for an approval. */
export function needsApproval(mode: RunRecord['mode']): boolean {
  return mode === 'approve' || mode === 'approve-deletes';
}

function progress(operations: readonly OperationRecord[], none = 'nothing was written'): string {
  const planned = operations.filter(({ status }) => status !== 'held');
  if (planned.length === 0) return none;
  const amount = (...statuses: OperationStatus[]) => withStatus(planned, ...statuses).length;
  const [failed, unknown] = [amount('failed'), amount('unknown', 'sent')];
  return [
    `${amount('done')} of ${count(planned.length, 'operation')} done`,
    ...(failed === 0 ? [] : [`${failed} failed`]),
    ...(unknown === 0 ? [] : [`the outcome of ${unknown} is unknown`]),
  ].join('; ');
}

/** The operations that were held during the run. The journal also has a row for each change that the plan itself holds. */
export function heldDuringRun(
  operations: readonly OperationRecord[],
  plan: Pick<Plan, 'held'> | null,
): OperationRecord[] {
  const planned = new Set(plan?.held.map(changeKey));
  return withStatus(operations, 'held').filter((operation) => !planned.has(changeKey(operation)));
}

function changeKey(change: Pick<OperationRecord, 'action' | 'kind' | 'name' | 'remoteId'>): string {
  return JSON.stringify([change.action, change.kind, change.remoteId ?? change.name]);
}

/** The counts of the changes that a run tried without success, or did not try. */
export function countUndone(run: Pick<RunRecord, 'status' | 'failed'>, { statuses, planned }: RunTally) {
  const isRunning = run.status === 'running';
  const { sent = 0, unknown = 0, failed = 0, skipped = 0, pending = 0 } = statuses;
  // A run that ends before its first request has no rows of operations.
  const hasRows = Object.keys(statuses).length > 0;
  return {
    // The record counts operations whose outcome is unknown as failed; here they are counted separately.
    failed: hasRows ? failed : run.failed,
    inDoubt: isRunning ? unknown : unknown + sent,
    /** Only of a run that still lasts. */
    inProgress: isRunning ? sent : 0,
    notTried: hasRows || planned === null ? skipped + pending : planned.create + planned.delete,
  };
}

/**
 * `3 created, 2 deleted, 1 held, 0 failed, 412 unchanged`, with every further count that is not zero. Each change is in
 * exactly one count. Of a run whose plan or operations are no longer stored, the totals of its record.
 */
export function runCounts({ run, plan, operations }: RunDetail): string {
  const statuses: Partial<Record<OperationStatus, number>> = {};
  for (const { status } of operations) statuses[status] = (statuses[status] ?? 0) + 1;
  const undone = countUndone(run, { statuses, planned: plan?.summary ?? null });
  // Entries that existed already, or were gone already, when it was their turn.
  const foundDone = Math.max(0, (statuses.done ?? 0) - run.created - run.deleted);
  const held = plan === null ? run.held : plan.summary.hold + heldDuringRun(operations, plan).length;
  const unless0 = (amount: number, label: string): string[] => (amount === 0 ? [] : [`${amount} ${label}`]);
  return [
    `${run.created} created`,
    `${run.deleted} deleted`,
    ...unless0(foundDone, 'already done'),
    `${held} held`,
    `${undone.failed} failed`,
    ...unless0(undone.inDoubt, 'unknown'),
    ...unless0(undone.inProgress, 'in progress'),
    ...unless0(undone.notTried, run.status === 'running' ? 'remaining' : 'not tried'),
    `${run.kept} unchanged`,
  ].join(', ');
}

type Step = NonNullable<ReportDocument['next']>[number];

/** The commands to run next, the most useful one first. The full report is what `show` prints, so it does not suggest that. */
export function nextSteps(
  { run, plan }: Pick<RunDetail, 'run' | 'plan'>,
  detail: 'full' | 'brief',
): readonly Step[] {
  const { account, errorCode, planDigest } = run;
  const show = { command: `rolecall show ${run.id}`, purpose: 'shows this run in detail' };
  const details = detail === 'full' ? [] : [show];
  const again = { command: `rolecall apply ${account}`, purpose: 'plans again and continues' };
  const replan = { command: `rolecall plan ${account}`, purpose: 'reads the lists again and writes nothing' };
  if (errorCode === PAUSED)
    return [{ command: 'rolecall resume --all', purpose: 'ends the pause of all accounts' }, ...details];
  switch (run.status) {
    case 'running':
      return [{ ...show, purpose: 'shows its progress' }];
    case 'planned':
      if (plan?.operations.length === 0) return [];
      return needsApproval(run.mode) && planDigest !== null
        ? [
            {
              command: `rolecall approve ${account} ${planDigest}`,
              purpose: 'allows the daemon to apply it while it is the pending plan',
            },
          ]
        : [{ ...again, purpose: 'plans again, asks for confirmation and applies' }];
    case 'converged':
      return [];
    case 'held':
      return [{ ...replan, purpose: 'shows what is still held' }];
    case 'blocked':
      return errorCode === SUSPICIOUS_LIST ? [replan, acceptListsStep(account)] : [replan];
    case 'failed':
      return [failureStep(account, errorCode, 'apply'), ...details];
    case 'partial':
    case 'interrupted':
    default:
      return [fixStep(account, errorCode, 'apply') ?? again, ...details];
  }
}

/** The command that accepts lists which look incomplete. */
export function acceptListsStep(account: string): Step {
  return {
    command: `rolecall apply ${account} --accept suspicious_list`,
    purpose: 'accepts the lists, if the token is that of this account and the lists are correct',
  };
}

type Command = 'plan' | 'apply' | 'who';

/** The report of an account that could not be planned, or be read for `who`. */
export function failedDocument({ account, error }: FailedPlan, command: 'plan' | 'who'): ReportDocument {
  const isNew = error.code === UNKNOWN_ACCOUNT;
  const failed = `could not be ${command === 'plan' ? 'planned' : 'read'} (${error.code})`;
  return {
    title: [code(account)],
    status: isNew ? { label: 'new, not planned', tone: 'warn' } : { label: failed, tone: 'bad' },
    lines: messageLines(error.message),
    next: isNew ? [] : [failureStep(account, error.code, command)],
  };
}

/** The command to run after a failure. `again` is the command that failed. */
function failureStep(account: string, errorCode: string | null, again: Command): Step {
  return fixStep(account, errorCode, again) ?? onlineStep(account);
}

/** The command that helps with an error which a second run does not fix, or null when there is none. */
function fixStep(account: string, errorCode: string | null, again: Command): Step | null {
  switch (errorCode) {
    case 'config_invalid':
      return { command: 'rolecall validate', purpose: 'lists all problems of the configuration' };
    case 'secret_missing':
      return {
        command: 'rolecall validate --require-secrets',
        purpose: 'lists all secrets that are missing or unreadable',
      };
    case 'plan_stale':
      return { command: `rolecall plan ${account}`, purpose: 'shows the current plan' };
    case 'interrupted':
      return { command: `rolecall ${again} ${account}`, purpose: 'starts again' };
    case 'throttled':
      return { command: `rolecall ${again} ${account}`, purpose: 'after the time given above' };
    case 'unauthorized':
      return onlineStep(account);
    case null:
    default:
      return null;
  }
}

function onlineStep(account: string): Step {
  return {
    command: `rolecall validate --online ${account}`,
    purpose: 'checks address, token, account id and lists',
  };
}

/** The commit of a run with its subject and time, or null when its configuration was not in git. */
export function commitLine(run: RunRecord, links?: Links): Line | null {
  if (run.configCommit === null) return null;
  const changed = run.configDirty === true ? ' with local changes' : '';
  const authored: Line = run.configAuthoredAt === null ? [] : [', ', { time: run.configAuthoredAt }];
  const subject = run.configSubject === null || run.configSubject === '' ? '' : ` “${run.configSubject}”`;
  const author = run.configAuthor === null ? '' : ` by ${run.configAuthor}`;
  return [commitCode(run.configCommit, links), changed, subject, author, ...authored];
}
