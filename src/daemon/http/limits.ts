// What one client may take of the server: bytes, time and connections.

export interface HttpLimits {
  /** Bodies of actions and forms. */
  readonly bodyBytes: number;
  /** Bodies of configurations to plan. */
  readonly planBytes: number;
  /** Bodies that are read before anybody has shown a token. */
  readonly signInBytes: number;
  /** How long the headers of a request may take, and the whole of it. */
  readonly headersMs: number;
  readonly requestMs: number;
  /** How long a connection may be silent, and while a plan is made. */
  readonly idleMs: number;
  readonly planIdleMs: number;
  readonly connections: number;
  /** Of one address; of IPv6, of one network of 64 bits. */
  readonly connectionsPerClient: number;
}

export const DEFAULT_LIMITS: HttpLimits = {
  bodyBytes: 1024 ** 2,
  planBytes: 16 * 1024 ** 2,
  signInBytes: 64 * 1024,
  headersMs: 5000,
  requestMs: 30_000,
  idleMs: 30_000,
  planIdleMs: 1_800_000,
  connections: 1000,
  connectionsPerClient: 600,
};
