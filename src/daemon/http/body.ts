// Reads the bodies of requests within a size limit.
import type { IncomingMessage } from 'node:http';

/** `too_large`: the rest was not read. `incomplete`: the client has left or was too slow, so it receives no answer. */
export type Body =
  | { readonly type: 'complete'; readonly text: string }
  | { readonly type: 'too_large' }
  | { readonly type: 'incomplete' }
  | { readonly type: 'not_utf8' };

/** The body as text; `not_utf8` when it is not UTF-8. Never rejects. */
export async function readBody(incoming: IncomingMessage, limitBytes: number): Promise<Body> {
  const read = await readBytes(incoming, limitBytes);
  if (read.type !== 'complete') return read;
  const text = decode(read.bytes);
  return text === null ? { type: 'not_utf8' } : { type: 'complete', text };
}

export type Bytes =
  | { readonly type: 'complete'; readonly bytes: Uint8Array }
  | { readonly type: 'too_large' }
  | { readonly type: 'incomplete' };

/** The body as bytes. Never rejects. */
export async function readBytes(incoming: IncomingMessage, limitBytes: number): Promise<Bytes> {
  if (Number(incoming.headers['content-length'] ?? 0) > limitBytes) return { type: 'too_large' };
  const chunks: Uint8Array[] = [];
  let size = 0;
  try {
    // The connection must stay open for the answer.
    for await (const chunk of incoming.iterator({ destroyOnReturn: false })) {
      if (!(chunk instanceof Uint8Array)) return { type: 'incomplete' };
      size += chunk.length;
      if (size > limitBytes) return { type: 'too_large' };
      chunks.push(chunk);
    }
  } catch {
    return { type: 'incomplete' };
  }
  return { type: 'complete', bytes: Buffer.concat(chunks) };
}

/** null when the bytes are not UTF-8. */
export function decode(bytes: Uint8Array): string | null {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    return null;
  }
}
