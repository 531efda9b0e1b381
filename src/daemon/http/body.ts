// Bodies of requests: read whole, within a limit that is watched while they come in.
import type { IncomingMessage } from 'node:http';

/** `too_large`: the rest was not read. `incomplete`: the client went away or was too slow, so nobody hears an answer. */
export type Body =
  | { readonly type: 'whole'; readonly text: string }
  | { readonly type: 'too_large' }
  | { readonly type: 'incomplete' }
  | { readonly type: 'no_text' };

/** The body as text; `no_text` when it is not UTF-8. Never rejects. */
export async function readBody(incoming: IncomingMessage, limitBytes: number): Promise<Body> {
  const read = await readBytes(incoming, limitBytes);
  if (read.type !== 'whole') return read;
  const text = decode(read.bytes);
  return text === null ? { type: 'no_text' } : { type: 'whole', text };
}

export type Bytes =
  | { readonly type: 'whole'; readonly bytes: Uint8Array }
  | { readonly type: 'too_large' }
  | { readonly type: 'incomplete' };

/** The body as it came. Never rejects. */
export async function readBytes(incoming: IncomingMessage, limitBytes: number): Promise<Bytes> {
  if (Number(incoming.headers['content-length'] ?? 0) > limitBytes) return { type: 'too_large' };
  const chunks: Uint8Array[] = [];
  let size = 0;
  try {
    // The connection must outlive the refusal, or the client would never read it.
    for await (const chunk of incoming.iterator({ destroyOnReturn: false })) {
      if (!(chunk instanceof Uint8Array)) return { type: 'incomplete' };
      size += chunk.length;
      if (size > limitBytes) return { type: 'too_large' };
      chunks.push(chunk);
    }
  } catch {
    return { type: 'incomplete' };
  }
  return { type: 'whole', bytes: Buffer.concat(chunks) };
}

/** null when the bytes are not UTF-8. */
export function decode(bytes: Uint8Array): string | null {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    return null;
  }
}
