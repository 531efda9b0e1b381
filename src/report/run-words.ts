// What a run's status means in words, and what a person does next (contract, sections 3 and 5).
import type { OperationRecord, OperationStatus, RunRecord } from '../core/journal.ts';
import { LIST_GUARDS } from '../core/list-plausibility.ts';
import { code, type Line, type ReportDocument, type Tone } from './document.ts';
import type { RunReport } from './run-json.ts';
import { count, instant, shortCommit } from './wording.ts';

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

/** How good or bad a status is. */
export function statusTone(status: RunRecord['status']): Tone {
  // A newer version may have written a status that this one does not know.
  return Object.hasOwn(TONES, status) ? TONES[status] : 'warn';
}

/** The operations of these statuses. */
export function withStatus(
  operations: readonly OperationRecord[],
  ...statuses: readonly OperationStatus[]
): OperationRecord[] {
  return operations.filter((operation) => statuses.includes(operation.status));
}

/** What came of the run, in one sentence. */
export function runSentence({ run, operations }: RunReport): string {
  switch (run.status) {
    case 'running':
      return `Running: ${progress(operations, 'nothing was written so far')}.`;
    case 'planned':
      return run.mode === 'approve'
        ? 'Planned: nothing was written; the plan needs approval.'
        : 'Planned: nothing was written.';
    case 'converged':
      return 'Converged: nothing left to do.';
    case 'held':
      return `Held: all is done but for ${count(run.held, 'change')} that ${run.held === 1 ? 'waits' : 'wait'} for a person or for time.`;
    case 'partial':
      return `Partial: ${partialWords(run, operations)}.`;
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

/** Only a newer version of rolecall writes another status. */
function unknownStatus(status: never, operations: readonly OperationRecord[]): string {
  return `${String(status)}, a status that this version of rolecall does not know: ${progress(operations)}.`;
}

function progress(operations: readonly OperationRecord[], none = 'nothing was written'): string {
  const tried = withStatus(operations, 'pending', 'sent', 'done', 'failed', 'unknown', 'skipped');
  if (tried.length === 0) return none;
  const done = withStatus(tried, 'done').length;
  const words = [`${done} of ${count(tried.length, 'operation')} ${done === 1 ? 'is' : 'are'} done`];
  const unknown = withStatus(tried, 'unknown', 'sent').length;
  if (unknown > 0) words.push(`of ${unknown} the outcome is not known`);
  return words.join('; ');
}

function partialWords(run: RunRecord, operations: readonly OperationRecord[]): string {
  const total = operations.filter(({ status }) => status !== 'held').length;
  const of = total === 0 ? '' : ` of ${total}`;
  const one = total === 0 ? run.failed === 1 : total === 1;
  // The run counts those of unknown outcome as failed, too; they are said apart here.
  const failed = total === 0 ? run.failed : withStatus(operations, 'failed').length;
  const noun = one ? 'operation' : 'operations';
  const unknown = withStatus(operations, 'unknown', 'sent').length;
  const skipped = withStatus(operations, 'skipped', 'pending').length;
  const words: string[] = [];
  if (failed > 0) words.push(`${failed}${of} ${noun} failed`);
  if (unknown > 0)
    words.push(`the outcome of ${unknown}${words.length === 0 ? `${of} ${noun}` : ''} is not known`);
  if (skipped > 0)
    words.push(
      `${skipped}${words.length === 0 ? `${of} ${noun}` : ''} ${skipped === 1 ? 'was' : 'were'} not tried`,
    );
  return words.length === 0
    ? 'not all is as the file says at its end; the warnings below say what'
    : words.join(', ');
}

type Steps = NonNullable<ReportDocument['next']>;

/** The commands that lead on from here, the likeliest first. */
export function nextSteps(
  { run, plan, warnings }: Pick<RunReport, 'run' | 'plan' | 'warnings'>,
  detail: 'full' | 'brief',
): Steps {
  const { account } = run;
  // Whoever reads the full report has just run `show`.
  const look =
    detail === 'full' ? [] : [{ command: `rolecall show ${run.id}`, purpose: 'shows this run at any time' }];
  const again = { command: `rolecall apply ${account}`, purpose: 'goes on from what is there now' };
  switch (run.status) {
    case 'running':
      return [{ command: `rolecall show ${run.id}`, purpose: 'shows how far it is' }];
    case 'planned':
      if (plan?.operations.length === 0) return [];
      return run.mode === 'approve' && run.planDigest !== null
        ? [
            {
              command: `rolecall approve ${account} ${run.planDigest}`,
              purpose: 'lets the daemon apply it, if it is still the pending plan',
            },
          ]
        : [{ command: again.command, purpose: 'plans again, asks, and applies' }];
    case 'converged':
      return [];
    case 'held':
      return [{ command: `rolecall plan ${account}`, purpose: 'judges them again' }];
    case 'partial':
    case 'interrupted':
      return [troubleStep(account, run.errorCode, 'apply') ?? again, ...look];
    case 'blocked':
      return blockedSteps(
        account,
        [...warnings, ...(plan?.warnings ?? [])].some(({ code }) => LIST_GUARDS.has(code)) ||
          LIST_GUARDS.has(run.errorCode ?? ''),
      );
    case 'failed':
      return [failureStep(account, run.errorCode, 'apply'), ...look];
    default:
      return (run.status satisfies never, []);
  }
}

function blockedSteps(account: string, isAboutLists: boolean): Steps {
  const plan = { command: `rolecall plan ${account}`, purpose: 'looks again, and writes nothing' };
  if (!isAboutLists) return [plan];
  return [plan, acceptStep(account)];
}

/** What a person does who knows that the lists are right although they look incomplete. */
export function acceptStep(account: string): Steps[number] {
  return { command: `rolecall apply ${account} --accept-shrink`, purpose: 'if the lists are right' };
}

/** What leads on from a run or a plan (`again`) that failed. */
export function failureStep(
  account: string,
  errorCode: string | null,
  again: 'plan' | 'apply',
): Steps[number] {
  return troubleStep(account, errorCode, again) ?? doctorStep(account);
}

/** What leads on from a trouble that running again alone does not mend, or null when the code names none. */
function troubleStep(
  account: string,
  errorCode: string | null,
  again: 'plan' | 'apply',
): Steps[number] | null {
  switch (errorCode ?? '') {
    case 'config_invalid':
      return { command: 'rolecall validate', purpose: 'lists every problem of the configuration' };
    case 'secret_missing':
      return {
        command: 'rolecall validate --require-secrets',
        purpose: 'lists every secret that is missing or cannot be read',
      };
    case 'plan_stale':
      return { command: `rolecall plan ${account}`, purpose: 'shows what would be done now' };
    case 'throttled':
      return { command: `rolecall ${again} ${account}`, purpose: 'when that time has come' };
    case 'unauthorized':
      return doctorStep(account);
    case null:
    default:
      return null;
  }
}

function doctorStep(account: string): Steps[number] {
  return { command: `rolecall doctor ${account}`, purpose: 'tries address, token, account and lists' };
}

/** The commit of a run with what is known of it, or null when its configuration stood in no repository. */
export function commitLine(run: RunRecord): Line | null {
  if (run.configCommit === null) return null;
  const changed = run.configDirty === true ? ', changed locally' : '';
  const authored = run.configAuthoredAt === null ? '' : `, ${instant(run.configAuthoredAt)}`;
  const subject = run.configSubject === null || run.configSubject === '' ? '' : ` “${run.configSubject}”`;
  return [code(shortCommit(run.configCommit)), `${subject}${authored}${changed}`];
}
