// A loopback proxy in front of the sandbox that records which requests arrived and took effect. It can hold each
// request before the service receives it, and before the response is sent back.
import { Agent, createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { until } from './workspace.ts';

/** One request as it arrived at the gate. */
export interface Arrival {
  readonly nth: number;
  readonly method: string;
  readonly kind: 'skill' | 'role' | 'resource';
  /** The name in a create, or the id in a delete; empty for a list. */
  readonly subject: string;
  /** The phase that the test had set when it arrived. */
  readonly phase: string;
  /** What the witness returned when it arrived, before the service received it. */
  readonly seen: string;
  /** Whether the service created or deleted something for it. */
  effect: boolean;
}

/** What happens to a held request. From a broken connection the client learns nothing. */
export type Passage = 'on' | 'broken';

export interface Watch {
  /** Called before the request is sent to the service. */
  readonly arrived?: (arrival: Arrival) => Passage | Promise<Passage>;
  /** Called after the service has responded, before the response is sent to the client. */
  readonly answered?: (arrival: Arrival) => Passage | Promise<Passage>;
}

export interface Gate {
  readonly url: string;
  readonly arrivals: readonly Arrival[];
  phase: string;
  watch: Watch;
  /** Resolves when no client is connected, so that every request of ended processes has arrived. */
  allDisconnected(): Promise<void>;
  /** Breaks all connections. */
  close(): Promise<void>;
}

/** `witness` is called for every write when it arrives; the arrival contains its result. */
export async function startGate(
  target: string,
  witness: (arrival: Omit<Arrival, 'seen' | 'effect'>) => string,
): Promise<Gate> {
  const agent = new Agent({ keepAlive: true });
  const arrivals: Arrival[] = [];
  const server = createServer((incoming, outgoing) => {
    outgoing.on('error', () => undefined);
    pass(incoming, outgoing).catch(() => outgoing.destroy());
  });

  const open = new Set<Socket>();
  server.on('connection', (socket: Socket) => {
    open.add(socket);
    for (const end of ['end', 'close']) socket.once(end, () => open.delete(socket));
  });

  async function pass(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
    const body = await text(incoming);
    const received = { ...subjectOf(incoming, body), nth: arrivals.length + 1, phase: gate.phase };
    const seen = received.method === 'GET' ? '' : witness(received);
    const arrival: Arrival = { ...received, seen, effect: false };
    arrivals.push(arrival);
    if ((await gate.watch.arrived?.(arrival)) === 'broken') return void outgoing.destroy();
    const answer = await forward(target, incoming, body, agent);
    arrival.effect = arrival.method !== 'GET' && answer.status < 300;
    if ((await gate.watch.answered?.(arrival)) === 'broken') return void outgoing.destroy();
    outgoing.writeHead(answer.status, { 'content-type': 'application/json' });
    outgoing.end(answer.body);
  }

  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo; // a TCP server that listens has an AddressInfo
  const gate: Gate = {
    url: `http://127.0.0.1:${port}`,
    arrivals,
    phase: '',
    watch: {},
    allDisconnected: () => until('nobody is connected', () => open.size === 0),
    async close() {
      server.closeAllConnections();
      agent.destroy();
      await new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
  return gate;
}

function subjectOf(
  { method = 'GET', url = '' }: IncomingMessage,
  body: string,
): Pick<Arrival, 'method' | 'kind' | 'subject'> {
  const [, kind, id = ''] = /\/(skill|role|resource)(?:\/(.+))?$/.exec(url) ?? [];
  if (kind !== 'skill' && kind !== 'role' && kind !== 'resource')
    throw new Error(`not a path of the service: ${url}`);
  const subject =
    method === 'POST' ? String((JSON.parse(body) as { name: unknown }).name) : decodeURIComponent(id);
  return { method, kind, subject };
}

async function forward(
  target: string,
  { method = 'GET', url = '/', headers }: IncomingMessage,
  body: string,
  agent: Agent,
): Promise<{ status: number; body: string }> {
  const { authorization = '' } = headers;
  const sent =
    body === '' ? {} : { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) };
  return await new Promise((resolve, reject) => {
    const outgoing = request(
      target + url,
      { method, agent, headers: { authorization, ...sent } },
      (answer) => {
        text(answer).then((complete) => resolve({ status: answer.statusCode ?? 0, body: complete }), reject);
      },
    );
    outgoing.on('error', reject);
    outgoing.end(body);
  });
}
