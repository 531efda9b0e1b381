// The two pages that show the plan or the operations of a run: that of an account, and that of a run, which is the report
// that `rolecall show` prints, with links, and its progress while it works.
import type { JournalReader, RunDetail, RunProgress } from '../../../core/journal-reader.ts';
import type { RunRecord } from '../../../core/journal.ts';
import type { OperatorActionRecord } from '../../../core/operator.ts';
import { remainingPlan } from '../../../core/run-outcome.ts';
import { Facts, Headline, Instant, Summary } from '../../../report/html.tsx';
import { runDocument } from '../../../report/run-report.ts';
import type { AccountView } from '../../daemon-api.ts';
import type { ActionMessage } from '../actions.ts';
import type { Visitor } from '../context.ts';
import { AccountPage, type Changes } from './account-page.tsx';
import { pageText, Layout } from './layout.tsx';
import { AccountLink } from './page-parts.tsx';
import { type SectionPlace, PagedSections } from './paged-sections.tsx';
import { LiveProgress, RELOAD_AFTER_S } from './progress-bar.tsx';
import { StatusBadge } from './run-table.tsx';

/** What every page needs that is rendered from the store. */
export interface AnyView {
  /** The part of the changes that the page shows; null: each section from its first row. */
  readonly place: SectionPlace | null;
  readonly nowMs: number;
  readonly visitor: Visitor | undefined;
  /** Whether the process that answers is stopping. */
  readonly isStopping: boolean;
}

export type RunView =
  | (AnyView & { readonly type: 'run'; readonly id: string })
  | (AnyView & {
      readonly type: 'account';
      readonly account: AccountView;
      /** The latest ones, newest first. */
      readonly runs: readonly RunRecord[];
      readonly actions: readonly OperatorActionRecord[];
      /** The result of the button that led to the page. */
      readonly message: ActionMessage | null;
    });

export type RunViewReader = Pick<JournalReader, 'run' | 'runReport' | 'runProgress'>;
type AccountRunView = Extract<RunView, { type: 'account' }>;

/** The run that the page shows; null when it shows none. */
function runShownBy(view: RunView): string | null {
  if (view.type === 'run') return view.id;
  const { pending, lastRun } = view.account;
  if (pending !== null) {
    // The latest run with this plan has the newest reasons of what is held.
    const latest = view.runs.find(
      ({ planDigest, status }) => planDigest === pending.digest && status !== 'running',
    );
    return latest?.id ?? pending.runId;
  }
  // A run that works changes what an earlier one found; one that failed before it planned shows nothing.
  if (lastRun?.status === 'running') return null;
  const planned = view.runs.find(({ planDigest }) => planDigest !== null);
  return lastRun === null || lastRun.planDigest !== null ? (lastRun?.id ?? null) : (planned?.id ?? null);
}

/** The text of the page; null when there is no such run. */
export async function renderRunView(view: RunView, reader: RunViewReader): Promise<string | null> {
  const id = runShownBy(view);
  return view.type === 'account'
    ? await accountPage(view, id === null ? null : await reader.run(id), reader)
    : await runPage(view, await reader.runReport(view.id), reader);
}

async function runPage(
  { type: _type, id: _id, ...view }: Extract<RunView, { type: 'run' }>,
  detail: RunDetail | null,
  reader: RunViewReader,
): Promise<string | null> {
  if (detail === null) return null;
  const { id, status } = detail.run;
  const progress = status === 'running' ? await reader.runProgress(id) : null;
  return await pageText(<RunPage report={detail} progress={progress} {...view} />);
}

async function accountPage(
  view: AccountRunView,
  detail: RunDetail | null,
  reader: RunViewReader,
): Promise<string> {
  const { lastRun } = view.account;
  const isRunning = lastRun?.status === 'running';
  const progress = isRunning ? await reader.runProgress(lastRun.id) : null;
  const changes: Changes | null =
    detail === null ? null : { run: detail.run, plan: detail.plan, remaining: remainingPlan(detail) };
  const { type: _type, ...props } = view;
  return await pageText(<AccountPage {...props} changes={changes} progress={progress} />);
}

interface RunPageProps {
  readonly report: RunDetail;
  /** null when the run has ended. */
  readonly progress: RunProgress | null;
  readonly place: SectionPlace | null;
  readonly nowMs: number;
  readonly visitor: Visitor | undefined;
  readonly isStopping: boolean;
}

export function RunPage({ report, progress, place, nowMs, visitor, isStopping }: RunPageProps) {
  const { id, account, status, errorCode } = report.run;
  const { headline, lines = [], summary, facts, sections } = runDocument(report);
  return (
    <Layout
      title={`Run of ${account}`}
      visitor={visitor}
      isStopping={isStopping}
      {...(progress === null ? {} : { reloadAfterS: RELOAD_AFTER_S })}
    >
      <h1>
        Run of <AccountLink name={account} />
      </h1>
      <p>
        <StatusBadge status={status} /> {errorCode === null ? null : <code>{errorCode}</code>}
      </p>
      {progress === null ? (
        <>
          <Headline headline={headline} lines={lines} />
          {summary === undefined ? null : <Summary line={summary} />}
        </>
      ) : (
        <LiveProgress runId={id} progress={progress} nowMs={nowMs} />
      )}
      <Facts facts={facts} />
      {progress === null || sections.length === 0 ? null : (
        <p class="quiet">
          The lists below are from <Instant at={new Date(nowMs).toISOString()} />.
        </p>
      )}
      <PagedSections sections={sections} at={`/runs/${id}`} place={place} />
      <p class="quiet foot">
        <a href={`/api/v1/runs/${id}`}>This run as JSON</a>
      </p>
    </Layout>
  );
}
