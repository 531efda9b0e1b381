// An HTTP client for the tests of the sandbox that returns the exact bytes, and sandboxes that each test closes.

import { Agent, request } from 'undici';
import { onTestFinished } from 'vitest';
import { type Sandbox, type SandboxOptions, startSandbox } from '../../../src/sandbox/sandbox.ts';

const agent = new Agent({ pipelining: 1 });

/** A sandbox that is closed after the test. */
export async function start(options: SandboxOptions = {}): Promise<Sandbox> {
  const sandbox = await startSandbox(options);
  onTestFinished(() => sandbox.close());
  return sandbox;
}

export interface Reply {
  readonly status: number;
  readonly headers: Record<string, string | string[] | undefined>;
  readonly bytes: Buffer;
  readonly text: string;
}

export interface CallOptions {
  /** `null` sends no Authorization at all. */
  readonly token?: string | null;
  readonly body?: unknown;
  readonly raw?: string;
  readonly headers?: Record<string, string>;
}

export async function call(method: string, url: string, options: CallOptions = {}): Promise<Reply> {
  const { token = 'sandbox-token-1', body, raw, headers = {} } = options;
  const text = raw ?? (body === undefined ? null : JSON.stringify(body));
  const response = await request(url, {
    dispatcher: agent,
    method: method as 'GET',
    headers: {
      ...(token === null ? {} : { authorization: `Bearer ${token}` }),
      ...(text === null ? {} : { 'content-type': 'application/json' }),
      ...headers,
    },
    body: text,
  });
  const bytes = Buffer.from(await response.body.arrayBuffer());
  return { status: response.statusCode, headers: response.headers, bytes, text: bytes.toString('utf8') };
}

export type Wire = Record<string, unknown> & { readonly _id: string; readonly name: string };

export function api(base: string, path: string): string {
  return `${base}/api/public/v1/${path}`;
}

export async function list(base: string, of: string, options: CallOptions = {}): Promise<Wire[]> {
  const reply = await call('GET', api(base, of), options);
  if (reply.status !== 200) throw new Error(`status ${reply.status}: ${reply.text}`);
  return JSON.parse(reply.text) as Wire[];
}

export async function names(base: string, of: string): Promise<string[]> {
  return (await list(base, of)).map((each) => each.name);
}

export function create(base: string, kind: string, name: string): Promise<Reply> {
  return call('POST', api(base, kind), { body: { name } });
}

export function json(reply: Reply): Record<string, unknown> {
  return JSON.parse(reply.text) as Record<string, unknown>;
}

/** The only item, or the test fails. */
export function only<T>(items: readonly T[]): T {
  const [item] = items;
  if (item === undefined || items.length > 1) throw new Error(`expected one item, not ${items.length}`);
  return item;
}
