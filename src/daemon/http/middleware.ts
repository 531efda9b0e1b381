// What a request passes before anything of the daemon is touched: target, host, site, token, role, and whether writing is on.
import type { Access } from './access.ts';
import type { HttpContext, HttpMiddleware } from './context.ts';
import { answerFailure, apiFailure, isApi, wantsPage } from './failure.tsx';
import {
  CROSS_SITE,
  ODD_TARGET,
  READ_ONLY,
  tooManyAttempts,
  UNAUTHORIZED,
  WRITING_OFF,
  WRONG_HOST,
} from './refusals.ts';
import { isLoopbackHost, siteOf } from './request-site.ts';
import { isSoundTarget } from './request-target.ts';
import { sessionOf } from './session-cookie.ts';
import { askToSignIn } from './sign-in.tsx';

/** Whether the method promises to change nothing. */
function isSafe(context: HttpContext): boolean {
  return context.req.method === 'GET' || context.req.method === 'HEAD';
}

export const refuseOddTargets: HttpMiddleware = async (context, next) =>
  isSoundTarget(context.env.incoming.url ?? '') ? await next() : await answerFailure(context, ODD_TARGET);

/** Without a token a page of another site could reach us by a name of its own that leads to loopback. */
export const refuseOtherHosts: HttpMiddleware = async (context, next) =>
  isLoopbackHost(context.req.header('host') ?? '') ? await next() : await answerFailure(context, WRONG_HOST);

/** Also with a bearer token, and for the sign-in form: no page but ours has anything to send here. */
export const refuseOtherSites: HttpMiddleware = async (context, next) =>
  !isSafe(context) && siteOf(context) === 'other' ? await answerFailure(context, CROSS_SITE) : await next();

/** Where no token is set anybody on this machine may look, and nobody may do anything. */
export const refuseWriting: HttpMiddleware = async (context, next) => {
  if (context.req.method === 'POST') return apiFailure(context, WRITING_OFF);
  context.set('visitor', { kind: 'anybody', name: 'anybody', role: 'read' });
  return await next();
};

/** Lets through who shows the token or a session; `open` are the paths that ask for neither. */
export function requireToken(access: Access, open: ReadonlySet<string>): HttpMiddleware {
  return async (context, next) => {
    if (open.has(context.req.path)) return await next();
    const given = /^bearer +(.*)$/i.exec(context.req.header('authorization') ?? '')?.[1];
    if (given !== undefined) {
      const verdict = access.judge(given, context.get('address'));
      if (verdict.type === 'throttled') return await answerFailure(context, tooManyAttempts(verdict.waitMs));
      if (verdict.type === 'wrong') return await answerFailure(context, UNAUTHORIZED);
      context.set('visitor', { kind: 'bearer', ...verdict.holder });
      return await next();
    }
    const session = sessionOf(context);
    const holder = session === undefined ? undefined : access.sessions.holder(session);
    if (holder !== undefined) {
      // A cookie comes along by itself, so that our own page asked must be said by the browser.
      if (!isSafe(context) && siteOf(context) !== 'same') return await answerFailure(context, CROSS_SITE);
      context.set('visitor', { kind: 'session', ...holder });
      return await next();
    }
    return isApi(context) || !wantsPage(context)
      ? await answerFailure(context, UNAUTHORIZED)
      : await askToSignIn(context);
  };
}

/** Refuses whatever could change something to who may only look, except on the paths in `open`. */
export function refuseReaders(open: ReadonlySet<string>): HttpMiddleware {
  return async (context, next) =>
    isSafe(context) || context.get('visitor')?.role === 'operate' || open.has(context.req.path)
      ? await next()
      : await answerFailure(context, READ_ONLY);
}
