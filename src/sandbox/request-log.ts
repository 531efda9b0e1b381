// The log of the requests to the sandbox and their results, without tokens.

import type { FaultAction } from './faults.ts';
import type { Region } from './model.ts';

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

type Writable = { -readonly [K in keyof LoggedRequest]: LoggedRequest[K] };
export type OpenRequest = Pick<LoggedRequest, 'method' | 'path' | 'region' | 'account' | 'name'>;

const MAX_REQUESTS = 100_000;

/** Keeps at most the last 100,000 requests. */
export class RequestLog {
  private requests: Writable[] = [];
  private seq = 0;
  private inFlight = 0;
  private readonly listener: ((entry: LoggedRequest) => void) | undefined;

  constructor(listener: ((entry: LoggedRequest) => void) | undefined) {
    this.listener = listener;
  }

  /** Records a request. The caller writes the result into the returned object. */
  open(request: OpenRequest, nowMs: number): Writable {
    this.seq += 1;
    this.inFlight += 1;
    const { seq, inFlight } = this;
    const at = new Date(nowMs).toISOString();
    const logged: Writable = { seq, at, ...request, status: null, effect: false, fault: null, inFlight };
    if (this.requests.length >= MAX_REQUESTS) this.requests = this.requests.slice(MAX_REQUESTS / 10);
    this.requests.push(logged);
    return logged;
  }

  /** Marks a request as completed and notifies the listener. */
  done(logged: LoggedRequest): void {
    this.inFlight -= 1;
    this.listener?.({ ...logged });
  }

  list(): LoggedRequest[] {
    return this.requests.map((each) => ({ ...each }));
  }

  clear(): void {
    this.requests = [];
  }
}
