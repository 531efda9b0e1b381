// The paths of the pages: the lists of all accounts, of all runs and of what operators did, one account, and one run.
import type { Hono } from 'hono';
import type { OperationRecord, RunRecord } from '../../../core/schemas.ts';
import type { RunDetail } from '../../../core/ports/journal-reader.ts';
import { remainingPlan } from '../../../core/run-outcome.ts';
import { DAY_MS } from '../../../core/durations-and-sizes.ts';
import { driftLine, joined } from '../../../report/formatting.ts';
import type { AccountView, DaemonApi } from '../../daemon-api.ts';
import { ACCOUNT, type HttpEnv } from '../context.ts';
import { answerFailure } from '../failure.tsx';
import { NO_ACCOUNT, NO_RUN } from '../refusals.ts';
import { accountFilterOf, listAccounts, AccountsPage } from './accounts-page.tsx';
import { AccountPage, RemovedPage } from './account-page.tsx';
import { answerPage, render } from './layout.tsx';
import { placeIn } from './paged-sections.tsx';
import { lossLine } from './pending-plan.tsx';
import { ProgressBar, progressLine } from './page-parts.tsx';
import { type AccountRow, BAR_RUNS } from './account-table.tsx';
import { CHART_DAYS } from './account-facts.tsx';
import { RunPage } from './run-page.tsx';
import { ActivityPage, RUNS_SHOWN, runListOf, RunsPage } from './runs-page.tsx';

/** The table has fewer, and equal ones as one; the newest run that planned is searched among these. */
const LAST_RUNS = 60;
const LAST_ACTIONS = 20;
const LAST_DELETIONS = 5;

/** Adds the pages. They have buttons for visitors who may use them. */
export function addPages(app: Hono<HttpEnv>, daemon: DaemonApi): void {
  addLists(app, daemon);
  app.get(`/accounts/${ACCOUNT}`, async (context) => {
    const name = context.req.param('name');
    const account = await daemon.account(name);
    const [runs, actions, counts] = await Promise.all([
      daemon.runs({ account: name, limit: LAST_RUNS }),
      daemon.operatorActions({ account: name, limit: LAST_ACTIONS }),
      daemon.dailyCounts(name, context.get('page').nowMs - CHART_DAYS * DAY_MS),
    ]);
    const history = { runs, actions, counts };
    if (account === null) {
      if (runs.length === 0) return await answerFailure(context, NO_ACCOUNT);
      const deletions = await daemon.runs({ account: name, limit: LAST_DELETIONS, hasDeletes: true });
      return await answerPage(context, <RemovedPage name={name} deletions={deletions} {...history} />);
    }
    const { lastRun } = account;
    const place = placeIn((name) => context.req.query(name));
    const id = runShownFor(account, runs);
    const [detail, progress] = await Promise.all([
      id === null ? null : daemon.run(id).then(withoutHeld),
      lastRun?.status === 'running' ? daemon.runProgress(lastRun.id) : null,
    ]);
    const changes = detail === null ? null : { detail, remaining: remainingPlan(detail) };
    return await answerPage(context, <AccountPage {...{ account, changes, progress, place }} {...history} />);
  });

  app.get('/runs/:id{[0-9a-f-]+}', async (context) => {
    const place = placeIn((name) => context.req.query(name));
    const report = withoutHeld(await daemon.runReport(context.req.param('id')));
    if (report === null) return await answerFailure(context, NO_RUN);
    const { id, status, account } = report.run;
    const progress = status === 'running' ? await daemon.runProgress(id) : null;
    const file = (await daemon.account(account))?.file;
    return await answerPage(context, <RunPage {...{ report, file, progress, place }} />);
  });

  // The script of a page reads this while the run works; an empty answer means that it has ended.
  app.get('/runs/:id{[0-9a-f-]{36}}/progress', async (context) => {
    const progress = await daemon.runProgress(context.req.param('id'));
    if (progress === null) return await answerFailure(context, NO_RUN);
    if (progress.status !== 'running') return context.body(null, 204);
    return context.html(await render(context, <ProgressBar progress={progress} />));
  });
}

