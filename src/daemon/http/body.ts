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
  if (Number(incoming.headers['content-length'] ?? 0) > limitBytes) return { type: 'too_large' };
  const chunks: Uint8Array[] = [];
  let size = 0;
  try {
    // The connection must outlive the refusal, or the client would never read it.
    for await (const chunk of incoming.iterator({ destroyOnReturn: false })) {
      if (!(chunk instanceof Uint8Array)) return { type: 'no_text' };
      size += chunk.length;
      if (size > limitBytes) return { type: 'too_large' };
      chunks.push(chunk);
    }
  } catch {
    return { type: 'incomplete' };
  }
  const text = decode(Buffer.concat(chunks));
  return text === null ? { type: 'no_text' } : { type: 'whole', text };
}

function decode(bytes: Uint8Array): string | null {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    return null;
  }
}
