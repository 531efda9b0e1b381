// The paths of the API that read: accounts, runs, and the daemon itself. Each field of the JSON is named, so that a field
// added to a view is not published by accident.
import type { Hono } from 'hono';
import type { RunRecord } from '../../core/journal.ts';
import { operationToJson, runToJson } from '../../report/run-json.ts';
import { statesOfListed } from '../account-state.ts';
import type { AccountView, DaemonApi, DaemonView } from '../daemon-api.ts';
import type { Log } from '../log.ts';
import { ACCOUNT, type HttpEnv } from './context.ts';
import { apiFailure } from './failure.tsx';
import { badRequest, NO_ACCOUNT, NO_RUN, TOO_MANY_REQUESTS } from './refusals.ts';
import { sendPieces } from './responses.ts';
import { parseRunFilter } from './pages/runs-page.tsx';

/** Lists of all accounts and complete runs that are sent at the same time. */
const MOST_SENT = 10;

/** Reading so many accounts and their last runs takes a few milliseconds, also while runs work. */
const ACCOUNTS_AT_A_TIME = 100;

/** Converting so many changes to JSON takes a few milliseconds. */
const ROWS_AT_A_TIME = 200;

export function addApiReads(
  app: Hono<HttpEnv>,
  { daemon, log, nowMs }: { daemon: DaemonApi; log: Pick<Log, 'error'>; nowMs: () => number },
): void {
  const senders = { most: MOST_SENT, sending: 0 };
  app.get('/api/v1/status', async (context) => context.json(daemonToJson(await daemon.overview())));

  app.get('/api/v1/accounts', async (context) => {
    const names = daemon.accountNames();
    const first = await daemon.accounts(names.slice(0, ACCOUNTS_AT_A_TIME));
    if (names.length <= ACCOUNTS_AT_A_TIME) return context.json({ accounts: first.map(accountToJson) });
    if (senders.sending >= senders.most) return apiFailure(context, TOO_MANY_REQUESTS);
    const pieces = accountsInPieces(daemon, first, names.slice(ACCOUNTS_AT_A_TIME));
    return sendPieces(context, senders, { pieces, type: 'application/json', log });
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
    const found = await daemon.run(context.req.param('id'), 1);
    if (found === null) return apiFailure(context, NO_RUN);
    if (senders.sending >= senders.most) return apiFailure(context, TOO_MANY_REQUESTS);
    return sendPieces(context, senders, {
      pieces: runInPieces(daemon, found.run),
      type: 'application/json',
      log,
    });
  });
}

/** The same text as that of the complete run at once, which takes a second for 20,000 held changes. */
async function* runInPieces(daemon: DaemonApi, run: RunRecord): AsyncGenerator<string> {
  yield JSON.stringify(runToJson(run)).slice(0, -1);
  const detail = await daemon.runReport(run.id);
  // It may have been pruned meanwhile.
  const { operations = [], warnings = [], plan = null, earlierHolders } = detail ?? {};
  yield ',"operations":';
  yield* listInPieces(operations, operationToJson);
  yield `,"warnings":${JSON.stringify(warnings)},"plan":`;
  if (plan === null) yield 'null';
  else {
    const { operations: planned, held, ...head } = plan;
    yield `${JSON.stringify(head).slice(0, -1)},"operations":`;
    yield* listInPieces(planned, (change) => change);
    yield ',"held":';
    yield* listInPieces(held, (change) => change);
    yield '}';
  }
  yield `${earlierHolders === undefined ? '' : `,"earlierHolders":${JSON.stringify(earlierHolders)}`}}`;
}

async function* listInPieces<T>(list: readonly T[], toJson: (value: T) => unknown): AsyncGenerator<string> {
  for (let at = 0; at < list.length; at += ROWS_AT_A_TIME) {
    const rows = list.slice(at, at + ROWS_AT_A_TIME).map((value) => JSON.stringify(toJson(value)));
    yield `${at === 0 ? '[' : ','}${rows.join(',')}`;
  }
  yield list.length === 0 ? '[]' : ']';
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
    const some = await daemon.accounts(others.slice(at, at + ACCOUNTS_AT_A_TIME));
    // Accounts that have been removed meanwhile are missing.
    if (some.length === 0) continue;
    yield `${comma}${text(some)}`;
    comma = ',';
  }
  yield ']}';
}

/** One account. Times are UTC ISO 8601. */
function accountToJson(account: AccountView) {
  const { pause, lastRun } = account;
  return {
    name: account.name,
    state: statesOfListed(account)[0],
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
