// What every handler of the HTTP side is handed with a request: node's own request beside hono's, and who asks.
import type { HttpBindings } from '@hono/node-server';
import type { Context, MiddlewareHandler } from 'hono';
import type { HttpRole } from '../../core/settings.ts';
import type { ClientAddress } from './client-address.ts';

/** Who asks: somebody with a bearer token, a browser that has signed in, or anybody where no token is set. */
export interface Visitor {
  readonly kind: 'bearer' | 'session' | 'anybody';
  /** The name of the token. */
  readonly name: string;
  readonly role: HttpRole;
}

export interface HttpEnv {
  Bindings: HttpBindings;
  /** Not set where nobody has been asked who they are. */
  Variables: { visitor?: Visitor; address: string };
}

export type HttpContext = Context<HttpEnv>;
export type HttpMiddleware = MiddlewareHandler<HttpEnv>;

/** Sets the address that the request comes from. */
export function findAddress(clientAddress: ClientAddress): HttpMiddleware {
  return async (context, next) => {
    const connection = context.env.incoming.socket.remoteAddress ?? '';
    context.set('address', clientAddress(connection, context.req.header('x-forwarded-for')));
    await next();
  };
}
