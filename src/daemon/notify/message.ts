// A notice as it waits in the outbox: what other programs get of it, and beside that what people are told.
import type { Kind } from '../../core/catalog.ts';
import type { RunMode, RunStatus } from '../../core/journal.ts';
import type { DueNotice, NoticeType } from '../../core/notice.ts';
import { awaitedDigest, undoneOperations, waitingChanges } from '../../core/notice.ts';
import type { PlanSummary } from '../../core/plan.ts';
import { LIST_GUARDS } from '../../core/shrink.ts';
import type { RunDetail } from '../../core/journal-reader.ts';
import { nextSteps } from '../../report/run-words.ts';

/** The JSON form (contract, section 7). Fields are only ever added. */
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

export interface NamedChange {
  readonly action: 'create' | 'delete';
  readonly kind: Kind;
  readonly name: string;
  readonly rules?: readonly string[];
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

/** What the daemon knows of a run beside its journal. */
export interface RunContext {
  readonly pendingDigest: string | null;
  /** The account's mode as configured. */
  readonly mode: RunMode;
}

const MOST_CHANGES = 5;
const LONGEST_NAME = 120;
const LONGEST_ERROR = 2000;

/** The message of a notice about a run that has ended. */
export function composeMessage(due: DueNotice, detail: RunDetail, context: RunContext): NoticeMessage {
  const { run, plan } = detail;
  const digest = due.type === 'recovered' ? null : awaitedDigest(detail, context.pendingDigest);
  const error = due.type === 'failed' ? errorOf(detail) : null;
  const changes = changesOf(due.type, detail);
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
      changes: changes.slice(0, MOST_CHANGES),
      more: Math.max(0, changes.length - MOST_CHANGES),
      next: nextStep(due.type, detail, digest, context.mode),
    },
  };
}

/** What a guard says when it blocks stands in the plan's warnings. */
function errorOf({ run, plan, warnings }: RunDetail): { code: string; message: string } | null {
  const guard =
    run.status === 'blocked'
      ? [...(plan?.warnings ?? []), ...warnings].find(({ code }) => LIST_GUARDS.has(code))
      : undefined;
  const code = run.errorCode ?? guard?.code;
  const message = run.error ?? guard?.message;
  return code === undefined ? null : { code, message: clip(message ?? code, LONGEST_ERROR) };
}

function changesOf(type: NoticeType, detail: RunDetail): NamedChange[] {
  const { operations, plan } = detail;
  switch (type) {
    case 'drift':
      return named(plan?.operations ?? []);
    case 'applied':
      return named(operations.filter(({ status, attempts }) => status === 'done' && attempts > 0));
    case 'held':
      return named(waitingChanges(detail));
    case 'failed':
      return detail.run.status === 'partial' ? named(undoneOperations(operations)) : [];
    case 'recovered':
      return [];
    default:
      return type satisfies never;
  }
}

/** Deletes first: of all that a notice can be about they matter most. */
function named(changes: readonly NamedChange[]): NamedChange[] {
  const picked = changes.map(({ action, kind, name, rules }) => ({
    action,
    kind,
    name: clip(name, LONGEST_NAME),
    ...(rules === undefined ? {} : { rules }),
  }));
  return [
    ...picked.filter(({ action }) => action === 'delete'),
    ...picked.filter(({ action }) => action === 'create'),
  ];
}

function nextStep(
  type: NoticeType,
  detail: RunDetail,
  digest: string | null,
  mode: RunMode,
): NoticeMessage['about']['next'] {
  const { account, id, status } = detail.run;
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
      return nextSteps(detail, 'brief')[0] ?? null;
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
