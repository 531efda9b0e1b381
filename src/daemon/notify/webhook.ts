// The headers of the Standard Webhooks specification, version 1: id, time, and signature.
import { createHmac } from 'node:crypto';
import type { Secret } from '../../core/secret.ts';

const PREFIX = 'whsec_';

/**
 * `id` is the same at every attempt, so that receivers can detect repetitions; `timestampMs` is that of the attempt. With a
 * secret, the signature covers id, time and body.
 */
export function webhookHeaders(
  id: string,
  timestampMs: number,
  body: string,
  secret: Secret | null,
): Record<string, string> {
  const timestamp = String(Math.floor(timestampMs / 1000));
  const headers = { 'webhook-id': id, 'webhook-timestamp': timestamp };
  if (secret === null) return headers;
  const signature = createHmac('sha256', keyOf(secret)).update(`${id}.${timestamp}.${body}`).digest('base64');
  return { ...headers, 'webhook-signature': `v1,${signature}` };
}

/** The specification writes keys as base64 after a prefix. The bytes of any other text are the key. */
function keyOf(secret: Secret): Buffer {
  const text = secret.reveal();
  const encoded = text.startsWith(PREFIX) ? text.slice(PREFIX.length) : '';
  return /^[A-Za-z0-9+/]+={0,2}$/.test(encoded) ? Buffer.from(encoded, 'base64') : Buffer.from(text, 'utf8');
}
