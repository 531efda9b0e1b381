// The page of one account: what waits for a decision or still differs, what rules hold, the last runs, and its facts beside them.
import type { RunDetail, RunProgress } from '../../../core/ports/journal-reader.ts';
import type { RunRecord } from '../../../core/schemas.ts';
import type { Plan } from '../../../core/plan.ts';
import { visible } from '../../../report/escape-invisible.ts';
import { ACCOUNT_STATE_TEXTS, messageLines } from '../../../report/formatting.ts';
import { lossLine } from '../../../report/run-sections.ts';
import { runSentence, statusTone } from '../../../report/run-status.ts';
import { waitsForApproval } from '../../../core/account-states.ts';
import type { AccountView } from '../../daemon-api.ts';
import { accountPath, useFrame } from '../context.ts';
import { AccountStates, Aside, byWhom, FactsLine, type History, isChanging } from './account-facts.tsx';
import { Layout } from './layout.tsx';
import { Card, Errors, NO_ACCOUNT_RUNS, Notice } from './page-parts.tsx';
import { HeldCard, Notes, type PagePlace } from './paged-sections.tsx';
import { Decision } from './pending-plan.tsx';
import { AccountRuns, NextSteps, Restore } from './run-page.tsx';

interface AccountPageProps extends History {
  readonly account: AccountView;
  /** The run that the changes are from, and its plan without what was done; null when there is none. */
  readonly changes: { readonly detail: RunDetail; readonly remaining: Plan | null } | null;
  /** The run that works now; null when none does. */
  readonly progress: RunProgress | null;
  readonly place: PagePlace;
}

export function AccountPage({ account, progress, changes, place, ...history }: AccountPageProps) {
  const { name, lastRun, pending, pause } = account;
  const { detail, remaining = null } = changes ?? {};
  // The run of an approval changes what the approved plan counts.
  const isPending = pending !== null && (progress === null || waitsForApproval(account));
  const found = isPending ? (detail?.plan ?? null) : progress === null ? remaining : null;
  const plan = isPending && found?.digest !== pending.digest ? null : found;
  const at = accountPath(name);
  return (
    <Layout
      title={name}
      current="accounts"
      trail={[<a href="/">Accounts</a>, visible(name)]}
      // A page with fields is not loaded again by itself, since what somebody types would be lost.
      isReloaded={isChanging(account) && useFrame().visitor?.role !== 'operate'}
      version={versionOf(account, detail?.run)}
      isLive={isChanging(account) && progress === null ? 'soon' : true}
    >
      <h1>
        {visible(name)} <AccountStates account={account} />
      </h1>
      <FactsLine account={account} counts={history.counts} />
      <p class="notice warn" role="status" id="outdated" hidden>
        This page is out of date. <a href={at}>Load it again</a>
      </p>
      <div class="columns">
        <div>
          <Errors
            title={account.serviceValid ? 'The account cannot run until its file is fixed.' : NO_ACCOUNT_RUNS}
            errors={account.issues}
          />
          <Failure account={account} />
          {pause === null ? null : (
            <Notice
              tone="warn"
              title={['Scheduled runs were paused ', { time: pause.since }, ` ${byWhom(pause.by)}.`]}
              lines={pause.reason === null ? [] : [[pause.reason]]}
            />
          )}
          {detail?.run.id === lastRun?.id ? <Outcome detail={detail} actions={history.actions} /> : null}
          <Decision {...{ account, detail, plan, isPending, progress, place }} />
          {plan === null ? null : (
            <>
              <HeldCard plan={plan} at={at} place={place} file={account.file} />
              <Notes plan={plan} at={at} place={place} />
            </>
          )}
          <Runs name={name} runs={history.runs} />
        </div>
        <Aside account={account} {...history} />
      </div>
    </Layout>
  );
}

/** Equal for pages with the same decision. */
function versionOf(account: AccountView, run: RunRecord | undefined): string {
  const { pending, approved, pause, lastRun } = account;
  const facts = [pending?.digest, approved?.digest, pause === null, lastRun?.status, isChanging(account)];
  return [...facts, run?.planDigest, run?.held].join(' ');
}

interface RemovedPageProps extends History {
  readonly name: string;
  /** The latest ones that deleted something. */
  readonly deletions: readonly RunRecord[];
}

/** An account whose file is gone. */
export function RemovedPage({ name, deletions, ...history }: RemovedPageProps) {
  return (
    <Layout title={name} current="accounts" trail={[<a href="/">Accounts</a>, visible(name)]}>
      <h1>
        {visible(name)} <span class="badge">{ACCOUNT_STATE_TEXTS.removed.label}</span>
      </h1>
      <p class="quiet">No account file has this name, so nothing runs. Its history is kept for a while.</p>
      <div class="columns">
        <div>
          <Restore runs={deletions} />
          <Runs name={name} runs={history.runs} />
        </div>
        <Aside account={null} {...history} />
      </div>
    </Layout>
  );
}

function Runs({ name, runs }: Pick<History, 'runs'> & { readonly name: string }) {
  return (
    <Card title="Runs" aside={<a href={`/runs?account=${encodeURIComponent(name)}`}>all runs</a>}>
      <AccountRuns runs={runs} />
    </Card>
  );
}

/** What became of the last approval: what the run did that used it, or why it lapsed. */
function Outcome({ detail, actions }: { readonly detail: RunDetail | undefined } & Pick<History, 'actions'>) {
  const approval = actions.find(({ action }) => action === 'approve');
  if (approval === undefined || detail === undefined || detail.run.startedAt < approval.at) return null;
  const { run, warnings } = detail;
  const lapsed = warnings.find(({ code }) => code === 'approval_lapsed');
  if (lapsed === undefined && run.planDigest !== approval.detail) return null;
  const approved = [`Approved ${byWhom(approval.by)} `, { time: approval.at }];
  if (lapsed !== undefined)
    return <Notice tone="warn" title={[...approved, `; ${lapsed.message}.`]} lines={[]} />;
  const counts = `${run.created} created, ${run.deleted} deleted. ${runSentence(detail)}`;
  const tone = statusTone(run.status) === 'bad' ? 'bad' : 'good';
  return <Notice tone={tone} title={[counts]} lines={[...lossLine(detail), [...approved, '.']]} />;
}

/** Why the last run failed, and what to do next. Errors of the file are shown already. */
function Failure({ account: { issues, lastRun } }: { readonly account: AccountView }) {
  if (lastRun === null || lastRun.error === null || issues.length > 0) return null;
  const { status, errorCode, error } = lastRun;
  const ended = status === 'failed' ? status : `was ${status}`;
  return (
    <Notice
      tone="bad"
      title={[`The last run ${ended}${errorCode === null ? '' : ` (${errorCode})`}.`]}
      lines={messageLines(error)}
    >
      <NextSteps run={lastRun} />
    </Notice>
  );
}
