// Limits of the HTTP server: bytes, time and connections.

export interface HttpLimits {
  /** Bodies of actions and forms. */
  readonly bodyBytes: number;
  /** Bodies of configurations to plan. */
  readonly planBytes: number;
  /** Bodies that are read before a token is checked. */
  readonly signInBytes: number;
  /** How long the headers of a request may take, and the complete request. */
  readonly headersMs: number;
  readonly requestMs: number;
  /** How long a connection may be silent; the second during a plan. */
  readonly idleMs: number;
  readonly planIdleMs: number;
  /** Scrapes at the same time, in all and of each address, and how long one may take. Each needs some megabytes. */
  readonly scrapes: number;
  readonly scrapesPerClient: number;
  readonly scrapeMs: number;
  /** Requests that are handled at the same time, and those without an answer, of each token at each address. */
  readonly runningPerClient: number;
  readonly openPerClient: number;
  readonly connections: number;
  /** For each address; for IPv6, for each /64 network. */
  readonly connectionsPerClient: number;
}

export const DEFAULT_LIMITS: HttpLimits = {
  bodyBytes: 1024 ** 2,
  planBytes: 8 * 1024 ** 2,
  signInBytes: 64 * 1024,
  headersMs: 5000,
  requestMs: 30_000,
  idleMs: 30_000,
  planIdleMs: 1_800_000,
  scrapes: 20,
  scrapesPerClient: 5,
  scrapeMs: 60_000,
  runningPerClient: 32,
  openPerClient: 1000,
  connections: 1000,
  connectionsPerClient: 600,
};
