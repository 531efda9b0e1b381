// What the status of a run means, and which commands to run next.
import type { OperationRecord, OperationStatus, RunRecord } from '../core/journal.ts';
import type { RunDetail } from '../core/ports/journal-reader.ts';
import { LIST_GUARDS } from '../core/list-plausibility.ts';
import { code, type Line, type ReportDocument, type Tone } from './document.ts';
import { count, shortCommit } from './formatting.ts';

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
export function runSentence({ run, operations }: RunDetail): string {
  switch (run.status) {
    case 'running':
      return `Running: ${progress(operations, 'nothing has been written yet')}.`;
    case 'planned':
      return run.mode === 'approve'
        ? 'Planned: nothing was written; the plan needs approval.'
        : 'Planned: nothing was written.';
    case 'converged':
      return 'Converged: nothing left to do.';
    case 'held':
      return `${count(run.held, 'change')} ${run.held === 1 ? 'is' : 'are'} held; nothing else remains.`;
    case 'partial':
      return `Partial: ${partialText(run, operations)}.`;
    case 'blocked':
      return `Blocked: a guard stopped the run, and ${progress(operations)}.`;
    case 'failed':
      return `Failed: ${progress(operations)}.`;
    case 'interrupted':
      return `Interrupted: ${progress(operations)}.`;
    default:
      return unknownStatus(run.status, operations);
  }
}

/** A newer version of rolecall may have written a status that this one lacks. */
function unknownStatus(status: never, operations: readonly OperationRecord[]): string {
  return `${String(status)} (unknown to this version of rolecall): ${progress(operations)}.`;
}

function progress(operations: readonly OperationRecord[], none = 'nothing was written'): string {
  const planned = withStatus(operations, 'pending', 'sent', 'done', 'failed', 'unknown', 'skipped');
  if (planned.length === 0) return none;
  const done = withStatus(planned, 'done').length;
  const parts = [`${done} of ${count(planned.length, 'operation')} ${done === 1 ? 'is' : 'are'} done`];
  const unknown = withStatus(planned, 'unknown', 'sent').length;
  if (unknown > 0) parts.push(`the outcome of ${unknown} is unknown`);
  return parts.join('; ');
}

function partialText(run: RunRecord, operations: readonly OperationRecord[]): string {
  const total = operations.filter(({ status }) => status !== 'held').length;
  const of = total === 0 ? '' : ` of ${total}`;
  const one = total === 0 ? run.failed === 1 : total === 1;
  // run.failed includes the operations of unknown outcome; here they are counted separately.
  const failed = total === 0 ? run.failed : withStatus(operations, 'failed').length;
  const noun = one ? 'operation' : 'operations';
  const unknown = withStatus(operations, 'unknown', 'sent').length;
  const skipped = withStatus(operations, 'skipped', 'pending').length;
  const parts: string[] = [];
  if (failed > 0) parts.push(`${failed}${of} ${noun} failed`);
  if (unknown > 0)
    parts.push(`the outcome of ${unknown}${parts.length === 0 ? `${of} ${noun}` : ''} is unknown`);
  if (skipped > 0)
    parts.push(
      `${skipped}${parts.length === 0 ? `${of} ${noun}` : ''} ${skipped === 1 ? 'was' : 'were'} not tried`,
    );
  return parts.length === 0 ? 'the account does not match the file yet' : parts.join(', ');
}

type Steps = NonNullable<ReportDocument['next']>;

/** The commands to run next, the most useful one first. */
export function nextSteps(
  { run, plan, warnings }: Pick<RunDetail, 'run' | 'plan' | 'warnings'>,
  detail: 'full' | 'brief',
): Steps {
  const { account } = run;
  // The full report is what `show` prints, so `show` is not suggested there.
  const details =
    detail === 'full' ? [] : [{ command: `rolecall show ${run.id}`, purpose: 'shows this run in detail' }];
  const again = { command: `rolecall apply ${account}`, purpose: 'plans again and continues' };
  switch (run.status) {
    case 'running':
      return [{ command: `rolecall show ${run.id}`, purpose: 'shows its progress' }];
    case 'planned':
      if (plan?.operations.length === 0) return [];
      return run.mode === 'approve' && run.planDigest !== null
        ? [
            {
              command: `rolecall approve ${account} ${run.planDigest}`,
              purpose: 'allows the daemon to apply it while it is the pending plan',
            },
          ]
        : [{ command: again.command, purpose: 'plans again, asks for confirmation and applies' }];
    case 'converged':
      return [];
    case 'held':
      return [{ command: `rolecall plan ${account}`, purpose: 'shows what is still held' }];
    case 'partial':
    case 'interrupted':
      return [fixStep(account, run.errorCode, 'apply') ?? again, ...details];
    case 'blocked':
      return blockedSteps(
        account,
        [...warnings, ...(plan?.warnings ?? [])].some(({ code }) => LIST_GUARDS.has(code)) ||
          LIST_GUARDS.has(run.errorCode ?? ''),
      );
    case 'failed':
      return [failureStep(account, run.errorCode, 'apply'), ...details];
    default:
      return (run.status satisfies never, []);
  }
}

function blockedSteps(account: string, isAboutLists: boolean): Steps {
  const plan = { command: `rolecall plan ${account}`, purpose: 'reads the lists again and writes nothing' };
  if (!isAboutLists) return [plan];
  return [plan, acceptListsStep(account)];
}

/** The command that accepts lists which look incomplete. */
export function acceptListsStep(account: string): Steps[number] {
  return {
    command: `rolecall apply ${account} --accept-shrink`,
    purpose: 'accepts the lists, if they are correct',
  };
}

/** The command to run after a failure. `again` is the command that failed. */
export function failureStep(
  account: string,
  errorCode: string | null,
  again: 'plan' | 'apply' | 'usage',
): Steps[number] {
  return fixStep(account, errorCode, again) ?? doctorStep(account);
}

/** The command that helps with an error which a second run does not fix, or null when there is none. */
function fixStep(
  account: string,
  errorCode: string | null,
  again: 'plan' | 'apply' | 'usage',
): Steps[number] | null {
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
      return doctorStep(account);
    case null:
    default:
      return null;
  }
}

function doctorStep(account: string): Steps[number] {
  return { command: `rolecall doctor ${account}`, purpose: 'checks address, token, account id and lists' };
}

/** The commit of a run with its subject and time, or null when its configuration was not in git. */
export function commitLine(run: RunRecord): Line | null {
  if (run.configCommit === null) return null;
  const changed = run.configDirty === true ? ' with local changes' : '';
  const authored: Line = run.configAuthoredAt === null ? [] : [', ', { time: run.configAuthoredAt }];
  const subject = run.configSubject === null || run.configSubject === '' ? '' : ` “${run.configSubject}”`;
  return [code(shortCommit(run.configCommit)), changed, subject, ...authored];
}
