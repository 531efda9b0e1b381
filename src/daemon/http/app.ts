// Joins all paths of the server with the middleware in front of them.
import { Hono } from 'hono';
import { methodNotAllowed as withAllowedMethods } from 'hono/method-not-allowed';
import { StoreError } from '../../core/errors.ts';
import type { EndedSessions } from '../../core/ended-sessions.ts';
import type { Secret } from '../../core/secret.ts';
import type { Log } from '../log.ts';
import type { Metrics } from '../metrics.ts';
import type { DaemonApi } from '../daemon-api.ts';
import { createAccess } from './access.ts';
import { createActionMessages } from './action-message.ts';
import { type Asset, ASSET_CACHING, ASSETS } from './assets.ts';
import { addApiActions } from './api-actions.ts';
import { addApiReads } from './api-reads.ts';
import { findAddress } from './client-address.ts';
import { compressAnswers } from './compression.ts';
import type { HttpEnv } from './context.ts';
import { answerFailure } from './failure.tsx';
import {
  closeWhileStopping,
  isSafe,
  refuseMalformedTargets,
  refuseOtherHosts,
  refuseOtherSites,
  refuseReaders,
  refuseWriting,
  requireToken,
} from './middleware.ts';
import type { HttpLimits } from './limits.ts';
import { refuseDuringOutage } from './outage.ts';
import { addPageActions } from './page-actions.ts';
import { addOverview } from './pages/overview-routes.tsx';
import { addPages, type PagesOptions } from './pages/page-routes.tsx';
import { takeTurns } from './request-turns.ts';
import { INTERNAL, methodNotAllowed, NOT_FOUND, storeFailed } from './refusals.ts';
import { withSecurityHeaders } from './security-headers.ts';
import { sendPieces } from './send-pieces.ts';
import { addSignIn, SIGN_IN, SIGN_OUT } from './sign-in.tsx';
import type { HttpToken } from './tokens.ts';

export interface AppOptions {
  /** Without tokens anybody on this machine may read, and nobody may write. */
  readonly tokens: readonly HttpToken[];
  /** Signs the cookies of sessions. */
  readonly sessionKey: Secret;
  readonly endedSessions: EndedSessions;
  /** Addresses and networks whose `X-Forwarded-For` is trusted. */
  readonly trustedProxies: readonly string[];
  readonly daemon: DaemonApi;
  readonly showPage: PagesOptions['showPage'];
  readonly metrics: Pick<Metrics, 'contentType' | 'text' | 'wrongToken' | 'connectionDropped'>;
  /** What is not ready, as messages; empty when everything is ready. */
  readonly notReady: () => Promise<readonly string[]>;
  /** Aborts when the database cannot be reached, with the StoreError as its reason. */
  readonly outage: () => AbortSignal;
  readonly log: Pick<Log, 'info' | 'warn' | 'error'>;
  readonly limits: HttpLimits;
  readonly nowMs: () => number;
  /** The clock of wrong tokens, which nobody can set. */
  readonly steadyMs: () => number;
}

const PROBES = ['/healthz', '/readyz', '/metrics'];
const WITHOUT_TOKEN = [...PROBES, SIGN_IN, ...ASSETS.map(({ path }) => path)];
/** Requests of readers too: a plan writes nothing, and everybody may sign out. */
const WITHOUT_ROLE = ['/api/v1/plan', SIGN_OUT];

/** A request reaches the daemon only after all middleware has accepted it. */
export function buildApp(options: AppOptions): Hono<HttpEnv> {
  const { tokens, daemon, log, metrics, limits, nowMs, steadyMs, sessionKey } = options;
  const messages = createActionMessages(sessionKey, nowMs);
  const app = new Hono<HttpEnv>();
  const duringOutage = refuseDuringOutage(options.outage, new Set(WITHOUT_TOKEN));
  app.use(
    closeWhileStopping(() => daemon.isStopping()),
    compressAnswers,
    withSecurityHeaders,
    findAddress(options.trustedProxies),
    refuseMalformedTargets,
  );
  if (tokens.length === 0) {
    app.use(refuseOtherHosts, refuseOtherSites, duringOutage, refuseWriting);
  } else {
    const access = createAccess({
      tokens,
      sessionKey,
      endedSessions: options.endedSessions,
      nowMs,
      steadyMs,
      onWrong(address, verdict) {
        metrics.wrongToken();
        // Further attempts are counted, not logged: they would fill the log.
        if (verdict === 'wrong') log.warn({ event: 'wrong_token', address }, 'a request had a wrong token');
      },
    });
    app.use(
      refuseOtherSites,
      duringOutage,
      requireToken(access, new Set(WITHOUT_TOKEN)),
      refuseReaders(new Set([...WITHOUT_TOKEN, ...WITHOUT_ROLE])),
    );
    addSignIn(app, { access, limits, messages });
  }
  app.use(
    withAllowedMethods({
      app,
      onMethodNotAllowed: (context, methods) => answerFailure(context, methodNotAllowed(methods)),
    }),
  );
  app.use(takeTurns(new Set(PROBES), limits));
  addProbes(app, options);
  for (const asset of ASSETS) addAsset(app, asset);
  addApiReads(app, { daemon, log, nowMs });
  addApiActions(app, { daemon, log, limits });
  addOverview(app, daemon, nowMs);
  addPages(app, { ...options, messages });
  addPageActions(app, { daemon, log, limits }, messages);
  app.notFound((context) => answerFailure(context, NOT_FOUND));
  app.onError((error, context) => {
    const { method, path } = context.req;
    // The watch of the store logs an outage once. It may not notice any other failure.
    if (!(error instanceof StoreError && error.code === 'store_unavailable'))
      log.error({ event: 'http_failed', method, path, error: error.message }, 'a request failed');
    // The message of a StoreError is made for operators; that of any other error appears only in the log.
    return answerFailure(
      context,
      error instanceof StoreError ? storeFailed(error, !isSafe(context)) : INTERNAL,
    );
  });
  return app;
}

function addAsset(app: Hono<HttpEnv>, { path, type, text }: Asset): void {
  app.get(path, (context) =>
    context.body(text, 200, { 'content-type': type, 'cache-control': ASSET_CACHING }),
  );
}

function addProbes(app: Hono<HttpEnv>, { metrics, notReady, log, limits }: AppOptions): void {
  app.get('/healthz', (context) => context.text('ok\n'));
  app.get('/readyz', async (context) => {
    const reasons = await notReady();
    return reasons.length === 0
      ? context.text('ok\n')
      : context.text(reasons.map((reason) => `${reason}\n`).join(''), 503);
  });
  const scraping: string[] = [];
  app.get('/metrics', async (context) => {
    const address = context.get('address');
    const ofClient = scraping.filter((each) => each === address).length;
    if (scraping.length >= limits.scrapes || ofClient >= limits.scrapesPerClient)
      return context.text('too many scrapes at the same time\n', 503, { 'retry-after': '10' });
    scraping.push(address);
    const headers = { 'content-type': metrics.contentType };
    const signal = AbortSignal.timeout(limits.scrapeMs);
    return await sendPieces(context, { pieces: metrics.text(), headers, log, signal }).finally(() =>
      scraping.splice(scraping.indexOf(address), 1),
    );
  });
}
