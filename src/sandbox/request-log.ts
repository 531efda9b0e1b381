// What the sandbox was asked and what came of it, without any token.

import type { FaultAction } from './faults.ts';
import type { Region } from './model.ts';

/** One request to the service (the controls are not logged). */
export interface LoggedRequest {
  readonly seq: number;
  /** When it arrived, ISO 8601. */
  readonly at: string;
  readonly method: string;
  /** Without region and query. */
  readonly path: string;
  readonly region: Region;
  /** The account of the token, null when the token is no account's. */
  readonly account: string | null;
  /** The name in a create's body. */
  readonly name: string | null;
  /** The status that was sent; null while it is under way and when the connection was broken instead. */
  readonly status: number | null;
  /** Whether something was created or deleted. */
  readonly effect: boolean;
  /** The fault that acted (a mere delay is none). */
  readonly fault: FaultAction['type'] | null;
  /** How many requests were under way when it arrived, itself included. */
  readonly inFlight: number;
}

type Writable = { -readonly [K in keyof LoggedRequest]: LoggedRequest[K] };
export type OpenRequest = Pick<LoggedRequest, 'method' | 'path' | 'region' | 'account' | 'name'>;

const MOST = 100_000;

/** Keeps the last hundred thousand requests. */
export class RequestLog {
  private requests: Writable[] = [];
  private seq = 0;
  private inFlight = 0;
  private readonly listener: ((entry: LoggedRequest) => void) | undefined;

  constructor(listener: ((entry: LoggedRequest) => void) | undefined) {
    this.listener = listener;
  }

  /** Notes an arrival. What comes of it is written into what is returned. */
  open(request: OpenRequest, nowMs: number): Writable {
    this.seq += 1;
    this.inFlight += 1;
    const { seq, inFlight } = this;
    const at = new Date(nowMs).toISOString();
    const logged: Writable = { seq, at, ...request, status: null, effect: false, fault: null, inFlight };
    if (this.requests.length >= MOST) this.requests = this.requests.slice(MOST / 10);
    this.requests.push(logged);
    return logged;
  }

  /** The request is answered or broken: tells the listener. */
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
