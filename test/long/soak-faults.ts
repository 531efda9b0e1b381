// The faults of the sandbox in the soak test: up to a few percent of the requests for each kind of fault.
import type { Fault, FaultAction } from '../../src/sandbox/sandbox.ts';

/** Longer than the daemon waits for a response; the effect is immediate. */
const TOO_LATE_MS = 2500;
/** Longer than a run waits, so that the account gets no requests for this time. */
const LONG_RETRY_AFTER_S = 125;

const EVERYWHERE: readonly (readonly [probability: number, action: FaultAction])[] = [
  [0.01, { type: 'drop-before-effect' }],
  [0.01, { type: 'drop-after-effect' }],
  [0.01, { type: 'status', status: 500 }],
  [0.005, { type: 'status', status: 503, headers: { 'retry-after': '1' } }],
  [0.005, { type: 'effect-then-status', status: 502 }],
  [0.005, { type: 'rate-limit', retryAfter: 1, format: 'seconds' }],
  [0.005, { type: 'rate-limit', retryAfter: 1, format: 'date' }],
  [0.005, { type: 'rate-limit' }],
  [0.005, { type: 'html', status: 502 }],
  [0.005, { type: 'html' }],
  [0.005, { type: 'cut-body', fraction: 0.5 }],
  [0.003, { type: 'cut-body', fraction: 0.5, silent: true }],
  [0.003, { type: 'invalid-json' }],
  [0.002, { type: 'redirect', to: 'http://127.0.0.1:9/' }],
  [0.002, { type: 'echo-token' }],
  [0.003, { type: 'latency', ms: TOO_LATE_MS }],
  [0.01, { type: 'latency', ms: 100 }],
];

/** More frequent, because writes are rarer than reads and leave more outcomes to determine. */
const OF_WRITES: typeof EVERYWHERE = [
  [0.04, { type: 'drop-after-effect' }],
  [0.03, { type: 'effect-then-status', status: 500 }],
  [0.02, { type: 'delay-effect', ms: 200 }],
];

const OF_LISTS: typeof EVERYWHERE = [
  [0.01, { type: 'empty-list' }],
  [0.005, { type: 'repeat-ids' }],
  [0.002, { type: 'wrong-type' }],
  [0.002, { type: 'wrong-account-id', id: 'another-account' }],
];

/** So much is missing that two such lists in a row are suspicious, although they agree. */
const OF_SKILLS: typeof EVERYWHERE = [[0.02, { type: 'partial-list', fraction: 0.4 }]];
/** The people who can have undesired entries are in the part that remains. */
const OF_PEOPLE: typeof EVERYWHERE = [[0.02, { type: 'partial-list', fraction: 0.6 }]];

/** The faults of all accounts; the account `throttled` receives one Retry-After of two minutes. */
export function soakFaults(throttled: string | null): Fault[] {
  const rules = (match: NonNullable<Fault['match']>, list: typeof EVERYWHERE): Fault[] =>
    list.map(([probability, action]) => ({ match, times: 'always', probability, do: action }));
  const longThrottle: Fault = {
    match: { account: throttled ?? '', method: 'GET' },
    skip: 300,
    do: { type: 'rate-limit', retryAfter: LONG_RETRY_AFTER_S },
  };
  return [
    ...(throttled === null ? [] : [longThrottle]),
    ...rules({ method: 'GET' }, [...EVERYWHERE, ...OF_LISTS]),
    ...rules({ method: 'GET', path: 'skill' }, OF_SKILLS),
    ...rules({ method: 'GET', path: 'resource' }, OF_PEOPLE),
    ...rules({ method: 'POST' }, [...EVERYWHERE, ...OF_WRITES, [0.02, { type: 'no-id' }]]),
    ...rules({ method: 'DELETE' }, [...EVERYWHERE, ...OF_WRITES]),
  ];
}
