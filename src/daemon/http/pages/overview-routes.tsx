// The paths of the lists: all accounts, and all runs.
import type { Hono } from 'hono';
import type { RunMark } from '../../../core/journal-reader.ts';
import { turn } from '../../../platform/turns.ts';
import type { DaemonApi } from '../../daemon-api.ts';
import type { HttpEnv } from '../context.ts';
import { accountFilterOf, listAccounts } from './account-list.ts';
import { AccountsPage } from './accounts-page.tsx';
import { pageText } from './layout.tsx';
import { runListOf } from './run-list.ts';
import { STRIP_RUNS } from './run-strip.tsx';
import { RunsPage } from './runs-page.tsx';

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