/** Without the rows of what the plan holds, which has a card of its own. Other held rows are deletes that a recheck held. */
function withoutHeld(detail: RunDetail | null): RunDetail | null {
  if (detail === null) return null;
  const keyOf = ({
    action,
    kind,
    name,
    remoteId,
  }: Pick<OperationRecord, 'action' | 'kind' | 'name'> & { remoteId?: string | null }) =>
    [action, kind, remoteId ?? name].join(' ');
  const held = new Set(detail.plan?.held.map(keyOf));
  const operations = detail.operations.filter((row) => row.status !== 'held' || !held.has(keyOf(row)));
  return { ...detail, operations };
}

/** The run whose changes the page of the account shows; null when it shows none. */
function runShownFor({ pending, lastRun, issues }: AccountView, runs: readonly RunRecord[]): string | null {
  if (pending !== null) return pending.runId;
  // A run that works changes what an earlier one found, and a file with errors requests nothing that it could be compared with.
  if (lastRun === null || lastRun.status === 'running' || issues.length > 0) return null;
  const planned = lastRun.planDigest !== null ? lastRun : runs.find(({ planDigest }) => planDigest !== null);
  return planned?.id ?? null;
}

/** The lists. */
function addLists(app: Hono<HttpEnv>, daemon: DaemonApi): void {
  app.get('/', async (context) => {
    const [overview, accounts] = await Promise.all([daemon.overview(), daemon.accounts()]);
    const list = listAccounts(
      accounts,
      accountFilterOf((name) => context.req.query(name)),
    );
    const { nowMs } = context.get('page');
    const names = list.shown.map(({ account }) => account.name);
    const marks = await daemon.latestRuns(names, BAR_RUNS);
    const rows = await Promise.all(
      list.shown.map((each) => {
        const runs = marks.filter(({ account }) => account === each.account.name);
        return rowOf(daemon, { ...each, runs }, nowMs);
      }),
    );
    return await answerPage(context, <AccountsPage daemon={overview} list={list} rows={rows} />);
  });

  app.get('/runs', async (context) => {
    const request = runListOf((name) => context.req.query(name), context.get('page').nowMs);
    const runs = await daemon.runs(request.query);
    return await answerPage(context, <RunsPage request={request} runs={runs} />);
  });

  app.get('/activity', async (context) => {
    // The action behind which the page continues; anything else counts as not given.
    const before = /^\d{1,15}$/.exec(context.req.query('before') ?? '')?.[0];
    const behind = before === undefined ? {} : { before: Number(before) };
    const actions = await daemon.operatorActions({ limit: RUNS_SHOWN + 1, ...behind });
    return await answerPage(context, <ActivityPage actions={actions} isContinued={before !== undefined} />);
  });
}

/** A list of fifty accounts does not read larger plans only to name who loses what. */
const MAX_DELETES = 100;

/** Adds what is still to apply and who loses what by it, or how far the run at work is. */
async function rowOf(daemon: DaemonApi, row: Omit<AccountRow, 'work'>, nowMs: number): Promise<AccountRow> {
  const { pending, lastRun, drift } = row.account;
  if (lastRun?.status === 'running') {
    const progress = await daemon.runProgress(lastRun.id);
    return { ...row, work: progress === null ? [] : progressLine(progress, nowMs) };
  }
  if (drift === null || drift.create + drift.delete === 0)
    return { ...row, work: row.states[0] === 'held' ? ['nothing to apply'] : [] };
  const id = pending?.runId ?? lastRun?.id;
  const isRead = id !== undefined && drift.delete > 0 && drift.delete <= MAX_DELETES;
  const detail = isRead ? withoutHeld(await daemon.run(id)) : null;
  const plan = detail === null ? null : remainingPlan(detail);
  const lost = drift.delete === 0 ? ['nobody loses anything'] : plan === null ? [] : lossLine(plan);
  return { ...row, work: joined([driftLine(drift), ...(lost.length === 0 ? [] : [lost])], ' · ') };
}
