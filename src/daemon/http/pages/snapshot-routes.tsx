// The paths of an account's usage, snapshots, differences between snapshots, and actions of operators.
import type { Hono } from 'hono';
import { html } from 'hono/html';
import type { SnapshotRecord } from '../../../core/snapshots.ts';
import type { DaemonApi } from '../../daemon-api.ts';
import type { HttpContext, HttpEnv } from '../context.ts';
import { answerFailure } from '../failure.tsx';
import { listsNotShown, NO_ACCOUNT, NO_LISTS, NO_SNAPSHOT, TOO_MANY_LARGE_RUNS } from '../refusals.ts';
import type { SnapshotView } from '../snapshot-view.ts';
import { ActionsPage } from './actions-page.tsx';
import type { PagesOptions } from './page-routes.tsx';
import { placeIn } from './paged-sections.tsx';
import { SnapshotsPage } from './snapshots-page.tsx';

const ACCOUNT = '/accounts/:name{[A-Za-z0-9._-]+}';
/** The snapshots on one page. */
const SNAPSHOTS = 50;
const MAX_ACTIONS = 500;

export function addSnapshotPages(app: Hono<HttpEnv>, { daemon, showPage, nowMs }: PagesOptions): void {
  app.get(`${ACCOUNT}/usage`, async (context) => {
    const name = context.req.param('name');
    if ((await daemon.account(name)) === null) return await answerFailure(context, NO_ACCOUNT);
    const [snapshot] = await daemon.snapshots({ account: name, isGood: true, limit: 1 });
    if (snapshot === undefined) return await answerFailure(context, NO_LISTS);
    return await answerView(context, { type: 'usage', snapshot, ...viewed(context) });
  });

  app.get(`${ACCOUNT}/difference`, async (context) => {
    const name = context.req.param('name');
    if ((await daemon.account(name)) === null) return await answerFailure(context, NO_ACCOUNT);
    const from = await snapshotOf(daemon, name, context.req.query('from'));
    const to = await snapshotOf(daemon, name, context.req.query('to'));
    if (from === null || to === null) return await answerFailure(context, NO_SNAPSHOT);
    return await answerView(context, { type: 'difference', from, to, ...viewed(context) });
  });

  app.get(`${ACCOUNT}/snapshots`, async (context) => {
    const name = context.req.param('name');
    if ((await daemon.account(name)) === null) return await answerFailure(context, NO_ACCOUNT);
    const untilMs = Date.parse(context.req.query('until') ?? '');
    const filter = { account: name, ...(Number.isNaN(untilMs) ? {} : { untilMs }) };
    const snapshots = await daemon.snapshots({ ...filter, limit: SNAPSHOTS + 1 });
    const shown = snapshots.slice(0, SNAPSHOTS);
    const next = snapshots[SNAPSHOTS];
    const page = (
      <SnapshotsPage
        account={name}
        snapshots={shown}
        olderAt={next === undefined ? null : `/accounts/${name}/snapshots?until=${next.takenAt}`}
        nowMs={nowMs()}
        visitor={context.get('visitor')}
      />
    );
    return await context.html(html`<!doctype html>${page}`);
  });

  app.get(`${ACCOUNT}/actions`, async (context) => {
    const name = context.req.param('name');
    if ((await daemon.account(name)) === null) return await answerFailure(context, NO_ACCOUNT);
    const actions = await daemon.operatorActions(name, MAX_ACTIONS);
    const page = (
      <ActionsPage account={name} actions={actions} nowMs={nowMs()} visitor={context.get('visitor')} />
    );
    return await context.html(html`<!doctype html>${page}`);
  });

  function viewed(context: HttpContext) {
    const place = placeIn(context.req.query('group'), context.req.query('page'));
    return { place, nowMs: nowMs(), visitor: context.get('visitor') };
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
