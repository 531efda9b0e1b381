// A response before it is sent: a status, a body, and whether the request created or deleted something.

import { promisify } from 'node:util';
import { gzip } from 'node:zlib';

const gzipBytes = promisify(gzip);

/** A body that is compressed at most once, even if it is sent many times. */
export interface Payload {
  readonly bytes: Buffer;
  gzipped(): Promise<Buffer>;
}

export function payloadOf(text: string): Payload {
  const bytes = Buffer.from(text, 'utf8');
  let compressed: Promise<Buffer> | undefined;
  return { bytes, gzipped: () => (compressed ??= gzipBytes(bytes, { level: 1 })) };
}

export interface ServiceResponse {
  readonly status: number;
  readonly payload: Payload;
  readonly headers?: Readonly<Record<string, string>>;
  /** Whether something was created or deleted. */
  readonly effect: boolean;
}

export function jsonResponse(
  status: number,
  body: unknown,
  more: Partial<ServiceResponse> = {},
): ServiceResponse {
  return { status, payload: payloadOf(JSON.stringify(body)), effect: false, ...more };
}

/** An error that is not a validation error. Its body is `{detail: text}`. */
export function errorResponse(
  status: number,
  detail: string,
  headers: Readonly<Record<string, string>> = {},
): ServiceResponse {
  return jsonResponse(status, { detail }, { headers });
}

/** `Retry-After` in whole seconds (at least 1) or as an HTTP date. */
export function retryAfter(waitMs: number, format: 'seconds' | 'date', nowMs: number): string {
  const seconds = Math.max(1, Math.ceil(waitMs / 1000));
  return format === 'seconds'
    ? String(seconds)
    : new Date(Math.ceil((nowMs + seconds * 1000) / 1000) * 1000).toUTCString();
}
