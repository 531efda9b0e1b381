// The paths of the API that read: accounts, runs, and the daemon itself. Each field of the JSON is named, so that a field
// added to a view is not published by accident.
import type { Hono } from 'hono';
import { runReportToJson, runToJson } from '../../report/render.ts';
import { statesOf } from '../../core/account-states.ts';
import type { AccountView, DaemonApi, DaemonView } from '../daemon-api.ts';
import { ACCOUNT, type HttpEnv } from './context.ts';
import { apiFailure } from './failure.tsx';
import { badRequest, NO_ACCOUNT, NO_RUN } from './refusals.ts';
import { parseRunFilter } from './pages/runs-page.tsx';

export function addApiReads(
  app: Hono<HttpEnv>,
  { daemon, nowMs }: { daemon: DaemonApi; nowMs: () => number },
): void {
  app.get('/api/v1/status', async (context) => context.json(daemonToJson(await daemon.overview())));

  app.get('/api/v1/accounts', async (context) => {
    const accounts = await daemon.accounts(daemon.accountNames());
    return context.json({ accounts: accounts.map(accountToJson) });
  });

  app.get(`/api/v1/accounts/${ACCOUNT}`, async (context) => {
    const account = await daemon.account(context.req.param('name'));
    return account === null ? apiFailure(context, NO_ACCOUNT) : context.json(accountToJson(account));
  });

  app.get('/api/v1/runs', async (context) => {
    const filter = parseRunFilter(context.req.queries(), nowMs());
    if ('problem' in filter) return apiFailure(context, badRequest(filter.problem));
    return context.json({ runs: (await daemon.runs(filter)).map(runToJson) });
  });

  app.get('/api/v1/runs/:id{[0-9a-f-]+}', async (context) => {
    const report = await daemon.runReport(context.req.param('id'));
    return report === null ? apiFailure(context, NO_RUN) : context.json(runReportToJson(report));
  });
}

/** One account. Times are UTC ISO 8601. */
function accountToJson(account: AccountView) {
  const { pause, lastRun } = account;
  return {
    name: account.name,
    state: statesOf(account)[0],
    valid: account.valid,
    issues: account.issues,
    mode: account.mode,
    schedule: account.schedule,
    timezone: account.timezone,
    region: account.region,
    remoteAccountId: account.remoteAccountId,
    paused: pause !== null,
    pause,
    activity: account.activity,
    nextRunAt: account.nextRunAt,
    consecutiveFailures: account.consecutiveFailures,
    drift: account.drift,
    pending: account.pending,
    approved: account.approved,
    lastRun: lastRun === null ? null : runToJson(lastRun),
    lastSuccessAt: account.lastSuccessAt,
  };
}

function daemonToJson({ version, startedAt, issues, commit, configurationErrors }: DaemonView) {
  const shown = commit && { ...commit, changed: undefined };
  return { version, startedAt, configurationValid: configurationErrors === 0, issues, commit: shown };
}
