// The headers of every answer, and its compression.
import { compress } from 'hono/compress';
import { secureHeaders } from 'hono/secure-headers';
import type { HttpMiddleware } from './context.ts';
import { isHttps } from './request-checks.ts';

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
