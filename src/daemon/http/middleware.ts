// Checks requests before they reach the daemon: host, site, token, role, and whether the store is available and
// writing is on. And what every answer has: its headers, and its compression.
import { compress } from 'hono/compress';
import { secureHeaders } from 'hono/secure-headers';
import proxyAddr from 'proxy-addr';
import { StoreError } from '../../core/errors.ts';
import { describePause, type PauseOfAll } from '../../core/operator.ts';
import type { JudgeToken, ReadIdentity } from './access.ts';
import {
  type HttpContext,
  type HttpMiddleware,
  PLAN_PATH,
  isHttps,
  isLoopbackHost,
  siteOf,
} from './context.ts';
import { answerFailure, apiFailure, isApi, wantsPage } from './failure.tsx';
import {
  crossSite,
  READ_ONLY,
  storeFailed,
  tooManyAttempts,
  UNAUTHORIZED,
  WRITING_OFF,
  WRONG_HOST,
} from './refusals.ts';
import { type Sessions, showSignIn } from './sign-in.tsx';

/** Whether the method must not change anything. */
export function isSafe(context: HttpContext): boolean {
  return context.req.method === 'GET' || context.req.method === 'HEAD';
}

/**
 * Keeps no connection open while the process stops: the next request of its client must reach another process. And none
 * for a body that nobody reads, which could take long.
 */
export function closeWhileStopping(isStopping: () => boolean): HttpMiddleware {
  return async (context, next) => {
    const { 'content-length': length, 'transfer-encoding': encoding } = context.env.incoming.headers;
    const isUnread = isSafe(context) && (length ?? encoding) !== undefined;
    if (isStopping() || isUnread) context.env.outgoing.shouldKeepAlive = false;
    await next();
  };
}

/** Finds the client: the rightmost address that is not a trusted proxy, because it can invent everything to its left. */
export function findAddress(trustedProxies: readonly string[]): HttpMiddleware {
  const trust = proxyAddr.compile([...trustedProxies]);
  return async (context, next) => {
    context.set('address', proxyAddr(context.env.incoming, trust));
    await next();
  };
}

/** Finds out what stops all accounts, for pages and plans. During a failure of the store they show only that. */
export function findPause(pauseOfAll: () => Promise<PauseOfAll | null>): HttpMiddleware {
  return async (context, next) => {
    if (wantsPage(context) || context.req.path === PLAN_PATH)
      context.set('pause', describePause(await pauseOfAll().catch(() => null)));
    await next();
  };
}

/** While the database cannot be reached, refuses everything but the paths in `open`, at once instead of after a timeout. */
export function refuseDuringOutage(outage: () => AbortSignal, open: ReadonlySet<string>): HttpMiddleware {
  return async (context, next) => {
    const { aborted, reason } = outage();
    if (!aborted || open.has(context.req.path)) return await next();
    const error = reason instanceof StoreError ? reason : new StoreError('store_unavailable', String(reason));
    return await answerFailure(context, storeFailed(error, false));
  };
}

/** Without a token, a page of another site could reach this server through a host name of its own that resolves to loopback. */
export const refuseOtherHosts: HttpMiddleware = async (context, next) =>
  isLoopbackHost(context.req.header('host') ?? '') ? await next() : await answerFailure(context, WRONG_HOST);

const refuseSite = (context: HttpContext) => answerFailure(context, crossSite(context));

/** Also with a bearer token, and for the sign-in form: no page of another site may send anything here. */
export const refuseOtherSites: HttpMiddleware = async (context, next) =>
  !isSafe(context) && siteOf(context) === 'other' ? await refuseSite(context) : await next();

/** Without a configured token anybody on this machine may read, and nobody may write. */
export const refuseWriting: HttpMiddleware = async (context, next) => {
  if (context.req.method === 'POST') return apiFailure(context, WRITING_OFF);
  context.set('visitor', { kind: 'anybody', name: 'anybody', role: 'read' });
  return await next();
};

/** What `requireToken` finds out by who sent a request. */
interface Identification {
  readonly identityOf: ReadIdentity;
  readonly judge: JudgeToken;
  readonly sessions: Sessions;
}

/** Accepts requests of somebody whom a proxy names, or with a token or a session. The paths in `open` need none of them. */
export function requireToken(
  { identityOf, judge, sessions }: Identification,
  open: ReadonlySet<string>,
): HttpMiddleware {
  return async (context, next) => {
    if (open.has(context.req.path)) return await next();
    const identity = identityOf(context.env.incoming);
    if (identity !== null) {
      // A browser is known to the proxy by itself, as by a cookie; the API is for programs, which name no page.
      const isForm = !isSafe(context) && !isApi(context);
      if (isForm && siteOf(context) !== 'same') return await refuseSite(context);
      context.set('visitor', { kind: 'proxy', ...identity });
      return await next();
    }
    const given = /^bearer +(.*)$/i.exec(context.req.header('authorization') ?? '')?.[1];
    if (given !== undefined) {
      const verdict = judge(given, context.get('address'));
      if (verdict.type === 'throttled') return await answerFailure(context, tooManyAttempts(verdict.waitMs));
      if (verdict.type === 'wrong') return await answerFailure(context, UNAUTHORIZED);
      context.set('visitor', { kind: 'bearer', ...verdict.holder });
      return await next();
    }
    const holder = await sessions.find(context);
    if (holder !== undefined) {
      // A browser sends the cookie by itself, so it must also report that a page of this server sent the request.
      if (!isSafe(context) && siteOf(context) !== 'same') return await refuseSite(context);
      context.set('visitor', { kind: 'session', ...holder });
      return await next();
    }
    return isApi(context) || !wantsPage(context)
      ? await answerFailure(context, UNAUTHORIZED)
      : await showSignIn(context);
  };
}

/** Refuses requests of readers that could change something, except on the paths in `open`. */
export function refuseReaders(open: ReadonlySet<string>): HttpMiddleware {
  return async (context, next) =>
    isSafe(context) || context.get('visitor')?.role === 'operate' || open.has(context.req.path)
      ? await next()
      : await answerFailure(context, READ_ONLY);
}

/**
 * Pages contain text, our own stylesheet, script and icon, and forms that send to this server; no frame, no font, and
 * nothing inline. The script reads from this server only.
 */
const HEADERS = {
  contentSecurityPolicy: {
    defaultSrc: ["'none'"],
    styleSrc: ["'self'"],
    scriptSrc: ["'self'"],
    imgSrc: ["'self'"],
    connectSrc: ["'self'"],
    formAction: ["'self'"],
    frameAncestors: ["'none'"],
    baseUri: ["'none'"],
  },
  xFrameOptions: 'DENY',
  originAgentCluster: false,
  xDnsPrefetchControl: false,
  xDownloadOptions: false,
  xPermittedCrossDomainPolicies: false,
  xXssProtection: false,
} satisfies Parameters<typeof secureHeaders>[0];

const overHttp = secureHeaders({ ...HEADERS, strictTransportSecurity: false });
const overHttps = secureHeaders({ ...HEADERS, strictTransportSecurity: 'max-age=31536000' });

/** Adds the security headers to every answer, including errors. An answer without a `cache-control` is not cached. */
export const withSecurityHeaders: HttpMiddleware = async (context, next) => {
  await (isHttps(context) ? overHttps : overHttp)(context, next);
  if (!context.res.headers.has('cache-control')) context.res.headers.set('cache-control', 'no-store');
};

/** Pages contain no secret beside what a client sent, so their compressed size reveals none. */
export const compressAnswers: HttpMiddleware = compress({ encoding: 'gzip' });
