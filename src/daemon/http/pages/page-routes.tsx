// The paths of the pages: the lists of all accounts, of all runs and of what operators did, one account, and one run.
import type { Hono } from 'hono';
import { html } from 'hono/html';
import { groupBy } from '../../../core/names.ts';
import type { RunRecord } from '../../../core/journal.ts';
import { remainingPlan } from '../../../core/run-outcome.ts';
import { turn } from '../../../system/turns.ts';
import type { AccountView, DaemonApi } from '../../daemon-api.ts';
import { ACCOUNT, type HttpContext, type HttpEnv } from '../context.ts';
import { answerFailure } from '../failure.tsx';
import { NO_ACCOUNT, NO_RUN } from '../refusals.ts';
import { accountFilterOf, listAccounts, AccountsPage } from './accounts-page.tsx';
import { AccountPage } from './account-page.tsx';
import { ActivityPage } from './activity-page.tsx';
import { pageText } from './layout.tsx';
import { placeIn } from './paged-sections.tsx';
import { ProgressBar } from './progress-bar.tsx';
import { STRIP_RUNS } from './account-table.tsx';
import { type PageView, RunPage } from './run-page.tsx';
import { RUNS_SHOWN, runListOf, RunsPage } from './runs-page.tsx';

/** The table has fewer; the newest run that planned is searched among these. */
const LAST_RUNS = 60;
const LAST_ACTIONS = 20;

/** Adds the pages. They have buttons for visitors who may use them. */
export function addPages(app: Hono<HttpEnv>, daemon: DaemonApi, nowMs: () => number): void {
  app.get(`/accounts/${ACCOUNT}`, async (context) => {
    const account = await daemon.account(context.req.param('name'));
    if (account === null) return await answerFailure(context, NO_ACCOUNT);
    const { name, lastRun } = account;
    const [runs, actions, progress] = await Promise.all([
      daemon.runs({ account: name, limit: LAST_RUNS }),
      daemon.operatorActions({ account: name, limit: LAST_ACTIONS }),
      lastRun?.status === 'running' ? daemon.runProgress(lastRun.id) : null,
    ]);
    const id = runShownFor(account, runs);
    const view = viewOf(context, nowMs());
    const detail = id === null ? null : await daemon.run(id, view.place.heldPart);
    const changes =
      detail === null ? null : { run: detail.run, plan: detail.plan, remaining: remainingPlan(detail) };
    const page = <AccountPage {...{ account, runs, actions, progress, changes }} {...view} />;
    return context.html(await pageText(page));
  });

  app.get('/runs/:id{[0-9a-f-]+}', async (context) => {
    const view = viewOf(context, nowMs());
    const report = await daemon.runReport(context.req.param('id'), view.place.heldPart);
    if (report === null) return await answerFailure(context, NO_RUN);
    const { id, status } = report.run;
    const progress = status === 'running' ? await daemon.runProgress(id) : null;
    const page = <RunPage report={report} progress={progress} {...view} />;
    return context.html(await pageText(page));
  });

  // The script of a page reads this while the run works; an empty answer means that it has ended.
  app.get('/runs/:id{[0-9a-f-]{36}}/progress', async (context) => {
    const progress = await daemon.runProgress(context.req.param('id'));
    if (progress === null) return await answerFailure(context, NO_RUN);
    if (progress.status !== 'running') return context.body(null, 204);
    return context.html(String(await html`${(<ProgressBar progress={progress} nowMs={nowMs()} />)}`));
  });
}

/** The run whose changes the page of the account shows; null when it shows none. */
function runShownFor({ pending, lastRun }: AccountView, runs: readonly RunRecord[]): string | null {
  if (pending !== null) {
    // The latest run with this plan has the newest reasons of what is held.
    const latest = runs.find(
      ({ planDigest, status }) => planDigest === pending.digest && status !== 'running',
    );
    return latest?.id ?? pending.runId;
  }
  // A run that works changes what an earlier one found; one that failed before it planned shows nothing.
  if (lastRun === null || lastRun.status === 'running') return null;
  const planned = lastRun.planDigest !== null ? lastRun : runs.find(({ planDigest }) => planDigest !== null);
  return planned?.id ?? null;
}

function viewOf(context: HttpContext, nowMs: number): PageView {
  const place = placeIn((name) => context.req.query(name));
  return { place, nowMs, visitor: context.get('visitor') };
}

/** Adds the pages. Of the accounts that a page does not show, only what it is sorted and filtered by is read. */
export function addOverview(app: Hono<HttpEnv>, daemon: DaemonApi, nowMs: () => number): void {
  app.get('/', async (context) => {
    const [overview, accounts] = await Promise.all([daemon.overview(), daemon.accountFacts()]);
    await turn();
    const list = listAccounts(
      accounts,
      accountFilterOf((name) => context.req.query(name)),
    );
    const names = list.shown.map(({ account }) => account.name);
    const [views, runs] = await Promise.all([daemon.accounts(names), daemon.latestRuns(names, STRIP_RUNS)]);
    const page = (
      <AccountsPage
        daemon={overview}
        list={list}
        views={new Map(views.map((view) => [view.name, view]))}
        runs={groupBy(runs, ({ account }) => account)}
        nowMs={nowMs()}
        visitor={context.get('visitor')}
      />
    );
    return context.html(await pageText(page));
  });

  app.get('/runs', async (context) => {
    const request = runListOf((name) => context.req.query(name), nowMs());
    const runs = await daemon.runs(request.query);
    const page = <RunsPage request={request} runs={runs} nowMs={nowMs()} visitor={context.get('visitor')} />;
    return context.html(await pageText(page));
  });

  app.get('/activity', async (context) => {
    // The action behind which the page continues; anything else counts as not given.
    const before = /^\d{1,15}$/.exec(context.req.query('before') ?? '')?.[0];
    const behind = before === undefined ? {} : { before: Number(before) };
    const actions = await daemon.operatorActions({ limit: RUNS_SHOWN + 1, ...behind });
    const visitor = context.get('visitor');
    const page = <ActivityPage {...{ actions, visitor }} isContinued={before !== undefined} />;
    return context.html(await pageText(page));
  });
}
