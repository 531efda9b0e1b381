// The status of a commit on GitHub and GitLab: the results of the runs of the accounts on it.
import type { NotifiedState } from '../../core/notice.ts';
import { PAUSED } from '../../core/operator.ts';
import type { RunOutcome } from '../../core/run-outcome.ts';
import type { NotifySettings } from '../../core/settings.ts';
import { visible } from '../../report/escape-invisible.ts';
import { type AccountResult, type Result, resultsText } from './formats.ts';
import { clip } from './message.ts';
import type { Destination } from './target.ts';

/** The commit in use, and the accounts that run on it. */
export interface Fleet {
  readonly commit: string;
  readonly accounts: readonly string[];
}

/** As it is queued. `end` is the state without the accounts that still have to run. */
export type CommitStatus = Readonly<
  Record<'sha' | 'description', string> & Record<'state' | 'end', 'pending' | 'success' | 'failure'>
>;

/** The account under which the last status of a target is stored. No account has this name. */
export const STATUS = '';

/** The result of the runs of an account on a commit; null: the run changes nothing about that, or waits for a rollout. */
export function resultAfter(
  before: NotifiedState | null,
  { run, plan, news, awaited, loss }: RunOutcome,
): NotifiedState | null {
  const { configCommit: commit, configDirty, errorCode } = run;
  const startedAtMs = Date.parse(run.startedAt);
  if (plan?.held.some(({ rule }) => rule === 'rollout') === true) return null;
  // The account still has to run on the commit after the pause.
  if (commit === null || configDirty === true || errorCode === PAUSED) return null;
  if (startedAtMs < (before?.asOfMs ?? 0)) return null;
  const known = before?.states['commit'] === commit ? resultIn(before) : null;
  if (Object.keys(news.health).length === 0 && known === null) return null;
  const { failed, drift, held } = news.health;
  const results: Result[] = news.applied || known?.results.includes('applied') === true ? ['applied'] : [];
  if (drift) results.push(awaited === null ? 'drift' : 'waits');
  if (held) results.push('held');
  if (failed) results.push('failed');
  const result: AccountResult = { results: results.length === 0 ? ['recovered'] : results, loss };
  return { states: { commit, result: JSON.stringify(result) }, asOfMs: startedAtMs };
}

function resultIn({ states }: NotifiedState): AccountResult {
  // Only resultAfter writes it, so the shape is known.
  return JSON.parse(states['result'] ?? '') as AccountResult;
}

/** The status to send next; null when the last one is still true. `stored` is what the target was notified of, by account. */
export function nextStatus(
  { commit: sha, accounts }: Fleet,
  stored: ReadonlyMap<string, NotifiedState>,
  format: NotifySettings['format'],
): CommitStatus | null {
  // Only this function makes what is stored, so the shape is known.
  const last = (stored.get(STATUS)?.states ?? null) as CommitStatus | null;
  if (last?.state === 'pending' && last.sha !== sha) {
    return { ...last, state: last.end, description: `replaced by ${sha.slice(0, 7)}: ${last.description}` };
  }
  const known = accounts.flatMap((name) => stored.get(name) ?? []);
  const results = known.filter(({ states }) => states['commit'] === sha).map(resultIn);
  const waiting = accounts.length - results.length;
  const end = results.some((result) => result.results.includes('failed')) ? 'failure' : 'success';
  const state = waiting > 0 ? 'pending' : end;
  const rest = waiting > 0 ? [`${waiting} still to run`] : [];
  const description = [...(results.length > 0 ? [resultsText(results)] : []), ...rest].join(', ');
  // GitLab refuses to set `pending` again.
  const isSame = last?.sha === sha && last.state === state;
  const isKept = last?.description === description || (format === 'gitlab' && state === 'pending');
  return isSame && isKept ? null : { sha, state, end, description };
}

const CONTEXT = 'rolecall';
/** With the longest descriptions that both accept. https://docs.github.com/rest/commits/statuses and https://docs.gitlab.com/api/commits describe the requests. */
export function statusRequest(
  { sha, state, ...status }: CommitStatus,
  { format, repository = '', publicUrl }: NotifySettings,
  { url, secret }: Destination,
) {
  const [base, token] = [url.reveal().replace(/\/+$/u, ''), secret?.reveal() ?? ''];
  const isGitHub = format === 'github';
  const description = clip(visible(status.description), isGitHub ? 140 : 255);
  const page = publicUrl === undefined ? {} : { target_url: `${publicUrl}/?q=${sha.slice(0, 7)}` };
  const common = { description, ...page };
  const gitlab = { state: state === 'failure' ? 'failed' : state, name: CONTEXT, ...common };
  return isGitHub
    ? {
        url: `${base}/repos/${repository}/statuses/${sha}`,
        headers: { authorization: `Bearer ${token}`, accept: 'application/vnd.github+json' },
        body: JSON.stringify({ state, context: CONTEXT, ...common }),
      }
    : {
        url: `${base}/api/v4/projects/${encodeURIComponent(repository)}/statuses/${sha}`,
        headers: { 'private-token': token },
        body: JSON.stringify(gitlab),
      };
}
