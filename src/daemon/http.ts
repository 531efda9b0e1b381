// The HTTP server: liveness, readiness and metrics (contract, section 7).
import { serve } from '@hono/node-server';
import { Hono } from 'hono';
import { secureHeaders } from 'hono/secure-headers';
import type { Metrics } from './metrics.ts';

export interface HttpOptions {
  readonly host: string;
  readonly port: number;
  readonly hasToken: boolean;
  readonly metrics: Metrics;
  /** What is not ready, in words; empty when everything is. */
  readonly notReady: () => Promise<readonly string[]>;
}

export interface HttpServer {
  readonly url: string;
  close(): Promise<void>;
}

/** Listens, or rejects with the reason why it cannot. */
export async function startHttp(options: HttpOptions): Promise<HttpServer> {
  const app = buildApp(options);
  return await new Promise((resolve, reject) => {
    const server = serve({ fetch: app.fetch, hostname: options.host, port: options.port }, (address) => {
      const host = address.family === 'IPv6' ? `[${address.address}]` : address.address;
      resolve({
        url: `http://${host}:${address.port}`,
        close: () =>
          new Promise((closed) => {
            server.close(() => closed());
            if ('closeAllConnections' in server) server.closeAllConnections();
          }),
      });
    });
    server.on('error', reject);
  });
}

function buildApp({ hasToken, metrics, notReady }: HttpOptions): Hono {
  const app = new Hono();
  app.use(secureHeaders());
  // Without a token the page of another site could reach the server by a name of its own that leads to loopback.
  app.use(async (context, next) => {
    if (!hasToken && !isLoopback(context.req.header('host') ?? '')) {
      return context.text('This server answers on loopback only.\n', 421);
    }
    return await next();
  });
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
  app.notFound((context) => context.text('There is nothing here.\n', 404));
  app.onError((_error, context) => context.text('The server failed.\n', 500));
  return app;
}

function isLoopback(host: string): boolean {
  return /^(localhost|127(\.\d{1,3}){3}|\[::1\])(:\d+)?$/i.test(host);
}
