// A notification in the outbox: the fields for other programs, and further ones for the formats that people read.
import type { RunMode, RunStatus } from '../../core/journal.ts';
import type { NoticeType } from '../../core/notice.ts';
import type { PlanSummary } from '../../core/plan.ts';
import type { Links } from '../../core/settings.ts';
import type { Loss, NamedChange, RunOutcome } from '../../core/run-outcome.ts';
import { needsApproval, nextSteps } from '../../report/run-status.ts';

/** The JSON form. Fields are only ever added. */
export interface JsonNotice {
  readonly type: NoticeType;
  /** When the run ended, UTC ISO 8601. */
  readonly timestamp: string;
  readonly data: {
    readonly account: string;
    readonly runId: string;
    readonly status: RunStatus;
    /** null when the run did not reach a plan. */
    readonly summary: PlanSummary | null;
    /** Of the plan that waits for approval. */
    readonly digest?: string;
    readonly created: number;
    readonly deleted: number;
    readonly failed: number;
    readonly error?: { readonly code: string; readonly message: string };
    /** Of a failure: the accounts that take no newer commit (`rollout`) until this one converges. */
    readonly followers?: number;
    /** Added when it is sent: the pages of the account and of the run, and the commit. */
    readonly links?: NoticeLinks;
  };
}

export type NoticeLinks = Readonly<Partial<Record<'account' | 'run' | 'commit', string>>>;

/** Of the account, the run and the commit, as far as their addresses are known. */
export function linksIn({ data, about }: NoticeMessage, { publicUrl, commitsAt }: Links): NoticeLinks {
  const account = `${publicUrl}/accounts/${encodeURIComponent(data.account)}`;
  const pages = publicUrl === undefined ? {} : { account, run: `${publicUrl}/runs/${data.runId}` };
  const { commit } = about;
  return commitsAt === undefined || commit === null ? pages : { ...pages, commit: commitsAt + commit.sha };
}

/** The stored form. It contains names of entries, but never data of people. */
export interface NoticeMessage extends JsonNotice {
  readonly about: {
    /** The first of the changes that the notification is about, and how many more there are. */
    readonly changes: readonly NamedChange[];
    readonly more: number;
    readonly next: { readonly command: string; readonly purpose: string } | null;
    /** The states that the run shows besides a failure. */
    readonly remaining?: readonly ('drift' | 'held')[];
    /** How many people lose entries by the changes that were not made, and the names of the first entries. */
    readonly loss: Loss;
    /** The commit of the run; null when the configuration is not in git. */
    readonly commit: { readonly sha: string; readonly subject: string } | null;
  };
}

const MAX_NAME_LENGTH = 120;
const MAX_ERROR_LENGTH = 2000;

/** The notification about a run that has ended; `mode` is that of the account as configured. */
export function composeMessage(
  type: NoticeType,
  outcome: RunOutcome,
  mode: RunMode,
  followers = 0,
): NoticeMessage {
  const { run, plan } = outcome;
  const digest = outcome.awaited;
  const error = type === 'failed' ? errorOf(outcome) : null;
  const { first, total } = outcome.changes[type];
  const sha = committedIn(run);
  return {
    type,
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
      ...(type === 'failed' && followers > 0 ? { followers } : {}),
    },
    about: {
      changes: first.map((change) => ({ ...change, name: clip(change.name, MAX_NAME_LENGTH) })),
      more: total - first.length,
      next: nextStep(type, outcome, digest, mode),
      remaining: (['drift', 'held'] as const).filter((state) => outcome.news.health[state]),
      loss: { ...outcome.loss, names: outcome.loss.names.map((name) => clip(name, MAX_NAME_LENGTH)) },
      commit: sha === null ? null : { sha, subject: clip(run.configSubject ?? '', MAX_NAME_LENGTH) },
    },
  };
}

/** The commit whose files a run had; null if its files differed from it. */
export function committedIn({ configCommit, configDirty }: RunOutcome['run']): string | null {
  return configDirty === true ? null : configCommit;
}

function errorOf({ run: { errorCode, error } }: RunOutcome): { code: string; message: string } | null {
  return errorCode === null ? null : { code: errorCode, message: clip(error ?? errorCode, MAX_ERROR_LENGTH) };
}

function nextStep(
  type: NoticeType,
  { run }: RunOutcome,
  digest: string | null,
  mode: RunMode,
): NoticeMessage['about']['next'] {
  const { account, id, status } = run;
  if (digest !== null && (type === 'drift' || type === 'failed')) {
    const purpose =
      status === 'blocked' ? 'if the missing entries were really deleted' : 'approves this plan, once';
    return { command: `rolecall approve ${account} ${digest}`, purpose };
  }
  const steps = {
    drift: needsApproval(mode)
      ? { command: `rolecall plan ${account}`, purpose: 'shows the plan' }
      : { command: `rolecall apply ${account}`, purpose: 'shows the plan, asks, and applies it' },
    applied: { command: `rolecall show ${id}`, purpose: 'shows the changes' },
    held: {
      // A command does not hold what is not committed.
      command: run.configDirty === true ? `rolecall show ${id}` : `rolecall plan ${account}`,
      purpose: 'shows who is affected and what would release each change',
    },
    failed: nextSteps({ run, plan: null }, 'brief')[0] ?? null,
    recovered: null,
  };
  return steps[type];
}

/** The text, shortened to so many characters. */
export function clip(text: string, maxLength: number): string {
  const characters = Array.from(text);
  return characters.length <= maxLength ? text : `${characters.slice(0, maxLength - 1).join('')}…`;
}
