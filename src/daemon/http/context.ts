// The context of a request: the request of Node.js beside that of hono, the visitor, and the client's address.
import type { HttpBindings } from '@hono/node-server';
import type { Context, MiddlewareHandler } from 'hono';
import { createContext, useContext } from 'hono/jsx';
import type { HttpRole, Links } from '../../core/settings.ts';
import { OPERATOR_ACTIONS } from '../../core/operator.ts';

/** Who sent the request: somebody whom a proxy names, a bearer token, a browser that has signed in, or anybody where no token is configured. */
export interface Visitor {
  readonly kind: 'proxy' | 'bearer' | 'session' | 'anybody';
  /** The name of the token, or the one that a proxy reports. */
  readonly name: string;
  readonly role: HttpRole;
}

export interface HttpEnv {
  Bindings: HttpBindings;
  /**
   * `visitor` is not set on paths that need no token. `page`: when the request came, the name of the installation, and
   * where its pages and commits are. `base` is what a browser writes before each path, and a proxy removes.
   * `pause`: who paused all accounts and why, on pages.
   */
  Variables: {
    visitor?: Visitor;
    address: string;
    pause?: string | null;
    page: { readonly nowMs: number; readonly base: string; readonly title?: string | undefined } & Links;
  };
}

/** What pages show of the server and of whoever sent the request. */
type Frame = Pick<HttpEnv['Variables']['page'], 'title' | 'commitsAt'> &
  Pick<HttpEnv['Variables'], 'pause'> & { readonly visitor?: Visitor | undefined };

export const FrameContext = createContext<Frame>({});

export function useFrame(): Frame {
  return useContext(FrameContext);
}

export type HttpContext = Context<HttpEnv>;
export type HttpMiddleware = MiddlewareHandler<HttpEnv>;

/** The part of a route that matches the name of an account. */
export const ACCOUNT = ':name{[^/]+}';

/** Plans proposed changes. */
export const PLAN_PATH = '/api/v1/plans';

const FORM = new RegExp(`^(/accounts/[^/?]+)/(?:${OPERATOR_ACTIONS.join('|')})$`);

/** The address of the page of an account. */
export function accountPath(name: string): string {
  return `/accounts/${encodeURIComponent(name)}`;
}

/** The page with the form that posts to this address; null for any other address. */
export function formPageOf(path: string): string | null {
  return FORM.exec(path)?.[1] ?? null;
}
