// The buttons of the pages: forms that post a command of an operator and redirect to the account, which shows the result.
import type { Hono } from 'hono';
import { isPauseReason, OPERATOR_ACTIONS, PLAN_DIGEST, REASON_TOO_LONG } from '../../core/operator.ts';
import { ACCOUNT, accountPath } from './account-path.ts';
import type { ActionMessages } from './action-message.ts';
import { type ActionDeps, performFor } from './actions.ts';
import { readBody } from './body.ts';
import type { HttpEnv } from './context.ts';
import { answerFailure } from './failure.tsx';
import { badRequest, NO_ACCOUNT, TOO_LARGE } from './refusals.ts';

/** Adds the paths that the forms post to. The form that approves contains the plan that was shown, and approves no other. */
export function addPageActions(app: Hono<HttpEnv>, deps: ActionDeps, messages: ActionMessages): void {
  for (const action of OPERATOR_ACTIONS) {
    app.post(`/accounts/${ACCOUNT}/${action}`, async (context) => {
      const body = await readBody(context.env.incoming, deps.limits.bodyBytes);
      if (body.type === 'too_large') return await answerFailure(context, TOO_LARGE);
      if (body.type !== 'complete')
        return await answerFailure(context, badRequest('The form is incomplete.'));
      const form = new URLSearchParams(body.text);
      const digest = form.get('digest');
      const reason = action === 'pause' ? form.get('reason')?.trim() || null : null;
      if (!isPauseReason(reason)) return await answerFailure(context, badRequest(REASON_TOO_LONG));
      if (action === 'approve' && (digest === null || !PLAN_DIGEST.test(digest))) {
        return await answerFailure(context, badRequest('The form names no plan to approve.'));
      }
      const name = context.req.param('name');
      const outcome = await performFor(context, { action, account: name, digest, reason }, deps);
      if (outcome.type === 'unknown') return await answerFailure(context, NO_ACCOUNT);
      const sessionId = context.get('sessionId');
      if (sessionId !== undefined) await messages.leave(context, sessionId, name, outcome.type);
      return context.redirect(accountPath(name), 303);
    });
  }
}
