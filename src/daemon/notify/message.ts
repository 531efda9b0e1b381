// A notice as it waits in the outbox: what other programs get of it, and beside that what people are told.
import type { RunMode, RunStatus } from '../../core/journal.ts';
import type { DueNotice, NoticeType } from '../../core/notice.ts';
import type { PlanSummary } from '../../core/plan.ts';
import type { NamedChange, RunOutcome } from '../../core/run-outcome.ts';
import { nextSteps } from '../../report/run-status.ts';

/** The JSON form. Fields are only ever added. */
export interface JsonNotice {
  readonly type: NoticeType;
  /** When the run ended, UTC ISO 8601. */
  readonly timestamp: string;
  readonly data: {
    readonly account: string;
    readonly runId: string;
    readonly status: RunStatus;
    /** null when the run never came to plan. */
    readonly summary: PlanSummary | null;
    /** Of the plan that waits for approval. */
    readonly digest?: string;
    readonly created: number;
    readonly deleted: number;
    readonly failed: number;
    readonly error?: { readonly code: string; readonly message: string };
    /** The state is not new; it lasts. */
    readonly reminder?: true;
  };
}

/** What stands in the outbox. Names of entries are in it, people never. */
export interface NoticeMessage extends JsonNotice {
  readonly about: {
    /** A few of the changes that the notice is about, and how many more there are. */
    readonly changes: readonly NamedChange[];
    readonly more: number;
    readonly next: { readonly command: string; readonly purpose: string } | null;
  };
}

const LONGEST_NAME = 120;
const LONGEST_ERROR = 2000;

/** The message of a notice about a run that has ended; `mode` is that of the account as configured. */
export function composeMessage(due: DueNotice, outcome: RunOutcome, mode: RunMode): NoticeMessage {
  const { run, plan } = outcome;
  const digest = due.type === 'recovered' ? null : outcome.awaited;
  const error = due.type === 'failed' ? errorOf(outcome) : null;
  const { first, total } = outcome.changes[due.type];
  return {
    type: due.type,
    timestamp: run.finishedAt ?? run.startedAt,
    data: {
      account: run.account,
      runId: run.id,
      status: run.status,
      summary: plan?.summary ?? null,
      ...(digest === null ? {} : { digest }),
      created: run.created,
      deleted: run.deleted,
      failed: run.failed,
      ...(error === null ? {} : { error }),
      ...(due.reminder ? { reminder: true } : {}),
    },
    about: {
      changes: first.map((change) => ({ ...change, name: clip(change.name, LONGEST_NAME) })),
      more: total - first.length,
      next: nextStep(due.type, outcome, digest, mode),
    },
  };
}

/** What a guard says when it blocks stands in the plan's warnings. */
function errorOf({ run, guard }: RunOutcome): { code: string; message: string } | null {
  const blocking = run.status === 'blocked' ? guard : null;
  const code = run.errorCode ?? blocking?.code;
  const message = run.error ?? blocking?.message;
  return code === undefined ? null : { code, message: clip(message ?? code, LONGEST_ERROR) };
}

function nextStep(
  type: NoticeType,
  { run, guard }: RunOutcome,
  digest: string | null,
  mode: RunMode,
): NoticeMessage['about']['next'] {
  const { account, id, status } = run;
  if (digest !== null && (type === 'drift' || type === 'failed')) {
    const purpose =
      status === 'blocked' ? 'when what is missing is really gone' : 'lets it be carried out, once';
    return { command: `rolecall approve ${account} ${digest}`, purpose };
  }
  switch (type) {
    case 'drift':
      return mode === 'approve'
        ? { command: `rolecall plan ${account}`, purpose: 'shows it' }
        : { command: `rolecall apply ${account}`, purpose: 'shows it, asks, and carries it out' };
    case 'applied':
      return { command: `rolecall show ${id}`, purpose: 'shows what was done' };
    case 'held':
      return {
        command: `rolecall plan ${account}`,
        purpose: 'says who is affected and what would release it',
      };
    case 'failed':
      return nextSteps({ run, plan: null, warnings: guard === null ? [] : [guard] }, 'brief')[0] ?? null;
    case 'recovered':
      return null;
    default:
      return type satisfies never;
  }
}

/** The text, or its beginning when it is longer than so many characters. */
export function clip(text: string, longest: number): string {
  const characters = Array.from(text);
  return characters.length <= longest ? text : `${characters.slice(0, longest - 1).join('')}…`;
}
