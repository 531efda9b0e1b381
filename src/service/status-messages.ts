// Messages for error responses: the request, the response, and what to do.
import { isRetryableStatus } from '../core/backoff.ts';
import type { Method } from './transport.ts';

interface Refusal {
  readonly status: number;
  /** The service's own message, on one line and without secrets. */
  readonly serviceMessage: string | undefined;
  /** The end of the requested pause, if it is longer than a run waits; epoch milliseconds. */
  readonly untilMs: number | undefined;
}

/** `the service rejected the create of a skill (status 400): …; check the name in the account's file`. */
export function describeRefusal(
  method: Method,
  path: string,
  { status, serviceMessage, untilMs }: Refusal,
): string {
  const quoted = serviceMessage === undefined ? '' : `: ${serviceMessage}`;
  const what = subject(method, path);
  if (status === 401 || status === 403)
    return `the service rejected the token (status ${status}) for ${what}${quoted}; check the account's token reference`;
  if (untilMs !== undefined) return `${throttledMessage(untilMs)} (status ${status} for ${what}${quoted})`;
  const isRejected = status >= 400 && status < 500 && !isRetryableStatus(status);
  const sentence = isRejected
    ? `the service rejected ${what} (status ${status})${quoted}`
    : `${what} failed with status ${status}${quoted}`;
  const advice = adviceFor(method, status);
  return advice === null ? sentence : `${sentence}; ${advice}`;
}

/** `the service requested a pause until …`, with seconds. */
export function throttledMessage(untilMs: number): string {
  const until = new Date(untilMs).toISOString().slice(0, 19).replace('T', ' ');
  return `the service requested a pause until ${until} UTC, and rolecall sends nothing before`;
}

function subject(method: Method, path: string): string {
  const kind = path.split('/')[4] ?? 'entry';
  switch (method) {
    case 'GET':
      return `the list of ${kind}s`;
    case 'POST':
      return `the create of a ${kind}`;
    case 'DELETE':
      return `the delete of a ${kind}`;
  }
}

/** What to do, if the status shows it. */
function adviceFor(method: Method, status: number): string | null {
  if (status >= 300 && status < 400) return 'redirects are not followed; check the base address';
  if (status === 429) return 'run it later, or lower api.requestsPerSecond';
  if (status >= 500 || isRetryableStatus(status))
    return 'this is a failure of the service; run it again later';
  if (method === 'GET') return 'check the base address';
  if (method === 'POST' && (status === 400 || status === 422)) return "check the name in the account's file";
  return null;
}
