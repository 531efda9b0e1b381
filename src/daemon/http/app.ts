// Every path of the server, behind its gates in their order (contract, section 7).
import { Hono } from 'hono';
import { methodNotAllowed as withAllowedMethods } from 'hono/method-not-allowed';
import { StoreError } from '../../core/errors.ts';
import type { Secret } from '../../core/secret.ts';
import type { Log } from '../log.ts';
import type { Metrics } from '../metrics.ts';
import type { Panel } from '../panel.ts';
import { createAccess } from './access.ts';
import { addApiActions } from './api-actions.ts';
import { addApiReads } from './api-reads.ts';
import type { HttpEnv } from './context.ts';
import { answerFailure } from './failure.tsx';
import {
  refuseOddTargets,
  refuseOtherHosts,
  refuseOtherSites,
  refuseWriting,
  requireToken,
} from './gates.ts';
import type { HttpLimits } from './limits.ts';
import { addPageActions } from './page-actions.ts';
import { addPages } from './pages/page-routes.tsx';
import { INTERNAL, methodNotAllowed, NOT_FOUND, storeFailed } from './refusals.ts';
import { withSecurityHeaders } from './security-headers.ts';
import { addSignIn, SIGN_IN } from './sign-in.tsx';
import { STYLESHEET, STYLESHEET_HEADERS, STYLESHEET_PATH } from './stylesheet.ts';

export interface AppOptions {
  /** null: anybody on this machine may look, and nobody may do anything. */
  readonly token: Secret | null;
  readonly panel: Panel;
  readonly metrics: Pick<Metrics, 'contentType' | 'text'>;
  /** What is not ready, in words; empty when everything is. */
  readonly notReady: () => Promise<readonly string[]>;
  readonly log: Pick<Log, 'error'>;
  readonly limits: HttpLimits;
  readonly nowMs: () => number;
}

const PROBES = ['/healthz', '/readyz', '/metrics'];

/** Nothing of the panel is touched before a request is through all the gates. */
export function buildApp(options: AppOptions): Hono<HttpEnv> {
  const { token, panel, log, limits, nowMs } = options;
  const app = new Hono<HttpEnv>();
  app.use(withSecurityHeaders, refuseOddTargets);
  if (token === null) {
    app.use(refuseOtherHosts, refuseOtherSites, refuseWriting);
  } else {
    const access = createAccess(token, nowMs);
    app.use(refuseOtherSites, requireToken(access, new Set([...PROBES, SIGN_IN, STYLESHEET_PATH])));
    addSignIn(app, access, limits);
  }
  app.use(
    withAllowedMethods({
      app,
      onMethodNotAllowed: (context, methods) => answerFailure(context, methodNotAllowed(methods)),
    }),
  );
  addProbes(app, options);
  app.get(STYLESHEET_PATH, (context) => context.body(STYLESHEET, 200, STYLESHEET_HEADERS));
  addApiReads(app, panel, nowMs);
  addApiActions(app, panel, limits);
  addPages(app, panel, token !== null);
  addPageActions(app, panel, limits);
  app.notFound((context) => answerFailure(context, NOT_FOUND));
  app.onError((error, context) => {
    const { method, path } = context.req;
    log.error({ event: 'http_failed', method, path, error: error.message }, 'a request failed');
    // What is wrong with the store is for who looks, as the probe says it; anything else is the log's.
    return answerFailure(context, error instanceof StoreError ? storeFailed(error) : INTERNAL);
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
