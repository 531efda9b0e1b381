// The requests between the real client and the sandbox, observed at both ends: every request with its times and its
// complete response, and whether anything is in flight at this moment.
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { IncomingMessage, ServerResponse } from 'node:http';

/** One request as both ends saw it. Times are those of the virtual clock. */
export interface Call {
  readonly seq: number;
  readonly method: 'GET' | 'POST' | 'DELETE';
  readonly kind: 'skill' | 'role' | 'resource';
  /** The name in a POST. */
  readonly name: string | null;
  /** The id in the path of a DELETE. */
  readonly remoteId: string | null;
  readonly sentAtMs: number;
  arrivedAtMs: number | null;
  endedAtMs: number | null;
  /** Turns of the event loop: the order of events within one moment of the stopped clock. */
  readonly sentTurn: number;
  endedTurn: number | null;
  /** What the client received: null while it is in flight, and if the response was incomplete. */
  answer: { readonly status: number; readonly text: string } | null;
}

/** The JSON of the response to a call, or undefined. */
export function answeredJson(call: Call): unknown {
  try {
    return call.answer === null ? undefined : JSON.parse(call.answer.text);
  } catch {
    return undefined;
  }
}

interface UndiciRequest {
  readonly method: string;
  readonly path: string;
  readonly body: unknown;
  addHeader(name: string, value: string): void;
}
interface ClientEvent {
  readonly request: UndiciRequest;
  readonly response?: { readonly statusCode: number };
  readonly chunk?: Uint8Array;
}
interface ServerEvent {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
}

const HEADER = 'x-model-call';

interface Underway {
  readonly call: Call;
  readonly chunks: Uint8Array[];
  status: number;
  response: ServerResponse | null;
}

export class Traffic {
  readonly calls: Call[] = [];
  /** Increases with every event at either end. */
  activity = 0;
  private readonly underway = new Map<UndiciRequest, Underway>();
  private readonly releasers: (() => void)[] = [];
  private readonly turn: () => number;
  private readonly onArrival: (call: Call) => void;

  /** `onArrival` is called when a request has arrived at the service and was not read yet. */
  constructor(turn: () => number, onArrival: (call: Call) => void) {
    this.turn = turn;
    this.onArrival = onArrival;
    this.observe<ClientEvent>('undici:request:create', ({ request }) => this.begin(request));
    this.observe<ClientEvent>('undici:request:headers', (event) => {
      const each = this.underway.get(event.request);
      if (each !== undefined) each.status = event.response?.statusCode ?? 0;
    });
    this.observe<ClientEvent>('undici:request:bodyChunkReceived', ({ request, chunk }) => {
      if (chunk !== undefined) this.underway.get(request)?.chunks.push(chunk);
    });
    this.observe<ClientEvent>('undici:request:trailers', ({ request }) => this.end(request, true));
    this.observe<ClientEvent>('undici:request:error', ({ request }) => this.end(request, false));
    this.observe<ServerEvent>('http.server.request.start', ({ request, response }) =>
      this.arrive(request, response),
    );
    this.observe<ServerEvent>('http.server.response.finish', () => undefined);
  }

  /** Whether every request that the client waits for is at the service, which only waits for a timer. */
  isQuiet(): boolean {
    return [...this.underway.values()].every(
      ({ response }) =>
        response !== null && !response.writableEnded && !response.destroyed && response.socket !== null,
    );
  }

  close(): void {
    for (const release of this.releasers) release();
  }

  private observe<T>(channel: string, listener: (event: T) => void): void {
    const onMessage = (message: unknown): void => {
      this.activity += 1;
      listener(message as T); // the shapes that undici and node:http document for their channels
    };
    subscribe(channel, onMessage);
    this.releasers.push(() => void unsubscribe(channel, onMessage));
  }

  private begin(request: UndiciRequest): void {
    const [, kind, remoteId] = /\/v1\/(skill|role|resource)(?:\/([^/?]+))?$/.exec(request.path) ?? [];
    const body = request.body === null ? '' : Buffer.from(request.body as Uint8Array).toString('utf8');
    const call: Call = {
      seq: this.calls.length,
      method: request.method as Call['method'],
      kind: kind as Call['kind'],
      name: body === '' ? null : (JSON.parse(body) as { name: string }).name,
      remoteId: remoteId === undefined ? null : decodeURIComponent(remoteId),
      sentAtMs: Date.now(),
      arrivedAtMs: null,
      endedAtMs: null,
      sentTurn: this.turn(),
      endedTurn: null,
      answer: null,
    };
    this.calls.push(call);
    this.underway.set(request, { call, chunks: [], status: 0, response: null });
    request.addHeader(HEADER, String(call.seq));
  }

  private arrive(incoming: IncomingMessage, response: ServerResponse): void {
    const seq = Number(incoming.headers[HEADER]);
    const each = [...this.underway.values()].find(({ call }) => call.seq === seq);
    const call = each?.call ?? this.calls[seq];
    if (call === undefined) return;
    if (each !== undefined) each.response = response;
    call.arrivedAtMs = Date.now();
    this.onArrival(call);
  }

  private end(request: UndiciRequest, isComplete: boolean): void {
    const each = this.underway.get(request);
    if (each === undefined) return;
    this.underway.delete(request);
    each.call.endedAtMs = Date.now();
    each.call.endedTurn = this.turn();
    if (isComplete)
      each.call.answer = { status: each.status, text: Buffer.concat(each.chunks).toString('utf8') };
  }
}
