// Serves one request of the API: find the operation, read, identify, log, apply faults, limit, operate, respond.
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Account } from './account.ts';
import type { FaultAction } from './fault-actions.ts';
import { type FaultRule, judge } from './faults.ts';
import {
  type CreateBody,
  findRoute,
  operate,
  readCreateBody,
  type Route,
  type ServiceRequest,
  splitTarget,
} from './operations.ts';
import type { Region } from './seed.ts';
import { errorResponse, retryAfter, send, type ServiceResponse } from './send.ts';
import { DEFAULT_SETTINGS, type Random, type SandboxSettings, seededRandom } from './settings.ts';

const MAX_BODY_BYTES = 1024 * 1024;
const MAX_REQUESTS = 100_000;

/** One request to the service. */
export interface LoggedRequest {
  readonly seq: number;
  /** When it arrived, ISO 8601. */
  readonly at: string;
  readonly method: string;
  /** Without region and query. */
  readonly path: string;
  readonly region: Region;
  /** The account of the token; null if no account has this token. */
  readonly account: string | null;
  /** The name in the body of a create, or of the entry that a delete names. */
  readonly name: string | null;
  /** The status that was sent; null during the request, and if the connection was broken instead. */
  readonly status: number | null;
  /** Whether the request created or deleted something. */
  readonly effect: boolean;
  /** The fault that acted. `latency` is not recorded. */
  readonly fault: FaultAction['type'] | null;
  /** The number of requests in progress when it arrived, including itself. */
  readonly inFlight: number;
}

type Logged = { -readonly [K in keyof LoggedRequest]: LoggedRequest[K] };

interface Bucket {
  tokens: number;
  atMs: number;
}

/** What requests and controls share. */
export class Service {
  readonly accounts: readonly Account[];
  faults: readonly FaultRule[] = [];
  settings: SandboxSettings = DEFAULT_SETTINGS;
  /** The last requests, at most 100,000. */
  requests: Logged[] = [];
  /** To be cleared when no client is left to answer. */
  readonly delays = new Set<NodeJS.Timeout>();
  private readonly onLogged: ((entry: LoggedRequest) => void) | undefined;
  private readonly buckets = new Map<string, Bucket>();
  private random: Random = seededRandom(DEFAULT_SETTINGS.randomSeed);
  private seq = 0;
  private inFlight = 0;

  constructor(accounts: readonly Account[], onLogged?: (entry: LoggedRequest) => void) {
    this.accounts = accounts;
    this.onLogged = onLogged;
  }

  use(settings: SandboxSettings): void {
    if (settings.randomSeed !== this.settings.randomSeed) this.random = seededRandom(settings.randomSeed);
    if (JSON.stringify(settings.rateLimit) !== JSON.stringify(this.settings.rateLimit)) this.buckets.clear();
    this.settings = settings;
  }

  /** Serves one request of the API. Invalid requests and clients that disconnect cause no exception. */
  async serve(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
    const method = incoming.method ?? 'GET';
    const { region, path } = splitTarget(incoming.url ?? '/');
    const authorization = incoming.headers.authorization ?? '';
    const route = findRoute(method, path);
    const account = this.identify(authorization, region);
    const bytes = await readBody(incoming);
    const body =
      route.type === 'create'
        ? readCreateBody(bytes ?? Buffer.alloc(0), incoming.headers['content-type'], this.settings)
        : null;
    const name = subjectName(route, account, body);
    // A client may put its token into a path by mistake; the log must not contain it.
    const shown = account === null ? path : path.replaceAll(account.identity.token, '[token]');
    const accountName = account?.identity.name ?? null;
    const logged = this.open({ method, path: shown, region, account: accountName, name });
    const subject = route.type === 'unknown' ? null : route.of;
    const verdict = judge(this.faults, { method, path, subject, account: accountName, name });
    logged.fault = verdict.type;
    const request = { route, account, hasToken: authorization !== '', body };
    const perform = (rename?: (name: string) => string): ServiceResponse => {
      const response = this.perform(request, bytes === null, rename);
      logged.effect ||= response.effect;
      return response;
    };
    const performLater = (ms: number): void => void this.sleep(ms).then(() => perform());
    const response = verdict.carryOut({ perform, performLater, authorization });
    await this.sleep(this.settings.latencyMs + verdict.latencyMs);
    logged.status = response.delivery?.type === 'drop' ? null : response.status;
    this.inFlight -= 1;
    this.onLogged?.({ ...logged });
    const { compress } = this.settings;
    await send(response, { incoming, outgoing, compress, sleep: (ms) => this.sleep(ms) });
  }

