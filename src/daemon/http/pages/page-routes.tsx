// The paths of the pages: the lists of all accounts and of all runs, one account, and one run.
import type { Hono } from 'hono';
import { html } from 'hono/html';
import type { RunMark } from '../../../core/journal-reader.ts';
import { turn } from '../../../platform/turns.ts';
import { isChanging } from '../../account-state.ts';
import type { DaemonApi } from '../../daemon-api.ts';
import { ACCOUNT } from '../account-path.ts';
import { takeMessage } from '../actions.ts';
import type { HttpContext, HttpEnv } from '../context.ts';
import { answerFailure } from '../failure.tsx';
import { NO_ACCOUNT, NO_RUN } from '../refusals.ts';
import { accountFilterOf, listAccounts } from './account-list.ts';
import { AccountsPage } from './accounts-page.tsx';
import { pageText } from './layout.tsx';
import { placeIn } from './paged-sections.tsx';
import { ProgressBar } from './progress-bar.tsx';
import { STRIP_RUNS } from './run-strip.tsx';
import type { AnyView, RunView } from './run-views.tsx';
import { runListOf, RunsPage } from './runs-page.tsx';

export interface PagesOptions {
  readonly daemon: DaemonApi;
  /** Renders a page from the store; null when there is no such run. */
  readonly showPage: (view: RunView) => Promise<string | null>;
  readonly nowMs: () => number;
}

/** Of the chart; the table has fewer. */
const LAST_RUNS = 60;
const LAST_ACTIONS = 20;

/** Adds the pages. They have buttons for visitors who may use them. */
export function addPages(app: Hono<HttpEnv>, { daemon, showPage, nowMs }: PagesOptions): void {
  app.get(`/accounts/${ACCOUNT}`, async (context) => {
    const account = await daemon.account(context.req.param('name'));
    if (account === null) return await answerFailure(context, NO_ACCOUNT);
    const { name } = account;
    const [runs, actions] = await Promise.all([
      daemon.runs({ account: name, limit: LAST_RUNS }),
      daemon.operatorActions(name, LAST_ACTIONS),
    ]);
    const message = takeMessage(context, name, isChanging(account));
    const view = {
      type: 'account',
      account,
      runs,
      actions,
      message,
      ...viewOf(context, nowMs()),
    } as const;
    return await answerView(context, view);
  });

  app.get('/runs/:id{[0-9a-f-]+}', async (context) =>
    answerView(context, { type: 'run', id: context.req.param('id'), ...viewOf(context, nowMs()) }),
  );

  // The script of a page reads this while the run works; an empty answer means that it has ended.
  app.get('/runs/:id{[0-9a-f-]{36}}/progress', async (context) => {
    const progress = await daemon.runProgress(context.req.param('id'));
    if (progress === null) return await answerFailure(context, NO_RUN);
    if (progress.status !== 'running') return context.body(null, 204);
    return context.html(String(await html`${(<ProgressBar progress={progress} nowMs={nowMs()} />)}`));
  });

  async function answerView(context: HttpContext, view: RunView): Promise<Response> {
    const page = await showPage(view);
    return page === null ? await answerFailure(context, NO_RUN) : context.html(page);
  }
}

/** What a page that is rendered from the store needs of its request. */
export function viewOf(context: HttpContext, nowMs: number): AnyView {
  const place = placeIn(context.req.query('group'), context.req.query('page'));
  return { place, nowMs, visitor: context.get('visitor'), isStopping: context.get('isStopping') };
}

/** Adds the pages. Of the accounts that a page does not show, only what it is sorted and filtered by is read. */
export function addOverview(app: Hono<HttpEnv>, daemon: DaemonApi, nowMs: () => number): void {
  app.get('/', async (context) => {
    const [overview, replicas, accounts] = await Promise.all([
      daemon.overview(),
      daemon.replicas(),
      daemon.accountFacts(),
    ]);
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
        replicas={replicas}
        list={list}
        views={new Map(views.map((view) => [view.name, view]))}
        runs={byAccount(runs)}
        nowMs={nowMs()}
        visitor={context.get('visitor')}
        isStopping={context.get('isStopping')}
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
}

function byAccount(runs: readonly RunMark[]): ReadonlyMap<string, readonly RunMark[]> {
  const grouped = new Map<string, RunMark[]>();
  for (const run of runs) {
    const some = grouped.get(run.account);
    if (some === undefined) grouped.set(run.account, [run]);
    else some.push(run);
  }
  return grouped;
}
