// The writing half of the API: the operator's words, and plans of configurations that are posted.
import type { Hono } from 'hono';
import { ConfigError, UsageError } from '../../core/errors.ts';
import { PLAN_DIGEST } from '../../core/operator.ts';
import type { DaemonApi } from '../daemon-api.ts';
import {
  type Action,
  type ActionDeps,
  type ActionOutcome,
  ACTIONS,
  OUTCOME_WORDS,
  performFor,
} from './actions.ts';
import { type Body, readBody, readBytes } from './body.ts';
import type { HttpContext, HttpEnv } from './context.ts';
import { apiFailure } from './failure.tsx';
import { createPlanQueue } from './plan-queue.ts';
import { badRequest, type Failure, NO_ACCOUNT, TOO_LARGE, TOO_MANY_PLANS } from './refusals.ts';

type Json = { readonly value: unknown } | { readonly failure: Failure };

/** Adds the paths that change something, or that have to be told much before they answer. */
/** Bodies that one holder of a token may be sending at once. */
const MOST_ARRIVING = 6;

export function addApiActions(app: Hono<HttpEnv>, deps: ActionDeps): void {
  const { daemon, limits } = deps;
  for (const action of ACTIONS) {
    app.post(`/api/v1/accounts/:name{[A-Za-z0-9._-]+}/${action}`, async (context) => {
      const body = parseJson(await readBody(context.env.incoming, limits.bodyBytes), {});
      if ('failure' in body) return apiFailure(context, body.failure);
      const digest = parseDigest(body.value, action);
      if ('failure' in digest) return apiFailure(context, digest.failure);
      const account = context.req.param('name');
      return answerOutcome(
        context,
        await performFor(context, { action, account, digest: digest.value }, deps),
      );
    });
  }

  const queue = createPlanQueue();
  /** How many bodies each holder of a token is sending. */
  const arriving = new Map<string, number>();
  app.post('/api/v1/plan', async (context) => {
    // Whoever sends bodies slowly takes the places of nobody else.
    const sender = context.get('visitor')?.name ?? '';
    if (queue.isFull() || (arriving.get(sender) ?? 0) >= MOST_ARRIVING)
      return apiFailure(context, TOO_MANY_PLANS);
    // Planning waits for the service, in silence, for as long as that takes.
    context.env.incoming.setTimeout(limits.planIdleMs);
    arriving.set(sender, (arriving.get(sender) ?? 0) + 1);
    const body = await readBytes(context.env.incoming, limits.planBytes).finally(() =>
      arriving.set(sender, (arriving.get(sender) ?? 1) - 1),
    );
    if (body.type === 'too_large') return apiFailure(context, TOO_LARGE);
    if (body.type === 'incomplete') return apiFailure(context, badRequest('the body is incomplete'));
    const ticket = queue.enter();
    if (ticket === null) return apiFailure(context, TOO_MANY_PLANS);
    try {
      await ticket.turn;
      const isGone = context.env.outgoing.destroyed;
      return isGone
        ? apiFailure(context, badRequest('the client is gone'))
        : await answerPlan(context, daemon, body.bytes);
    } finally {
      ticket.leave();
    }
  });
}

/** Whoever posted the files can fix what is wrong with them. */
async function answerPlan(context: HttpContext, daemon: DaemonApi, body: Uint8Array): Promise<Response> {
  try {
    const outcome = await daemon.plan(body);
    return 'problem' in outcome
      ? apiFailure(context, badRequest(outcome.problem))
      : context.json(outcome.plans);
  } catch (error) {
    if (!(error instanceof ConfigError || error instanceof UsageError)) throw error;
    return apiFailure(context, { status: 400, code: error.code, message: error.message });
  }
}

/** The JSON in a body; `empty` is what an empty one stands for, where it may be empty. */
function parseJson(body: Body, empty?: unknown): Json {
  if (body.type === 'too_large') return { failure: TOO_LARGE };
  if (body.type === 'incomplete') return { failure: badRequest('the body is incomplete') };
  if (body.type === 'no_text') return { failure: badRequest('the body is not UTF-8') };
  if (body.text.trim() === '' && empty !== undefined) return { value: empty };
  try {
    return { value: JSON.parse(body.text) };
  } catch {
    return { failure: badRequest('the body is not JSON') };
  }
}

/** A misspelt `digest` must not approve whatever happens to wait. */
function parseDigest(
  body: unknown,
  action: Action,
): { readonly value: string | null } | { readonly failure: Failure } {
  if (typeof body !== 'object' || body === null || Array.isArray(body)) {
    return { failure: badRequest('the body must be an object, or empty') };
  }
  const fields: readonly string[] = action === 'approve' ? ['digest'] : [];
  const unknown = Object.keys(body).find((key) => !fields.includes(key));
  if (unknown !== undefined) {
    return { failure: badRequest(`${JSON.stringify(unknown.slice(0, 100))} is not known here`) };
  }
  if (!('digest' in body) || body.digest === null) return { value: null };
  if (typeof body.digest !== 'string' || !PLAN_DIGEST.test(body.digest)) {
    return { failure: badRequest('`digest` must be that of a plan, or at least its first eight hex digits') };
  }
  return { value: body.digest };
}

function answerOutcome(context: HttpContext, outcome: ActionOutcome): Response {
  const failed = { code: outcome.type, message: OUTCOME_WORDS[outcome.type] };
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
    case 'nothing_pending':
      return apiFailure(context, { status: 409, ...failed });
    case 'other_plan':
      return apiFailure(context, { status: 409, ...failed, more: { pending: outcome.pending } });
  }
}
