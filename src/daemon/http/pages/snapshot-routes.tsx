// The paths of an account's usage, snapshots, differences between snapshots, and actions of operators.
import type { Hono } from 'hono';
import type { SnapshotRecord } from '../../../core/snapshots.ts';
import type { DaemonApi } from '../../daemon-api.ts';
import type { HttpContext, HttpEnv } from '../context.ts';
import { ACCOUNT, accountPath } from '../account-path.ts';
import { answerFailure } from '../failure.tsx';
import { listsNotShown, NO_ACCOUNT, NO_LISTS, NO_SNAPSHOT, TOO_MANY_LARGE_RUNS } from '../refusals.ts';
import type { SnapshotView } from '../snapshot-view.ts';
import { ActionsPage } from './actions-page.tsx';
import { type PagesOptions, viewOf } from './page-routes.tsx';
import { pageText } from './page-text.ts';
import { SnapshotsPage } from './snapshots-page.tsx';

/** The snapshots on one page. */
const SNAPSHOTS = 50;
const MAX_ACTIONS = 500;

export function addSnapshotPages(app: Hono<HttpEnv>, { daemon, showPage, nowMs }: PagesOptions): void {
  addPage('usage', async (context, account) => {
    const [snapshot] = await daemon.snapshots({ account, isGood: true, limit: 1 });
    if (snapshot === undefined) return await answerFailure(context, NO_LISTS);
    return await answerView(context, { type: 'usage', snapshot, ...viewOf(context, nowMs()) });
  });

  addPage('difference', async (context, account) => {
    const from = await snapshotOf(daemon, account, context.req.query('from'));
    const to = await snapshotOf(daemon, account, context.req.query('to'));
    if (from === null || to === null) return await answerFailure(context, NO_SNAPSHOT);
    return await answerView(context, { type: 'difference', from, to, ...viewOf(context, nowMs()) });
  });

  addPage('snapshots', async (context, account) => {
    const untilMs = Date.parse(context.req.query('until') ?? '');
    const filter = { account, ...(Number.isNaN(untilMs) ? {} : { untilMs }) };
    const snapshots = await daemon.snapshots({ ...filter, limit: SNAPSHOTS + 1 });
    const next = snapshots[SNAPSHOTS];
    const page = (
      <SnapshotsPage
        account={account}
        snapshots={snapshots.slice(0, SNAPSHOTS)}
        olderAt={next === undefined ? null : `${accountPath(account)}/snapshots?until=${next.takenAt}`}
        nowMs={nowMs()}
        visitor={context.get('visitor')}
      />
    );
    return context.html(await pageText(page));
  });

  addPage('actions', async (context, account) => {
    const actions = await daemon.operatorActions(account, MAX_ACTIONS);
    const visitor = context.get('visitor');
    const page = <ActionsPage account={account} actions={actions} nowMs={nowMs()} visitor={visitor} />;
    return context.html(await pageText(page));
  });

  /** Adds a page below that of a configured account. */
  function addPage(path: string, answer: (context: HttpContext, account: string) => Promise<Response>): void {
    app.get(`/accounts/${ACCOUNT}/${path}`, async (context) => {
      const account = context.req.param('name') ?? '';
      return (await daemon.account(account)) === null
        ? await answerFailure(context, NO_ACCOUNT)
        : await answer(context, account);
    });
  }

  async function answerView(context: HttpContext, view: SnapshotView): Promise<Response> {
    const outcome = await showPage(view, context.req.raw.signal);
    switch (outcome.type) {
      case 'page':
        return context.html(outcome.html);
      case 'unknown':
        return await answerFailure(context, NO_SNAPSHOT);
      case 'busy':
        return await answerFailure(context, TOO_MANY_LARGE_RUNS);
      case 'failed':
        return await answerFailure(context, listsNotShown(outcome.reason));
      default:
        return outcome satisfies never;
    }
  }
}

/** The snapshot with this id if it is of the account; else null. */
async function snapshotOf(
  daemon: DaemonApi,
  account: string,
  id: string | undefined,
): Promise<SnapshotRecord | null> {
  if (id === undefined || !/^[1-9]\d{0,14}$/.test(id)) return null;
  const [snapshot] = await daemon.snapshots({ account, id: Number(id), limit: 1 });
  return snapshot ?? null;
}
