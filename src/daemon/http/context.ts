// The context of a request: the request of Node.js beside that of hono, the visitor, and the client's address. And which page
// sent it, whether by https, and whether it leads to another server.
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

/** Without an encoded slash, backslash or control character, which a proxy could decode. */
const SEGMENT = String.raw`(?:[\w.~!'()*-]|%(?![01]|2[Ff]|5[Cc])[0-9A-Fa-f]{2})+`;
const LOCAL_PATH = new RegExp(String.raw`^/(${SEGMENT}(/${SEGMENT})*)?(\?[A-Za-z0-9._~%&=+:,-]*)?$`);

/** The path, or `/` when it could lead to another server: with two slashes at its beginning, a backslash or a scheme. */
export function localPath(text: string): string {
  return text.length <= 2000 && LOCAL_PATH.test(text) ? text : '/';
}

/** `unknown`: no header names a page, so it may be a command or a very old browser. */
export type Site = 'same' | 'other' | 'unknown';

/** Whether the client used TLS, as the proxy in front of this server reports. */
export function isHttps(context: HttpContext): boolean {
  const forwarded = context.req.header('x-forwarded-proto') ?? '';
  return forwarded.split(',')[0]?.trim().toLowerCase() === 'https';
}

/**
 * Reads `Origin` and `Sec-Fetch-Site`, which a page cannot set. The site is another one as soon as one of them names
 * another site, or another host name of the same site. The check of hono refuses commands without these headers.
 */
export function siteOf(context: HttpContext): Site {
  const site = context.req.header('sec-fetch-site')?.toLowerCase();
  if (site !== undefined && site !== 'same-origin' && site !== 'none') return 'other';
  const origin = context.req.header('origin')?.toLowerCase();
  if (origin === undefined) return site === 'same-origin' ? 'same' : 'unknown';
  // A page that hides its address sends `null`; only `Sec-Fetch-Site` shows whether it is ours.
  if (origin === 'null') return site === 'same-origin' ? 'same' : 'other';
  return isOwnOrigin(context, origin) ? 'same' : 'other';
}

/**
 * Proxies change and report the host in many ways, so with `http.publicUrl` only that address counts. Without it, a proxy may
 * accept https without reporting it, so https is accepted too. The reverse would accept plain http.
 */
function isOwnOrigin(context: HttpContext, origin: string): boolean {
  const { publicUrl } = context.get('page');
  if (publicUrl !== undefined) return new URL(publicUrl).origin === origin;
  const schemes = isHttps(context) ? ['https'] : ['http', 'https'];
  const hosts = ['host', 'x-forwarded-host'].map((name) => context.req.header(name)?.toLowerCase() ?? '');
  return hosts.some((host) => schemes.some((scheme) => origin === `${scheme}://${host}`));
}

/** Whether a `Host` header names this machine by a name that no other machine can have. */
export function isLoopbackHost(host: string): boolean {
  return /^(localhost|127(\.\d{1,3}){3}|\[::1\])(:\d{1,5})?$/i.test(host);
}
