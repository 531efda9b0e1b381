// How a browser signs in and out: it sends a token once, and has a session from then on.
import type { Hono } from 'hono';
import type { Access } from './access.ts';
import { readBody } from './body.ts';
import type { HttpContext, HttpEnv } from './context.ts';
import { answerFailure } from './failure.tsx';
import type { HttpLimits } from './limits.ts';
import { localPath } from './local-path.ts';
import { pageText } from './pages/page-text.ts';
import { ReturnPage, SignInPage } from './pages/sign-in-page.tsx';
import { badRequest, type Failure, TOO_LARGE, tooManyAttempts, UNAUTHORIZED } from './refusals.ts';
import { setSessionCookie, sessionOf, deleteSessionCookie } from './session-cookie.ts';

export const SIGN_IN = '/sign-in';
export const SIGN_OUT = '/sign-out';
const WRONG_TOKEN: Failure = { ...UNAUTHORIZED, message: 'The token is wrong.' };

/** Adds the form, the path that it posts to, and the path that signs out. */
export function addSignIn(app: Hono<HttpEnv>, access: Access, limits: HttpLimits): void {
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
    const verdict = access.judge(form.get('token') ?? '', context.get('address'));
    switch (verdict.type) {
      case 'throttled':
        return await refuseSignIn(context, tooManyAttempts(verdict.waitMs), next);
      case 'wrong':
        return await refuseSignIn(context, WRONG_TOKEN, next);
      case 'right':
        setSessionCookie(context, access.sessions.open(verdict.holder));
        return context.redirect(next, 303);
    }
  });

  app.post(SIGN_OUT, (context) => {
    const session = sessionOf(context);
    if (session !== undefined) access.sessions.close(session);
    deleteSessionCookie(context);
    return context.redirect(SIGN_IN, 303);
  });
}

/** Shows the form instead of a page that needs a session. After signing in, the browser is redirected to the page. */
export async function showSignIn(context: HttpContext): Promise<Response> {
  const isReading = context.req.method === 'GET' || context.req.method === 'HEAD';
  const { status, headers = {} } = UNAUTHORIZED;
  const next = isReading ? localPath(context.env.incoming.url ?? '/') : '/';
  const page = isReading && comesFromElsewhere(context) ? <ReturnPage /> : <SignInPage next={next} />;
  return context.html(await pageText(page), status, { ...headers });
}

async function refuseSignIn(context: HttpContext, failure: Failure, next: string): Promise<Response> {
  const { status, message, headers = {} } = failure;
  const page = <SignInPage next={next} problem={message} />;
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
