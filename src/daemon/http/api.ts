// The paths of the API: accounts, runs, and the daemon itself; the commands of an operator, and plans of proposed changes.
import { setImmediate } from 'node:timers/promises';
import type { Hono } from 'hono';
import PQueue from 'p-queue';
import { z } from 'zod';
import { wellFormed } from '../../core/names.ts';
import {
  ALL_ACCOUNTS,
  isPauseReason,
  type OperatorAction,
  type OperatorRequest,
  OPERATOR_ACTIONS,
  PAUSE_HEADER,
  PLAN_DIGEST,
  REASON_TOO_LONG,
} from '../../core/operator.ts';
import { statesOf } from '../../core/account-states.ts';
import { runReportToJson, runToJson } from '../../report/render.tsx';
import type { AccountView, ActionOutcome, DaemonApi, DaemonView } from '../daemon-api.ts';
import { type ActionDeps, failureOf, MAX_BODY_BYTES, performFor } from './actions.ts';
import { ACCOUNT, type HttpContext, type HttpEnv, PLAN_PATH } from './context.ts';
import { apiFailure, limitBody, limitRequests } from './failure.tsx';
import { parseJson, readPosted } from './posted-plans.ts';
import { parseRunFilter } from './pages/runs-page.tsx';
import { badRequest, NO_ACCOUNT, NO_RUN, NOT_JSON, TOO_MANY_PLANS } from './refusals.ts';

/** Posted plans that wait or are made. One is made at a time, since it uses a processor; each keeps its body in memory. */
const MAX_PLANS = 5;
const PLAN_IDLE_MS = 1_800_000;
const JSON_TYPE = /^application\/json *(;|$)/i;

export function addApi(app: Hono<HttpEnv>, deps: ActionDeps): void {
  addReads(app, deps.daemon);
  // No form can send JSON. An old browser that names no site could otherwise act for somebody whom a proxy names.
  app.use('/api/*', async (context, next) => {
    const isJson = JSON_TYPE.test(context.req.header('content-type') ?? '');
    return isJson || context.req.method !== 'POST' ? await next() : apiFailure(context, NOT_JSON);
  });
  for (const action of OPERATOR_ACTIONS) {
    app.post(`/api/v1/accounts/${ACCOUNT}/${action}`, limitBody(MAX_BODY_BYTES), async (context) => {
      const body = await readBody(context, BODIES[action], '{}');
      if ('problem' in body) return apiFailure(context, badRequest(body.problem));
      const request = { action, account: context.req.param('name'), ...body.value };
      return answerOutcome(context, await performFor(context, request, deps));
    });
  }
  // What the body contains has no effect, and it is not read.
  const fetch = { action: 'fetch', account: ALL_ACCOUNTS } as const;
  app.post('/api/v1/source/fetch', async (context) =>
    answerOutcome(context, await performFor(context, fetch, deps)),
  );
  addApprovals(app, deps);
  addPlan(app, deps);
}

function addReads(app: Hono<HttpEnv>, daemon: DaemonApi): void {
  app.get('/api/v1/status', async (context) => context.json(daemonToJson(await daemon.overview())));

  app.get('/api/v1/accounts', async (context) => {
    return context.json({ accounts: (await daemon.accounts()).map(accountToJson) });
  });

  app.get(`/api/v1/accounts/${ACCOUNT}`, async (context) => {
    const account = await daemon.account(context.req.param('name'));
    return account === null ? apiFailure(context, NO_ACCOUNT) : context.json(accountToJson(account));
  });

  app.get('/api/v1/runs', async (context) => {
    const filter = parseRunFilter(context.req.queries(), context.get('page').nowMs);
    if ('problem' in filter) return apiFailure(context, badRequest(filter.problem));
    return context.json({ runs: (await daemon.runs(filter)).map(runToJson) });
  });

  app.get('/api/v1/runs/:id{[0-9a-f-]+}', async (context) => {
    const report = await daemon.runReport(context.req.param('id'));
    return report === null ? apiFailure(context, NO_RUN) : context.json(runReportToJson(report));
  });
}

/** One account. Times are UTC ISO 8601. Each field is named, so that one added to a view is not published by accident. */
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

