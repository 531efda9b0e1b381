// The paths of the API that write or plan: the commands of an operator, and plans of posted configurations.
import type { Hono } from 'hono';
import PQueue from 'p-queue';
import { ConfigError, UsageError } from '../../core/errors.ts';
import { wellFormed } from '../../core/names.ts';
import {
  isPauseReason,
  type OperatorAction,
  OPERATOR_ACTIONS,
  PLAN_DIGEST,
  REASON_TOO_LONG,
} from '../../core/operator.ts';
import type { DaemonApi } from '../daemon-api.ts';
import {
  type ActionDeps,
  type ActionOutcome,
  OUTCOME_MESSAGES,
  performFor,
  type RequestedAction,
} from './actions.ts';
import { ACCOUNT } from './account-path.ts';
import { type Body, readBody, readBytes } from './body.ts';
import type { HttpContext, HttpEnv } from './context.ts';
import { apiFailure } from './failure.tsx';
import { badRequest, type Failure, NO_ACCOUNT, TOO_LARGE, TOO_MANY_PLANS } from './refusals.ts';

type Json = { readonly value: unknown } | { readonly failure: Failure };

/** Posted plans at the same time: each keeps its body in memory and uses a processor. */
const MAX_PLANS = 2;
const MAX_WAITING_PLANS = 4;
/** Bodies that one holder of a token may be sending at the same time. */
const MAX_ARRIVING = 6;

export function addApiActions(app: Hono<HttpEnv>, deps: ActionDeps): void {
  for (const action of OPERATOR_ACTIONS) {
    app.post(`/api/v1/accounts/${ACCOUNT}/${action}`, async (context) => {
      const body = parseJson(await readBody(context.env.incoming, deps.limits.bodyBytes), {});
      if ('failure' in body) return apiFailure(context, body.failure);
      const fields = parseFields(body.value, action);
      if ('failure' in fields) return apiFailure(context, fields.failure);
      const account = context.req.param('name');
      return answerOutcome(context, await performFor(context, { action, account, ...fields }, deps));
    });
  }
  addPlan(app, deps);
}

function addPlan(app: Hono<HttpEnv>, { daemon, limits }: ActionDeps): void {
  const queue = new PQueue({ concurrency: MAX_PLANS });
  const isFull = (): boolean => queue.size >= MAX_WAITING_PLANS;
  /** How many bodies each holder of a token is sending. */
  const arriving = new Map<string, number>();
  app.post('/api/v1/plan', async (context) => {
    // The limit for each holder: a slow sender takes no place from the others.
    const sender = context.get('visitor')?.name ?? '';
    if (isFull() || (arriving.get(sender) ?? 0) >= MAX_ARRIVING) return apiFailure(context, TOO_MANY_PLANS);
    // During a plan the connection is silent for as long as the service takes.
    context.env.incoming.setTimeout(limits.planIdleMs);
    arriving.set(sender, (arriving.get(sender) ?? 0) + 1);
    const body = await readBytes(context.env.incoming, limits.planBytes).finally(() =>
      arriving.set(sender, (arriving.get(sender) ?? 1) - 1),
    );
    if (body.type === 'too_large') return apiFailure(context, TOO_LARGE);
    if (body.type === 'incomplete') return apiFailure(context, badRequest('the body is incomplete'));
    if (isFull()) return apiFailure(context, TOO_MANY_PLANS);
    return await queue.add(async () => {
      // The client may have left while its plan waited.
      const hasLeft = context.env.outgoing.destroyed;
      return hasLeft
        ? apiFailure(context, badRequest('the client has closed the connection'))
        : await answerPlan(context, daemon, body.bytes);
    });
  });
}

async function answerPlan(context: HttpContext, daemon: DaemonApi, body: Uint8Array): Promise<Response> {
  try {
    const outcome = await daemon.plan(body);
    return 'problem' in outcome
      ? apiFailure(context, badRequest(outcome.problem))
      : context.json(outcome.plans);
  } catch (error) {
    // Errors in the posted files are those of the client.
    if (!(error instanceof ConfigError || error instanceof UsageError)) throw error;
    return apiFailure(context, { status: 400, code: error.code, message: error.message });
  }
}

/** The JSON in a body. An empty body has the value `empty`. */
function parseJson(body: Body, empty: unknown): Json {
  if (body.type === 'too_large') return { failure: TOO_LARGE };
  if (body.type === 'incomplete') return { failure: badRequest('the body is incomplete') };
  if (body.type === 'not_utf8') return { failure: badRequest('the body is not UTF-8') };
  if (body.text.trim() === '') return { value: empty };
  try {
    return { value: JSON.parse(body.text) };
  } catch {
    return { failure: badRequest('the body is not JSON') };
  }
}

const FIELDS: Readonly<Record<OperatorAction, readonly string[]>> = {
  approve: ['digest'],
  pause: ['reason'],
  resume: [],
  sync: [],
};

/** Unknown fields are refused: with a misspelt `digest` the request would approve any plan that waits. */
function parseFields(
  body: unknown,
  action: OperatorAction,
): Pick<RequestedAction, 'digest' | 'reason'> | { readonly failure: Failure } {
  if (typeof body !== 'object' || body === null || Array.isArray(body)) {
    return { failure: badRequest('the body must be an object, or empty') };
  }
  const fields = FIELDS[action];
  const unknown = Object.keys(body).find((key) => !fields.includes(key));
  if (unknown !== undefined) {
    const allowed = fields.length === 0 ? 'none is allowed here' : `allowed: ${fields.join(', ')}`;
    return { failure: badRequest(`unknown field ${JSON.stringify(unknown.slice(0, 100))}; ${allowed}`) };
  }
  const digest = 'digest' in body ? body.digest : null;
  if (digest !== null && (typeof digest !== 'string' || !PLAN_DIGEST.test(digest))) {
    return {
      failure: badRequest('`digest` must be the digest of a plan, or at least its first eight hex digits'),
    };
  }
  const reason = 'reason' in body ? body.reason : null;
  if (reason !== null && typeof reason !== 'string') {
    return { failure: badRequest('`reason` must be a text') };
  }
  if (!isPauseReason(reason)) return { failure: badRequest(REASON_TOO_LONG) };
  return { digest, reason: reason === null ? null : wellFormed(reason) };
}

function answerOutcome(context: HttpContext, outcome: ActionOutcome): Response {
  const failed = { code: outcome.type, message: OUTCOME_MESSAGES[outcome.type] };
  switch (outcome.type) {
    case 'queued':
      return context.json({ status: outcome.type }, 202);
    case 'paused':
    case 'resumed':
      return context.json({ status: outcome.type });
    case 'approved':
      return context.json({
        status: outcome.type,
        digest: outcome.digest,
        expiresAt: new Date(outcome.expiresAtMs).toISOString(),
      });
    case 'unknown':
      return apiFailure(context, NO_ACCOUNT);
    case 'stopping':
      return apiFailure(context, { status: 503, ...failed });
    case 'left_out':
    case 'nothing_pending':
      return apiFailure(context, { status: 409, ...failed });
    case 'other_plan':
      return apiFailure(context, { status: 409, ...failed, more: { pending: outcome.pending } });
  }
}
