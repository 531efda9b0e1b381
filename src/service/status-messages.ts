// What an answer that is no success means, in a sentence for a person: what was asked, what came, and the mend.
import { isRetryableStatus } from '../core/backoff.ts';
import type { Method } from './transport.ts';

interface Refusal {
  readonly status: number;
  /** The service's own words, clean and on one line. */
  readonly words: string | undefined;
  /** Until when the service asked to be left alone, when that is longer than a run waits; epoch milliseconds. */
  readonly untilMs: number | undefined;
}

/** `the create of a skill was refused with status 400: …; change the name in the account's file`. */
export function describeRefusal(method: Method, path: string, { status, words, untilMs }: Refusal): string {
  const quoted = words === undefined ? '' : `: ${words}`;
  const what = subject(method, path);
  if (status === 401 || status === 403)
    return `the service refused the token (status ${status}) for ${what}${quoted}; check the account's token reference`;
  if (untilMs !== undefined) return `${throttledMessage(untilMs)} (status ${status} for ${what}${quoted})`;
  const verb = status >= 400 && status < 500 && !isRetryableStatus(status) ? 'refused' : 'answered';
  const sentence = `${what} was ${verb} with status ${status}${quoted}`;
  const mend = adviceFor(method, status);
  return mend === null ? sentence : `${sentence}; ${mend}`;
}

/** `the service asked to be left alone until …`, to the second. */
export function throttledMessage(untilMs: number): string {
  const until = new Date(untilMs).toISOString().slice(0, 19).replace('T', ' ');
  return `the service asked to be left alone until ${until} UTC, and is not asked before`;
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

/** What a person can do, where the status tells. */
function adviceFor(method: Method, status: number): string | null {
  if (status >= 300 && status < 400) return 'redirects are not followed, check the base address';
  if (status === 429) return 'run it later, or lower api.requestsPerSecond';
  if (status >= 500 || isRetryableStatus(status)) return 'that is trouble of the service, run it again later';
  if (method === 'GET') return 'check the base address';
  if (method === 'POST' && (status === 400 || status === 422)) return "check the name in the account's file";
  return null;
}
