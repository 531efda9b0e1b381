// rolecall plan --server: sends what the files of the working tree ask for to a daemon, which plans it with its history and
// its tokens and returns the plans.
import { loadConfiguration } from '../config/load-configuration.ts';
import { resolveSecret } from '../config/secrets.ts';
import { ConfigError, errorCode, errorsOf, ServiceError, UsageError } from '../core/errors.ts';
import { isLoopback } from '../core/remote-address.ts';
import { PAUSE_HEADER } from '../core/operator.ts';
import type { PlanResult } from '../core/plan.ts';
import type { Secret } from '../core/secret.ts';
import { MAX_ANSWER_BYTES, NotConnected, postJson } from '../system/dispatchers.ts';
import type { ReportDetail } from '../report/document.ts';
import { MAX_BODY_BYTES } from '../daemon/http/actions.ts';
import { MAX_POSTED, postOf } from '../run/posted-plan.ts';
import { describeFailure } from '../run/run-result.ts';
import { selectAccounts, showConfigWarnings, withoutAccounts } from './load-accounts.ts';
import { type CommandContext, commitOf, sourceDetail } from './compose.ts';
import { showStep } from './progress.ts';

/** A daemon reads the lists of each account first, which can take minutes. */
const TIMEOUT_MS = 600_000;
const WAITING = 'waiting for the plans of the daemon';
/** The longest error message that is shown, since the server may not be a daemon. */
const LONGEST_MESSAGE = 2000;
const NO_FILES =
  'no file matches `accounts` here; run `plan --server` in a working tree of the repository of `source.git`';
const TOKEN_VARIABLE = 'ROLECALL_HTTP_TOKEN';

interface RemotePlans {
  readonly plans: readonly PlanResult[];
  /** What stops all accounts of the daemon, or null. */
  readonly notice: string | null;
}

/**
 * Requests the plans from the daemon at `server`, where its pages are unless `http.publicUrl` is set. Throws UsageError,
 * ConfigError, or ServiceError when it returns none.
 */
export async function planRemotely(
  { configFile }: CommandContext,
  names: readonly string[],
  server: string,
): Promise<RemotePlans & ReportDetail> {
  const daemon = addressOf(server);
  const endpoint = new URL(`${daemon}/api/v1/plans`);
  const loaded = await loadConfiguration(configFile);
  const { service, accounts, issues } = loaded;
  if (service === undefined || accounts.length === 0) throw withoutAccounts(loaded, NO_FILES);
  showConfigWarnings(issues);
  const picked = selectAccounts(accounts, names);
  if (process.env[TOKEN_VARIABLE] === undefined) {
    throw new UsageError(
      `plan --server needs a token of the daemon; set ${TOKEN_VARIABLE}. A daemon without tokens refuses to plan changes, on loopback too: set http.token there and restart it, or plan here without --server`,
    );
  }
  const token = await resolveSecret({ env: TOKEN_VARIABLE }, 'the daemon’s token');
  const found = await commitOf(loaded, service);
  const commit = found && { sha: found.sha, committedAt: found.committedAt };
  const posts = picked.flatMap(({ name: account, settings }) =>
    settings === undefined
      ? []
      : [postOf({ account, desired: settings.desired, policy: settings.policy, commit })],
  );
  const planned = new Map<string, PlanResult>();
  let notice: string | null = null;
  await showStep(endpoint.host, { text: WAITING, forMs: TIMEOUT_MS }, async () => {
    for (const body of bodiesOf(posts)) {
      const answer = await requestPlans(endpoint, token, body);
      for (const plan of answer.plans) planned.set(plan.account, plan);
      ({ notice } = answer);
    }
  });
  // In the order of the accounts here. An account that the response lacks is reported as failed.
  const plans = picked.map(({ name: account, settings, issues: own }): PlanResult => {
    const plan = planned.get(account);
    if (plan !== undefined) return plan;
    const message = `the response of the daemon at ${endpoint.host} does not contain this account`;
    const error =
      settings === undefined
        ? describeFailure(new ConfigError(errorsOf(own)))
        : { code: 'malformed_response', message };
    return { schemaVersion: 1, account, status: 'failed', error };
  });
  const detail = await sourceDetail({ accounts, service });
  const links = { ...detail.links, publicUrl: detail.links.publicUrl ?? daemon };
  return { ...detail, plans, notice, links };
}