  /** Does not resolve if the timer is cleared meanwhile. With the global timer, which models replace by a virtual clock. */
  private sleep(ms: number): Promise<void> {
    if (ms <= 0) return Promise.resolve();
    return new Promise((resolve) => {
      const delay = setTimeout(() => resolve(void this.delays.delete(delay)), ms);
      this.delays.add(delay);
    });
  }

  /** The account of the bearer token. A token is valid in the region of its account only. */
  private identify(authorization: string, region: Region): Account | null {
    const token = /^bearer +(\S+) *$/i.exec(authorization)?.[1];
    const account = this.accounts.find(({ identity }) => identity.token === token);
    return account?.identity.region === region ? account : null;
  }

  private open(request: Pick<Logged, 'method' | 'path' | 'region' | 'account' | 'name'>): Logged {
    this.seq += 1;
    this.inFlight += 1;
    const { seq, inFlight } = this;
    const at = new Date().toISOString();
    const logged: Logged = { seq, at, ...request, status: null, effect: false, fault: null, inFlight };
    if (this.requests.length >= MAX_REQUESTS) this.requests = this.requests.slice(MAX_REQUESTS / 10);
    this.requests.push(logged);
    return logged;
  }

  private perform(
    request: ServiceRequest,
    tooLarge: boolean,
    rename: (name: string) => string = (name) => name,
  ): ServiceResponse {
    const refused = this.limited(request.account);
    if (refused !== null) return refused;
    if (tooLarge && request.account !== null) return errorResponse(413, 'Content Too Large');
    const { body } = request;
    const requested = body !== null && 'name' in body ? { name: rename(body.name) } : body;
    return operate({ ...request, body: requested }, this.settings, this.random);
  }

  /** Takes one request from the account's bucket, or returns the refusal. */
  private limited(account: Account | null): ServiceResponse | null {
    const limit = this.settings.rateLimit;
    if (limit === null) return null;
    const name = account?.identity.name ?? '';
    const nowMs = Date.now();
    const { tokens, atMs } = this.buckets.get(name) ?? { tokens: limit.burst, atMs: nowMs };
    const refilled = Math.min(limit.burst, tokens + ((nowMs - atMs) / 1000) * limit.requestsPerSecond);
    this.buckets.set(name, { tokens: refilled < 1 ? refilled : refilled - 1, atMs: nowMs });
    if (refilled >= 1) return null;
    const waitMs = ((1 - refilled) / limit.requestsPerSecond) * 1000;
    const headers: Record<string, string> =
      limit.retryAfter === 'none' ? {} : { 'retry-after': retryAfter(waitMs, limit.retryAfter) };
    return errorResponse(429, 'Too Many Requests', headers);
  }
}

/** The body, or null if it is larger than 1 MiB. The rest is read all the same, so that the client gets a response. */
async function readBody(incoming: IncomingMessage): Promise<Buffer | null> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of incoming as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size <= MAX_BODY_BYTES) chunks.push(chunk);
  }
  return size <= MAX_BODY_BYTES ? Buffer.concat(chunks) : null;
}

function subjectName(route: Route, account: Account | null, body: CreateBody | null): string | null {
  if (route.type === 'delete') return account?.find(route.id)?.entry.name ?? null;
  return body !== null && 'name' in body ? body.name : null;
}
