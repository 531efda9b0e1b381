// The paths of the API that read: accounts, runs, and the daemon itself.
import type { Hono } from 'hono';
import { runToJson } from '../../report/run-json.ts';
import { turn } from '../../platform/turns.ts';
import type { AccountView, DaemonApi } from '../daemon-api.ts';
import type { Log } from '../log.ts';
import { ACCOUNT } from './account-path.ts';
import { accountToJson, daemonToJson, replicaToJson } from './account-json.ts';
import type { HttpEnv } from './context.ts';
import { apiFailure } from './failure.tsx';
import { badRequest, NO_ACCOUNT, NO_RUN } from './refusals.ts';
import { namesOf, parsePage } from './account-page.ts';
import { parseRunFilter } from './run-filter.ts';
import { sendPieces } from './send-pieces.ts';

/** Reading so many accounts and their last runs takes a few milliseconds, also while runs work. */
const ACCOUNTS_AT_A_TIME = 100;

export function addApiReads(
  app: Hono<HttpEnv>,
  { daemon, log, nowMs }: { daemon: DaemonApi; log: Pick<Log, 'error'>; nowMs: () => number },
): void {
  app.get('/api/v1/status', async (context) => context.json(daemonToJson(await daemon.overview())));

  app.get('/api/v1/replicas', async (context) =>
    context.json({ replicas: (await daemon.replicas()).map(replicaToJson) }),
  );

  app.get('/api/v1/accounts', async (context) => {
    const page = parsePage(context.req.queries());
    if ('problem' in page) return apiFailure(context, badRequest(page.problem));
    const names = namesOf(page, daemon.accountNames());
    const first = await daemon.accounts(names.slice(0, ACCOUNTS_AT_A_TIME));
    if (names.length <= ACCOUNTS_AT_A_TIME) return context.json({ accounts: first.map(accountToJson) });
    const pieces = accountsInPieces(daemon, first, names.slice(ACCOUNTS_AT_A_TIME));
    return await sendPieces(context, { pieces, headers: { 'content-type': 'application/json' }, log });
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
    const json = await daemon.runJson(context.req.param('id'));
    if (json === null) return apiFailure(context, NO_RUN);
    return context.body(json, 200, { 'content-type': 'application/json' });
  });
}

/** The same text as that of all accounts at once. */
async function* accountsInPieces(
  daemon: DaemonApi,
  first: readonly AccountView[],
  others: readonly string[],
): AsyncGenerator<string> {
  const text = (accounts: readonly AccountView[]): string =>
    accounts.map((account) => JSON.stringify(accountToJson(account))).join(',');
  let comma = first.length === 0 ? '' : ',';
  yield `{"accounts":[${text(first)}`;
  for (let at = 0; at < others.length; at += ACCOUNTS_AT_A_TIME) {
    await turn();
    const some = await daemon.accounts(others.slice(at, at + ACCOUNTS_AT_A_TIME));
    // Accounts that have been removed meanwhile are missing.
    if (some.length === 0) continue;
    yield `${comma}${text(some)}`;
    comma = ',';
  }
  yield ']}';
}
