// A receiver of webhooks on loopback that accepts only what it can verify (Standard Webhooks, version 1). It shares
// nothing with the code that signs.
import { randomBytes, webcrypto } from 'node:crypto';
import { createServer, type IncomingMessage } from 'node:http';
import { text } from 'node:stream/consumers';
import { listen } from './loopback.ts';

/** A notice as it arrived; the id is that of the delivery, the same at every attempt. */
export interface Notice {
  readonly id: string;
  readonly type: string;
  readonly timestamp: string;
  readonly data: {
    readonly account: string;
    readonly runId: string;
    readonly status: string;
    readonly summary: Readonly<Record<string, number>> | null;
    readonly digest?: string;
    readonly created: number;
    readonly deleted: number;
    readonly failed: number;
    readonly error?: { readonly code: string; readonly message: string };
    readonly followers?: number;
  };
}

export interface Receiver {
  readonly url: string;
  /** As a service file refers to it; the lines of a `notify` list need `env`. */
  readonly env: Readonly<Record<string, string>>;
  /** What has arrived and was verified, oldest first. */
  notices(account?: string): readonly Notice[];
  /** The reason for each refused delivery. */
  refused(): readonly string[];
  /** Answers the next `times` deliveries with this status, and does not store them. */
  fail(times: number, status: number): void;
}

/** The `notify` of a service file for a receiver whose `env` the daemon has. */
export const NOTIFY = 'notify: [{ url: { env: HOOK_URL }, secret: { env: HOOK_SECRET }, format: json }]';

const TOLERANCE_S = 300;

/** Starts a receiver that ends with the test. */
export async function startReceiver(): Promise<Receiver> {
  const key = randomBytes(32);
  const notices: Notice[] = [];
  const refused: string[] = [];
  let failing: readonly number[] = [];

  async function judge(request: IncomingMessage): Promise<number> {
    const body = await text(request);
    const problem = await problemOf(request, body, key);
    if (problem !== null) {
      refused.push(problem);
      return 401;
    }
    const [failure, ...rest] = failing;
    failing = rest;
    if (failure !== undefined) return failure;
    // The shape of the body is not checked here; tests compare every field that they use.
    notices.push({ ...(JSON.parse(body) as Omit<Notice, 'id'>), id: header(request, 'webhook-id') });
    return 204;
  }

  const server = createServer((request, response) => {
    judge(request).then(
      (status) => response.writeHead(status).end(),
      (error: unknown) => {
        refused.push(String(error));
        response.writeHead(500).end();
      },
    );
  });
  const url = `${await listen(server)}/hooks/rolecall?key=part-of-the-address`;
  return {
    url,
    env: { HOOK_URL: url, HOOK_SECRET: `whsec_${key.toString('base64')}` },
    notices: (account) =>
      account === undefined ? [...notices] : notices.filter(({ data }) => data.account === account),
    refused: () => [...refused],
    fail(times, status) {
      failing = Array.from({ length: times }, () => status);
    },
  };
}

function header(request: IncomingMessage, name: string): string {
  const value = request.headers[name];
  return typeof value === 'string' ? value : '';
}

/**
 * The checks that the specification requires of a receiver: a known method, a fresh timestamp, and a signature over all
 * three parts.
 */
async function problemOf(request: IncomingMessage, body: string, key: Buffer): Promise<string | null> {
  const [id, timestamp, signatures] = ['webhook-id', 'webhook-timestamp', 'webhook-signature'].map((name) =>
    header(request, name),
  );
  if (request.method !== 'POST') return `${request.method} instead of POST`;
  if (!header(request, 'content-type').startsWith('application/json')) return 'the body is no JSON';
  if (id === undefined || id === '') return 'there is no id';
  if (!/^\d+$/.test(timestamp ?? '')) return 'the timestamp is no number of seconds';
  if (Math.abs(Date.now() / 1000 - Number(timestamp)) > TOLERANCE_S) return 'the timestamp is stale';
  const imported = await webcrypto.subtle.importKey('raw', key, { name: 'HMAC', hash: 'SHA-256' }, false, [
    'verify',
  ]);
  const signed = new TextEncoder().encode(`${id}.${timestamp}.${body}`);
  for (const candidate of (signatures ?? '').split(' ')) {
    const [version, encoded = ''] = candidate.split(',');
    const signature = Uint8Array.from(Buffer.from(encoded, 'base64'));
    if (version === 'v1' && (await webcrypto.subtle.verify('HMAC', imported, signature, signed))) return null;
  }
  return 'no signature fits';
}
