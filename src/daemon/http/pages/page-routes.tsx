// Which page stands at which path, and what of the panel it shows.
import type { Hono } from 'hono';
import { html } from 'hono/html';
import { remainingPlan } from '../../left-over.ts';
import type { Panel } from '../../panel.ts';
import { OUTCOME_WORDS, type ActionOutcome } from '../actions.ts';

import type { HttpEnv } from '../context.ts';
import { answerFailure } from '../failure.tsx';
import { NO_ACCOUNT, NO_RUN } from '../refusals.ts';
import { AccountPage } from './account-page.tsx';
import { AccountsPage } from './accounts-page.tsx';
import { RunPage } from './run-page.tsx';

const LAST_RUNS = 20;

/** Adds the pages. They have buttons for who may use them. */
export function addPages(app: Hono<HttpEnv>, panel: Panel): void {
  app.get('/', async (context) => {
    const [daemon, accounts] = await Promise.all([panel.overview(), panel.accounts()]);
    const page = <AccountsPage daemon={daemon} accounts={accounts} visitor={context.get('visitor')} />;
    return await context.html(html`<!doctype html>${page}`);
  });

  app.get('/accounts/:name{[A-Za-z0-9._-]+}', async (context) => {
    const account = await panel.account(context.req.param('name'));
    if (account === null) return await answerFailure(context, NO_ACCOUNT);
    const { name, pending, lastRun } = account;
    const [runs, pendingRun, latest] = await Promise.all([
      panel.runs({ account: name, limit: LAST_RUNS }),
      pending === null ? null : panel.run(pending.runId),
      pending !== null || lastRun === null ? null : panel.run(lastRun.id),
    ]);
    const page = (
      <AccountPage
        account={account}
        runs={runs}
        plan={pendingRun?.plan ?? null}
        remaining={latest === null || latest.run.status === 'running' ? null : remainingPlan(latest)}
        said={outcomeIn(context.req.query('said'))}
        visitor={context.get('visitor')}
      />
    );
    return await context.html(html`<!doctype html>${page}`);
  });

  app.get('/runs/:id{[0-9a-f-]+}', async (context) => {
    const report = await panel.run(context.req.param('id'));
    if (report === null) return await answerFailure(context, NO_RUN);
    const page = <RunPage report={report} visitor={context.get('visitor')} />;
    return await context.html(html`<!doctype html>${page}`);
  });
}

/** What an address says came of a button: one of our own words, or nothing. */
function outcomeIn(text: string | undefined): ActionOutcome['type'] | null {
  const isOutcome = (word: string): word is ActionOutcome['type'] => Object.hasOwn(OUTCOME_WORDS, word);
  return text !== undefined && isOutcome(text) ? text : null;
}
