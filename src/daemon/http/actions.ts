// The commands of an operator over HTTP: run now, approve, pause, resume. The forms of the pages post them; the answer is the
// page of the account, which shows its new state, or why nothing was done.
import type { Hono } from 'hono';
import {
  isPauseReason,
  type OperatorRequest,
  OPERATOR_ACTIONS,
  PLAN_DIGEST,
  REASON_TOO_LONG,
} from '../../core/operator.ts';
import type { ActionOutcome, DaemonApi } from '../daemon-api.ts';
import type { Log } from '../log.ts';
import { ACCOUNT, accountPath, type HttpContext, type HttpEnv } from './context.ts';
import { answerFailure, limitBody } from './failure.tsx';
import { badRequest, type Failure, failure, NO_ACCOUNT } from './refusals.ts';

/** Why nothing was done; null when the action was done. */
export function failureOf(outcome: ActionOutcome): Failure | null {
  const refused = (status: 409 | 503, message: string): Failure => failure(status, outcome.type, message);
  switch (outcome.type) {
    case 'unknown':
      return NO_ACCOUNT;
    case 'stopping':
      return refused(503, 'The daemon is stopping, so no new run starts.');
    case 'no_source':
      return refused(
        409,
        'The daemon does not fetch its configuration, because `source.git` is not set; it reads the files of its machine again by itself.',
      );
    case 'nothing_pending':
      return refused(409, 'No plan waits for approval.');
    case 'other_plan':
      return {
        ...refused(
          409,
          'Another plan waits now, so nothing was approved. Review the new plan, then approve it.',
        ),
        more: { pending: outcome.pending },
      };
    case 'queued':
    case 'approved':
    case 'paused':
    case 'resumed':
      return null;
  }
}

/** Of an action or its form. */
export const MAX_BODY_BYTES = 1024 ** 2;

export interface ActionDeps {
  readonly daemon: DaemonApi;
  readonly log: Pick<Log, 'info'>;
}

/** Performs the action, and logs who requested it and from where. */
export async function performFor(
  context: HttpContext,
  request: OperatorRequest,
  { daemon, log }: ActionDeps,
): Promise<ActionOutcome> {
  const by = context.get('visitor')?.name ?? '';
  const outcome = await daemon.operate(request, { name: by, via: 'http' });
  const { action, account, reason = null } = request;
  const who = { event: 'operator_action', action, account, by, address: context.get('address') };
  const details = {
    ...('digest' in outcome ? { digest: outcome.digest } : {}),
    ...(reason === null ? {} : { reason }),
  };
  log.info({ ...who, outcome: outcome.type, ...details }, 'an operator requested an action');
  return outcome;
}

/** Adds the paths that the forms post to. The form that approves contains the plan that was shown, and approves no other. */
export function addPageActions(app: Hono<HttpEnv>, deps: ActionDeps): void {
  for (const action of OPERATOR_ACTIONS) {
    app.post(`/accounts/${ACCOUNT}/${action}`, limitBody(MAX_BODY_BYTES), async (context) => {
      const form = new URLSearchParams(await context.req.text());
      const digest = form.get('digest');
      const reason = action === 'pause' ? form.get('reason')?.trim() || null : null;
      if (!isPauseReason(reason)) return await answerFailure(context, badRequest(REASON_TOO_LONG));
      if (action === 'approve' && (digest === null || !PLAN_DIGEST.test(digest))) {
        return await answerFailure(context, badRequest('The form names no plan to approve.'));
      }
      const name = context.req.param('name');
      const outcome = await performFor(context, { action, account: name, digest, reason }, deps);
      const refused = failureOf(outcome);
      return refused === null
        ? context.redirect(accountPath(name), 303)
        : await answerFailure(context, refused);
    });
  }
}
