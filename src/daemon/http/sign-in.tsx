// How a browser signs in and out: it sends a token once, and has a session from then on.
import type { Hono } from 'hono';
import type { Access } from './access.ts';
import { accountAt, formPageOf } from './account-path.ts';
import type { ActionMessages } from './action-message.ts';
import { readBody } from './body.ts';
import type { HttpContext, HttpEnv } from './context.ts';
import { answerFailure } from './failure.tsx';
import type { HttpLimits } from './limits.ts';
import { localPath } from './local-path.ts';
import { pageText } from './pages/page-text.ts';
import { ReturnPage, SignInPage } from './pages/sign-in-page.tsx';
import { badRequest, type Failure, TOO_LARGE, tooManyAttempts, UNAUTHORIZED } from './refusals.ts';

export const SIGN_IN = '/sign-in';
export const SIGN_OUT = '/sign-out';
interface SignInOptions {
  readonly access: Access;
  readonly limits: HttpLimits;
  readonly messages: ActionMessages;
}

const WRONG_TOKEN: Failure = { ...UNAUTHORIZED, message: 'The token is wrong.' };

/** Adds the form, the path that it posts to, and the path that signs out. */
export function addSignIn(app: Hono<HttpEnv>, { access, limits, messages }: SignInOptions): void {
  app.get(SIGN_IN, async (context) => {
    const page = <SignInPage next={localPath(context.req.query('next') ?? '/')} />;
    return context.html(await pageText(page));
  });

  app.post(SIGN_IN, async (context) => {
    const body = await readBody(context.env.incoming, limits.signInBytes);
    if (body.type === 'too_large') return await answerFailure(context, TOO_LARGE);
    if (body.type !== 'complete') return await answerFailure(context, badRequest('The form is incomplete.'));
    const form = new URLSearchParams(body.text);
    const next = localPath(form.get('next') ?? '/');
    const isNotDone = form.has('not-done');
    const verdict = access.judge(form.get('token') ?? '', context.get('address'));
    switch (verdict.type) {
      case 'throttled':
        return await refuseSignIn(context, tooManyAttempts(verdict.waitMs), { next, isNotDone });
      case 'wrong':
        return await refuseSignIn(context, WRONG_TOKEN, { next, isNotDone });
      case 'right': {
        const { id } = await access.sessions.open(context, verdict.holder);
        const account = isNotDone ? accountAt(next) : null;
        if (account !== null) await messages.leave(context, id, account, 'not_done');
        return context.redirect(next, 303);
      }
    }
  });

  app.post(SIGN_OUT, async (context) => {
    await access.sessions.end(context);
    return context.redirect(SIGN_IN, 303);
  });
}

/**
 * Shows the form instead of a page that needs a session. After signing in, the browser is redirected to the page, and after
 * a form that was not accepted, to the page that the form is on. What a form requests is never done later.
 */
export async function showSignIn(context: HttpContext): Promise<Response> {
  const isReading = context.req.method === 'GET' || context.req.method === 'HEAD';
  const { status, headers = {} } = UNAUTHORIZED;
  const target = context.env.incoming.url ?? '/';
  const formPage = isReading ? null : formPageOf(target);
  const next = localPath(isReading ? target : (formPage ?? '/'));
  const page =
    isReading && comesFromElsewhere(context) ? (
      <ReturnPage />
    ) : (
      <SignInPage next={next} isNotDone={formPage !== null} />
    );
  return context.html(await pageText(page), status, { ...headers });
}

async function refuseSignIn(
  context: HttpContext,
  failure: Failure,
  form: { readonly next: string; readonly isNotDone: boolean },
): Promise<Response> {
  const { status, message, headers = {} } = failure;
  const page = <SignInPage {...form} problem={message} />;
  return context.html(await pageText(page), status, { ...headers });
}

/**
 * Whether the browser followed a link on another site, such as in a chat. It then does not send the strict cookie, so it
 * may be signed in. For a request by our own page it sends the cookie.
 */
function comesFromElsewhere(context: HttpContext): boolean {
  return (
    context.req.header('sec-fetch-site') === 'cross-site' &&
    context.req.header('sec-fetch-mode') === 'navigate'
  );
}