/** The bodies of the requests: as many changes in each as the daemon takes. */
function bodiesOf(posts: readonly object[]): string[] {
  const bodies: string[][] = [[]];
  // With the bracket at its end; each change has one before it.
  let bytes = 1;
  for (const text of posts.map((post) => JSON.stringify(post))) {
    bytes += Buffer.byteLength(text) + 1;
    const last = bodies.at(-1) ?? [];
    if (last.length > 0 && (bytes > MAX_BODY_BYTES || last.length === MAX_POSTED)) {
      bodies.push([text]);
      bytes = Buffer.byteLength(text) + 2;
    } else last.push(text);
  }
  return bodies.filter((texts) => texts.length > 0).map((texts) => `[${texts.join(',')}]`);
}

/** Without a slash at its end, and without a query, which no report may show. */
function addressOf(server: string): string {
  const url = URL.canParse(server) ? new URL(server) : null;
  if (url === null || !/^https?:$/.test(url.protocol) || url.username + url.password !== '') {
    throw new UsageError('--server must be the URL of a daemon, such as https://rolecall.example.com');
  }
  if (url.protocol === 'http:' && !isLoopback(url.hostname)) {
    throw new UsageError(`http:// would send the token unencrypted to ${url.host}; use https://`);
  }
  return `${url.origin}${url.pathname.replace(/\/+$/, '')}`;
}

async function requestPlans(endpoint: URL, token: Secret, body: string): Promise<RemotePlans> {
  const at = `the daemon at ${endpoint.host}`;
  const { status, headers, text } = await postJson(endpoint, token, body, TIMEOUT_MS).catch(
    (error: unknown) => {
      if (error instanceof ServiceError) throw error;
      throw new ServiceError(
        'unavailable',
        `${at} does not respond with plans (${reasonOf(error)}); check the address and that it is running`,
      );
    },
  );
  const answer = parse(text);
  if (status !== 200) throw refusal(at, status, answer, token);
  const { checkPlans } = await import('../core/schemas.ts');
  const checked = checkPlans(answer);
  if ('plans' in checked) return { plans: checked.plans, notice: pauseOf(headers[PAUSE_HEADER]) };
  throw new ServiceError(
    'malformed',
    `${at} did not return a list of plans (${token.scrub(checked.problem)}); check that it is a rolecall daemon of this version`,
  );
}

function reasonOf(error: unknown): string {
  if (error instanceof NotConnected) return error.message;
  if (error instanceof Error && error.name === 'TimeoutError') return `after ${TIMEOUT_MS / 60_000} minutes`;
  const isTooLarge = errorCode(error) === 'UND_ERR_RES_EXCEEDED_MAX_SIZE';
  return isTooLarge ? `more than ${MAX_ANSWER_BYTES / 1024 / 1024} MiB` : errorCode(error);
}

function pauseOf(header: string | string[] | undefined): string | null {
  try {
    return decodeURIComponent(String(header ?? '')).slice(0, LONGEST_MESSAGE) || null;
  } catch {
    return null;
  }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

function refusal(at: string, status: number, answer: unknown, token: Secret): ServiceError {
  if (status === 401) return new ServiceError('auth', `${at} rejected the token in ${TOKEN_VARIABLE}`);
  const message = messageOf(answer);
  return new ServiceError(
    'rejected',
    `${at} returned ${status}${message === null ? '' : `: ${token.scrub(message).slice(0, LONGEST_MESSAGE)}`}`,
  );
}

function messageOf(answer: unknown): string | null {
  if (typeof answer !== 'object' || answer === null || !('error' in answer)) return null;
  const { error } = answer;
  if (typeof error !== 'object' || error === null || !('message' in error)) return null;
  return String(error.message);
}
