// The soak's sandbox misbehaves: one or two of a hundred requests for each way in which a service can.
import type { Fault, FaultAction } from '../../src/sandbox/sandbox.ts';

/** Longer than the daemon waits for an answer; the effect came at once. */
const TOO_LATE_MS = 2500;
/** Longer than a run waits: the whole account is left alone for so long. */
const LEAVE_ME_ALONE_S = 125;

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

/** The more of these the more must be settled: writes are rarer than reads. */
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

/** So much is missing that twice in a row, which nobody could know for a lie, is suspicious. */
const OF_SKILLS: typeof EVERYWHERE = [[0.02, { type: 'partial-list', fraction: 0.4 }]];
/** The people who may have what nobody asked for stand in the part that is left. */
const OF_PEOPLE: typeof EVERYWHERE = [[0.02, { type: 'partial-list', fraction: 0.6 }]];

/** The trouble of all accounts; `throttled` is asked to leave its service alone for two minutes, once. */
export function troubleWith(throttled: string | null): Fault[] {
  const rules = (match: NonNullable<Fault['match']>, list: typeof EVERYWHERE): Fault[] =>
    list.map(([probability, action]) => ({ match, times: 'always', probability, do: action }));
  const leaveMeAlone: Fault = {
    match: { account: throttled ?? '', method: 'GET' },
    skip: 300,
    do: { type: 'rate-limit', retryAfter: LEAVE_ME_ALONE_S },
  };
  return [
    ...(throttled === null ? [] : [leaveMeAlone]),
    ...rules({ method: 'GET' }, [...EVERYWHERE, ...OF_LISTS]),
    ...rules({ method: 'GET', path: 'skill' }, OF_SKILLS),
    ...rules({ method: 'GET', path: 'resource' }, OF_PEOPLE),
    ...rules({ method: 'POST' }, [...EVERYWHERE, ...OF_WRITES, [0.02, { type: 'no-id' }]]),
    ...rules({ method: 'DELETE' }, [...EVERYWHERE, ...OF_WRITES]),
  ];
}
