// Carries the result of a button to the page that the browser is redirected to: in a signed cookie, since everybody can
// write anything into an address.
import type { Secret } from '../../core/secret.ts';
import { accountPath } from './account-path.ts';
import { type ActionOutcome, OUTCOME_MESSAGES } from './actions.ts';
import type { HttpContext } from './context.ts';
import { SESSION_LIFE_MS } from './sessions.ts';
import { signedCookie } from './signed-cookie.ts';

/** `not_done`: the session had expired when the button was pressed. */
export type ActionMessage = ActionOutcome['type'] | 'not_done';

export const ACTION_MESSAGES: Readonly<Record<ActionMessage, string>> = {
  ...OUTCOME_MESSAGES,
  not_done: 'Your session had ended, so nothing was done. Repeat the action if you still want it.',
};

/** A message that no page has shown by then is dropped: later it would look like news. */
const MESSAGE_LIFE_MS = 60_000;

export interface ActionMessages {
  /** Keeps the message for the next page of the account in this session. */
  leave(context: HttpContext, sessionId: string, account: string, message: ActionMessage): Promise<void>;
  /**
   * The message for this page of the account; null when there is none. It is shown once, or, while the account is changing,
   * each time the page is loaded again: until the run ends or the reader visits another page.
   */
  take(context: HttpContext, account: string, isChanging: boolean): Promise<ActionMessage | null>;
}

export function createActionMessages(sessionKey: Secret, nowMs: () => number): ActionMessages {
  const cookie = signedCookie('rolecall_message', sessionKey);
  const write = async (context: HttpContext, fields: URLSearchParams, lifeMs: number): Promise<void> => {
    fields.set('end', String(nowMs() + lifeMs));
    await cookie.write(context, fields.toString(), lifeMs);
  };
  return {
    async leave(context, sessionId, account, message) {
      await write(context, new URLSearchParams({ session: sessionId, account, message }), MESSAGE_LIFE_MS);
    },
    async take(context, account, isChanging) {
      // A HEAD request shows nothing.
      if (context.req.method !== 'GET') return null;
      const fields = new URLSearchParams(await cookie.read(context));
      const isOfPage =
        fields.get('account') === account && fields.get('session') === context.get('sessionId');
      if (!isOfPage) return null;
      const mayShow = !fields.has('shown') || (isChanging && !isVisitedFromElsewhere(context, account));
      const isCurrent = mayShow && nowMs() < Number(fields.get('end'));
      if (isCurrent && isChanging) {
        fields.set('shown', 'yes');
        await write(context, fields, SESSION_LIFE_MS);
      } else {
        cookie.remove(context);
      }
      const message = fields.get('message') ?? '';
      return isCurrent && isMessage(message) ? message : null;
    },
  };
}

/** Whether the reader followed a link on another page. A browser that loads a page again does not name another page. */
function isVisitedFromElsewhere(context: HttpContext, account: string): boolean {
  const referer = context.req.header('referer') ?? '';
  return URL.canParse(referer) && new URL(referer).pathname !== accountPath(account);
}

function isMessage(name: string): name is ActionMessage {
  return Object.hasOwn(ACTION_MESSAGES, name);
}
