// The commands of an operator over HTTP: run now, approve, pause, resume. The forms of the pages post them, and redirect to
// the account, which shows the result.
import type { Hono } from 'hono';
import { bodyLimit } from 'hono/body-limit';
import { deleteCookie, getCookie, setCookie } from 'hono/cookie';
import {
  isPauseReason,
  type Operator,
  type OperatorAction,
  OPERATOR_ACTIONS,
  PLAN_DIGEST,
  REASON_TOO_LONG,
} from '../../core/operator.ts';
import type { DaemonApi } from '../daemon-api.ts';
import type { Log } from '../log.ts';
import { ACCOUNT, accountPath } from './account-path.ts';
import type { HttpContext, HttpEnv } from './context.ts';
import { answerFailure } from './failure.tsx';
import { badRequest, NO_ACCOUNT, TOO_LARGE } from './refusals.ts';
import { isHttps } from './request-checks.ts';

/** `unknown`: there is no such account. */
export type ActionOutcome =
  | {
      readonly type:
        'queued' | 'stopping' | 'unknown' | 'left_out' | 'paused' | 'resumed' | 'nothing_pending';
    }
  | { readonly type: 'approved'; readonly digest: string; readonly expiresAtMs: number }
  | { readonly type: 'other_plan'; readonly pending: string };

/** Each outcome as a message. */
export const OUTCOME_MESSAGES: Readonly<Record<ActionOutcome['type'], string>> = {
  queued: 'A run is queued. It starts when a place is free, and after a run that is in progress.',
  stopping: 'The daemon is stopping, so no new run starts.',
  unknown: 'There is no such account.',
  left_out:
    'The newest configuration of the replicas has no such account, so no run is queued. A newer commit removed it, or not all replicas have its file yet.',
  approved:
    'The plan is approved: the next run applies it (in mode plan it only accepts the lists), unless the account or its file changes before.',
  nothing_pending: 'No plan waits for approval.',
  other_plan: 'Another plan waits now, so nothing was approved. Review the new plan, then approve it.',
  paused: 'The account is paused: no scheduled run starts.',
  resumed: 'The account runs on its schedule again.',
};

/** Of an action or its form. */
export const MAX_BODY_BYTES = 1024 ** 2;

export interface ActionDeps {
  readonly daemon: DaemonApi;
  readonly log: Pick<Log, 'info'>;
}

export interface RequestedAction {
  readonly action: OperatorAction;
  readonly account: string;
  /** The plan to approve; null approves the plan that waits now. */
  readonly digest: string | null;
  /** Why an account is paused. */
  readonly reason: string | null;
}

/** Performs the action, and logs who requested it and from where. */
export async function performFor(
  context: HttpContext,
  request: RequestedAction,
  { daemon, log }: ActionDeps,
): Promise<ActionOutcome> {
  const by = context.get('visitor')?.name ?? '';
  const outcome = await perform(daemon, request, { name: by, via: 'http' });
  const { action, account, reason } = request;
  const details = {
    ...('digest' in outcome ? { digest: outcome.digest } : {}),
    ...(reason === null ? {} : { reason }),
  };
  log.info(
    {
      event: 'operator_action',
      action,
      account,
      by,
      address: context.get('address'),
      outcome: outcome.type,
      ...details,
    },
    'an operator requested an action',
  );
  return outcome;
}

/** Performs the action for the operator. */
export async function perform(
  daemon: DaemonApi,
  { action, account, digest, reason }: RequestedAction,
  by: Operator,
): Promise<ActionOutcome> {
  switch (action) {
    case 'sync':
      return { type: await daemon.sync(account, by) };
    case 'approve':
      return await daemon.approve(account, digest, by);
    case 'pause':
      return { type: (await daemon.pause(account, reason, by)) ? 'paused' : 'unknown' };
    case 'resume':
      return { type: (await daemon.resume(account, by)) ? 'resumed' : 'unknown' };
  }
}

/** `not_done`: the session had expired when the button was pressed. */
export type ActionMessage = ActionOutcome['type'] | 'not_done';

export const ACTION_MESSAGES: Readonly<Record<ActionMessage, string>> = {
  ...OUTCOME_MESSAGES,
  not_done: 'Your session had ended, so nothing was done. Repeat the action if you still want it.',
};

const COOKIE = 'rolecall_message';
/** A message that no page has shown by then is dropped: later it would look like news. */
const LIFE_S = 60;

/** Keeps the message for the next page of the account in this browser. */
export function leaveMessage(context: HttpContext, account: string, message: ActionMessage): void {
  const options = { path: accountPath(account), httpOnly: true, secure: isHttps(context), maxAge: LIFE_S };
  setCookie(context, COOKIE, message, { ...options, sameSite: 'Strict' });
}

/**
 * The message for this page of the account; null when there is none. It is shown once, or, while the account is changing,
 * each time the page is loaded again.
 */
export function takeMessage(
  context: HttpContext,
  account: string,
  isChanging: boolean,
): ActionMessage | null {
  const message = getCookie(context, COOKIE);
  if (message === undefined) return null;
  if (!isChanging) deleteCookie(context, COOKIE, { path: accountPath(account) });
  return Object.hasOwn(ACTION_MESSAGES, message) ? (message as ActionMessage) : null; // a key of the messages
}

const limitForm = bodyLimit({
  maxSize: MAX_BODY_BYTES,
  onError: (context: HttpContext) => answerFailure(context, TOO_LARGE),
});

/** Adds the paths that the forms post to. The form that approves contains the plan that was shown, and approves no other. */
export function addPageActions(app: Hono<HttpEnv>, deps: ActionDeps): void {
  for (const action of OPERATOR_ACTIONS) {
    app.post(`/accounts/${ACCOUNT}/${action}`, limitForm, async (context) => {
      const form = new URLSearchParams(await context.req.text());
      const digest = form.get('digest');
      const reason = action === 'pause' ? form.get('reason')?.trim() || null : null;
      if (!isPauseReason(reason)) return await answerFailure(context, badRequest(REASON_TOO_LONG));
      if (action === 'approve' && (digest === null || !PLAN_DIGEST.test(digest))) {
        return await answerFailure(context, badRequest('The form names no plan to approve.'));
      }
      const name = context.req.param('name');
      const outcome = await performFor(context, { action, account: name, digest, reason }, deps);
      if (outcome.type === 'unknown') return await answerFailure(context, NO_ACCOUNT);
      if (context.get('visitor')?.kind === 'session') leaveMessage(context, name, outcome.type);
      return context.redirect(accountPath(name), 303);
    });
  }
}
