// What every handler of the HTTP side is handed with a request: node's own request beside hono's, and who asks.
import type { HttpBindings } from '@hono/node-server';
import type { Context, MiddlewareHandler } from 'hono';

/** Who asks: somebody with the bearer token, a browser that has signed in, or anybody where no token is set. */
export type Visitor = 'bearer' | 'session' | 'anybody';

export interface HttpEnv {
  Bindings: HttpBindings;
  /** Not set where nobody has been asked who they are. */
  Variables: { visitor?: Visitor };
}

export type HttpContext = Context<HttpEnv>;
export type HttpMiddleware = MiddlewareHandler<HttpEnv>;

/** What one client is told apart by. Behind a proxy that is the proxy: headers that say otherwise can be made up. */
export function remoteAddress(context: HttpContext): string {
  return context.env.incoming.socket.remoteAddress ?? '';
}
