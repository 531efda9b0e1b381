// Renders the two pages that show the plan or the operations of a run.
import { remainingPlan } from '../../../core/run-outcome.ts';
import type { JournalReader, RunDetail } from '../../../core/journal-reader.ts';
import type { RunView } from '../run-view.ts';
import { AccountPage, type Changes } from './account-page.tsx';
import { pageText } from './layout.tsx';
import { RunPage } from './run-page.tsx';

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
