// Carries the result of a button to the page that the browser is redirected to: in its session, since everybody can write
// anything into an address.
import { type ActionOutcome, OUTCOME_MESSAGES } from './actions.ts';
import type { HttpContext } from './context.ts';

/** Keeps the result for the next page of the account. Without a session nobody sees it. */
export function leaveOutcome(context: HttpContext, account: string, outcome: ActionOutcome['type']): void {
  context.get('messages')?.leave(account, outcome);
}

/** The result of the button that led to this page of the account, once; null when there is none. */
export function takeOutcome(context: HttpContext, account: string): ActionOutcome['type'] | null {
  // A HEAD request shows nothing.
  const text = context.req.method === 'GET' ? context.get('messages')?.take(account) : undefined;
  const isOutcome = (name: string): name is ActionOutcome['type'] => Object.hasOwn(OUTCOME_MESSAGES, name);
  return text !== undefined && isOutcome(text) ? text : null;
}
