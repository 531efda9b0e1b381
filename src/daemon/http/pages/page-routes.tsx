// The paths of the pages of one account and of one run, and what of the daemon each shows.
import type { Hono } from 'hono';
import { html } from 'hono/html';
import type { DaemonApi } from '../../daemon-api.ts';
import { takeOutcome } from '../action-message.ts';
import type { HttpContext, HttpEnv } from '../context.ts';
import { answerFailure } from '../failure.tsx';
import { NO_ACCOUNT, NO_RUN, runNotShown, TOO_MANY_LARGE_RUNS } from '../refusals.ts';
import type { RunView, ShowRun } from '../run-view.ts';
import { AccountPage } from './account-page.tsx';

const LAST_RUNS = 20;

/** Adds the pages. They have buttons for visitors who may use them. */
export function addPages(app: Hono<HttpEnv>, daemon: DaemonApi, showRun: ShowRun): void {
  app.get('/accounts/:name{[A-Za-z0-9._-]+}', async (context) => {
    const account = await daemon.account(context.req.param('name'));
    if (account === null) return await answerFailure(context, NO_ACCOUNT);
    const runs = await daemon.runs({ account: account.name, limit: LAST_RUNS });
    const said = takeOutcome(context, account.name);
    return await answerView(context, {
      type: 'account',
      account,
      runs,
      said,
      visitor: context.get('visitor'),
    });
  });

  app.get('/runs/:id{[0-9a-f-]+}', async (context) =>
    answerView(context, { type: 'run', id: context.req.param('id'), visitor: context.get('visitor') }),
  );

  async function answerView(context: HttpContext, view: RunView): Promise<Response> {
    const outcome = await showRun(view, context.req.raw.signal);
    switch (outcome.type) {
      case 'page':
        return context.html(outcome.html);
      case 'unknown':
        return await answerFailure(context, NO_RUN);
      case 'busy':
        if (view.type === 'account')
          return await answerWithoutPlan(context, view, TOO_MANY_LARGE_RUNS.message);
        return await answerFailure(context, TOO_MANY_LARGE_RUNS);
      case 'failed': {
        const failure = runNotShown(outcome.runId, outcome.reason);
        if (view.type === 'account') return await answerWithoutPlan(context, view, failure.message);
        return await answerFailure(context, failure);
      }
      default:
        return outcome satisfies never;
    }
  }
}

/** The account can be viewed, paused and run although the changes of its last run cannot be shown. */
async function answerWithoutPlan(
  context: HttpContext,
  { account, runs, said, visitor }: Extract<RunView, { type: 'account' }>,
  unshown: string,
): Promise<Response> {
  const page = (
    <AccountPage
      account={account}
      runs={runs}
      plan={null}
      remaining={null}
      unshown={unshown}
      said={said}
      visitor={visitor}
    />
  );
  return await context.html(html`<!doctype html>${page}`);
}
