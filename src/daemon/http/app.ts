// Joins all paths of the server with the middleware in front of them.
import { Hono } from 'hono';
import { HTTPException } from 'hono/http-exception';
import { StoreError } from '../../core/errors.ts';
import type { Secret } from '../../core/secret.ts';
import type { HttpSettings, Links } from '../../core/settings.ts';
import type { DaemonApi } from '../daemon-api.ts';
import type { Log } from '../log.ts';
import type { Metrics } from '../metrics.ts';
import { createIdentityReader, createTokenJudge, type HttpToken } from './access.ts';
import { addPageActions } from './actions.ts';
import { addApi } from './api.ts';
import { ASSET_CACHING, ASSETS } from './assets.ts';
import { type HttpEnv, PLAN_PATH } from './context.ts';
import { answerFailure } from './failure.tsx';
import {
  closeWhileStopping,
  compressAnswers,
  findAddress,
  findPause,
  isSafe,
  refuseDuringOutage,
  refuseOtherHosts,
  refuseOtherSites,
  refuseReaders,
  refuseWriting,
  requireToken,
  withSecurityHeaders,
} from './middleware.ts';
import { addPages } from './pages/page-routes.tsx';
import { INTERNAL, NOT_FOUND, SIGN_IN_TOO_SLOW, storeFailed } from './refusals.ts';
import { createSessions, addSignIn, SIGN_IN, SIGN_OUT } from './sign-in.tsx';

export interface AppOptions extends Pick<HttpSettings, 'title' | 'trustedProxies' | 'identity'>, Links {
  /** Without tokens anybody on this machine may read, and nobody may write. */
  readonly tokens: readonly HttpToken[];
  /** Signs the cookies of sessions. */
  readonly sessionKey: () => Promise<Secret>;
  readonly daemon: DaemonApi;
  readonly metrics: Pick<Metrics, 'contentType' | 'text' | 'wrongToken' | 'connectionDropped'>;
  /** What is not ready, as messages; empty when everything is ready. */
  readonly notReady: () => Promise<readonly string[]>;
  /** Aborts when the database cannot be reached, with the StoreError as its reason. */
  readonly outage: () => AbortSignal;
  readonly log: Pick<Log, 'info' | 'warn' | 'error'>;
  readonly nowMs: () => number;
  /** The clock of wrong tokens, which nobody can set. */
  readonly steadyMs: () => number;
}

const PROBES = ['/healthz', '/readyz', '/metrics'];
const WITHOUT_TOKEN = [...PROBES, SIGN_IN, ...ASSETS.map(({ path }) => path)];
/** Requests of readers too: a plan writes nothing, and everybody may sign out. */
const WITHOUT_ROLE = [PLAN_PATH, SIGN_OUT];

/** A request reaches the daemon only after all middleware has accepted it. */
export function buildApp(options: AppOptions): Hono<HttpEnv> {
  const { tokens, daemon, log, metrics, nowMs, steadyMs, sessionKey, title, commitsAt, publicUrl } = options;
  const base = new URL(publicUrl ?? 'http://localhost').pathname.replace(/\/$/, '');
  const app = new Hono<HttpEnv>();
  const duringOutage = refuseDuringOutage(options.outage, new Set(WITHOUT_TOKEN));
  app.use(
    closeWhileStopping(() => daemon.isStopping()),
    withSecurityHeaders,
    compressAnswers,
    async (context, next) => {
      context.set('page', { nowMs: nowMs(), title, commitsAt, publicUrl, base });
      await next();
      const location = context.res.headers.get('location');
      if (location !== null) context.res.headers.set('location', base + location);
    },
    findAddress(options.trustedProxies),
  );
  if (tokens.length === 0 && options.identity === undefined) {
    app.use(refuseOtherHosts, refuseOtherSites, duringOutage, refuseWriting);
  } else {
    const judge = createTokenJudge({
      tokens,
      steadyMs,
      onWrong(address, verdict) {
        metrics.wrongToken();
        // Further attempts are counted, not logged: they would fill the log.
        if (verdict === 'wrong') log.warn({ event: 'wrong_token', address }, 'a request had a wrong token');
      },
    });
    const sessions = createSessions({ tokens, sessionKey, nowMs });
    app.use(
      refuseOtherSites,
      duringOutage,
      requireToken({ identityOf: createIdentityReader(options), judge, sessions }, new Set(WITHOUT_TOKEN)),
      refuseReaders(new Set([...WITHOUT_TOKEN, ...WITHOUT_ROLE])),
    );
    addSignIn(app, judge, sessions);
  }
  addProbes(app, options);
  for (const { path, type, text } of ASSETS)
    app.get(path, (context) =>
      context.body(text, 200, { 'content-type': type, 'cache-control': ASSET_CACHING }),
    );
  app.use(findPause(() => daemon.pauseOfAll()));
  addApi(app, { daemon, log });
  addPages(app, daemon);
  addPageActions(app, { daemon, log });
  app.notFound((context) => answerFailure(context, NOT_FOUND));
  app.onError((error, context) => {
    if (error instanceof HTTPException) return answerFailure(context, SIGN_IN_TOO_SLOW);
    const { method, path } = context.req;
    // The client has left. The watch of the store logs an outage once; it may not notice any other failure.
    const hasLeft = context.req.raw.signal.aborted;
    if (!hasLeft && !(error instanceof StoreError && error.code === 'store_unavailable'))
      log.error({ event: 'http_failed', method, path, error: error.message }, 'a request failed');
    // The message of a StoreError is made for operators; that of any other error appears only in the log.
    return answerFailure(
      context,
      error instanceof StoreError ? storeFailed(error, !isSafe(context)) : INTERNAL,
    );
  });
  return app;
}

function addProbes(app: Hono<HttpEnv>, { metrics, notReady }: AppOptions): void {
  app.get('/healthz', (context) => context.text('ok\n'));
  app.get('/readyz', async (context) => {
    const reasons = await notReady();
    return reasons.length === 0
      ? context.text('ok\n')
      : context.text(reasons.map((reason) => `${reason}\n`).join(''), 503);
  });
  app.get('/metrics', async (context) =>
    context.body(await metrics.text(), 200, { 'content-type': metrics.contentType }),
  );
}