/** Approves many plans, one after the other. Each has a result of its own, whatever becomes of the others. */
function addApprovals(app: Hono<HttpEnv>, deps: ActionDeps): void {
  app.post('/api/v1/approvals', limitBody(MAX_BODY_BYTES), async (context) => {
    const body = await readBody(context, APPROVALS, '');
    if ('problem' in body) return apiFailure(context, badRequest(body.problem));
    const approvals = body.value;
    const named = new Set(approvals.map(({ account }) => account));
    if (named.size < approvals.length || named.size > deps.daemon.accountNames().length)
      return apiFailure(context, badRequest('the list must have each account of the daemon at most once'));
    const results: object[] = [];
    for (const { account, digest: plan } of approvals) {
      // Other requests are answered in between: an approval is on the disk before the next one.
      await setImmediate();
      const request = { action: 'approve', account, digest: plan } as const;
      const outcome = await performFor(context, request, deps);
      const { code: status, message, more } = failureOf(outcome) ?? {};
      results.push({ account, ...(status === undefined ? doneJson(outcome) : { status, message, ...more }) });
    }
    return context.json(results);
  });
}

function addPlan(app: Hono<HttpEnv>, { daemon }: ActionDeps): void {
  const queue = new PQueue({ concurrency: 1 });
  // Before the body is read: a thousand connections would buffer a gibibyte.
  app.post(
    PLAN_PATH,
    limitRequests(MAX_PLANS, TOO_MANY_PLANS),
    limitBody(MAX_BODY_BYTES),
    async (context) => {
      // During a plan the connection is silent for as long as the service takes.
      context.env.incoming.setTimeout(PLAN_IDLE_MS);
      const body = new Uint8Array(await context.req.arrayBuffer());
      return await queue.add(async () => {
        // The client may have left while its plan waited.
        const hasLeft = context.env.outgoing.destroyed;
        return hasLeft
          ? apiFailure(context, badRequest('the client has closed the connection'))
          : await answerPlan(context, daemon, body);
      });
    },
  );
}

async function answerPlan(context: HttpContext, daemon: DaemonApi, body: Uint8Array): Promise<Response> {
  const json = parseJson(body, '');
  const posted = 'problem' in json ? json : readPosted(json.value);
  if ('problem' in posted) return apiFailure(context, badRequest(posted.problem));
  const pause = encodeURIComponent(context.get('pause') ?? '');
  return context.json(await daemon.plan(posted.value), 200, { [PAUSE_HEADER]: pause });
}

const WRONG_DIGEST =
  '`digest` is required: the digest of the plan to approve, or at least its first eight hex digits';
/** Required: nobody approves a plan that replaced the one they have seen. */
const digest = z.string(WRONG_DIGEST).regex(PLAN_DIGEST, WRONG_DIGEST);
const reason = z
  .string('`reason` must be a text')
  .refine(isPauseReason, REASON_TOO_LONG)
  .overwrite(wellFormed)
  .nullable()
  .default(null);

type Fields = Partial<Pick<OperatorRequest, 'digest' | 'reason'>>;

/** Unknown fields are refused: a misspelt one would have no effect. */
const BODIES: Readonly<Record<OperatorAction, z.ZodType<Fields>>> = {
  approve: bodyOf({ digest }),
  pause: bodyOf({ reason }),
  resume: bodyOf({}),
  sync: bodyOf({}),
};

function bodyOf<T extends z.ZodRawShape>(fields: T, wrong = 'the body must be an object, or empty') {
  const allowed = Object.keys(fields).join(', ') || 'none';
  return z.strictObject(fields, {
    error: (issue) =>
      issue.code === 'unrecognized_keys'
        ? `unknown field ${JSON.stringify(issue.keys[0]?.slice(0, 100))}; allowed: ${allowed}`
        : wrong,
  });
}

const WRONG_APPROVALS = 'the body must be a list of objects with `account` and `digest`';
const APPROVALS = z.array(
  bodyOf({ account: z.string('`account` must be the name of an account'), digest }, WRONG_APPROVALS),
  WRONG_APPROVALS,
);

/** The JSON of the body by its schema, or what is wrong with it. An empty body is read as `empty`. */
async function readBody<T>(
  context: HttpContext,
  schema: z.ZodType<T>,
  empty: string,
): Promise<{ readonly value: T } | { readonly problem: string }> {
  const json = parseJson(new Uint8Array(await context.req.arrayBuffer()), empty);
  if ('problem' in json) return json;
  const { data, error } = schema.safeParse(json.value);
  return error === undefined ? { value: data } : { problem: error.issues[0]?.message ?? 'the body is wrong' };
}

function answerOutcome(context: HttpContext, outcome: ActionOutcome): Response {
  const refused = failureOf(outcome);
  if (refused !== null) return apiFailure(context, refused);
  return context.json(doneJson(outcome), outcome.type === 'queued' ? 202 : 200);
}

function doneJson(outcome: ActionOutcome): object {
  const { type: status } = outcome;
  if (outcome.type !== 'approved') return { status };
  const { digest: plan, expiresAtMs } = outcome;
  return { status, digest: plan, expiresAt: new Date(expiresAtMs).toISOString() };
}
