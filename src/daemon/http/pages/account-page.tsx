// The page of one account: its state, the pending plan, the buttons and the last runs.
import type { RunRecord } from '../../../core/journal.ts';
import type { Plan } from '../../../core/plan.ts';
import type { Fact } from '../../../report/document.ts';
import { code } from '../../../report/document.ts';
import { Facts, Instant } from '../../../report/html.tsx';
import type { AccountView } from '../../daemon-api.ts';
import { OUTCOME_MESSAGES } from '../actions.ts';
import type { ActionOutcome } from '../actions.ts';
import type { Visitor } from '../context.ts';
import { READ_ONLY, WRITING_OFF } from '../refusals.ts';
import { AccountMarks } from './account-marks.tsx';
import { ActionButton } from './action-button.tsx';
import { Layout } from './layout.tsx';
import { Notice } from './notice.tsx';
import { PendingPlan } from './pending-plan.tsx';
import { RemainingChanges } from './remaining-changes.tsx';
import { RunTable, StatusBadge } from './run-table.tsx';

interface AccountPageProps {
  readonly account: AccountView;
  readonly runs: readonly RunRecord[];
  /** The plan that waits for approval; null when there is none, or when it is no longer stored. */
  readonly plan: Plan | null;
  /** What the last run did not do or holds; null when nothing remains, or when a plan is pending. */
  readonly remaining: Plan | null;
  /** Why neither of the two is shown, although one of them may exist. */
  readonly unshown?: string;
  /** The result of the button that led to this page. */
  readonly said: ActionOutcome['type'] | null;
  readonly visitor: Visitor | undefined;
}

const SUCCESSES: readonly ActionOutcome['type'][] = ['queued', 'approved', 'paused', 'resumed'];

export function AccountPage(props: AccountPageProps) {
  const { account, runs, plan, remaining, unshown, said, visitor } = props;
  const canWrite = visitor?.role === 'operate';
  const { name, lastRun } = account;
  return (
    <Layout title={name} visitor={visitor}>
      <h1>{name}</h1>
      <p>
        {lastRun === null ? null : <StatusBadge status={lastRun.status} />} <AccountMarks account={account} />
      </p>
      {said === null ? null : (
        <p class={`notice ${SUCCESSES.includes(said) ? 'good' : 'warn'}`} role="status">
          {OUTCOME_MESSAGES[said]}
        </p>
      )}
      <Notice tone="bad" title="The configuration of this account is invalid." lines={account.issues} />
      <Notice tone="bad" title={failureTitle(lastRun)} lines={failureLines(account)} />
      <Facts facts={settingsOf(account)}>
        <Times account={account} />
      </Facts>
      {canWrite ? (
        <Actions account={account} />
      ) : (
        <p class="quiet">{visitor?.kind === 'anybody' ? WRITING_OFF.message : READ_ONLY.message}</p>
      )}
      {unshown === undefined ? null : (
        <p class="notice warn">
          The changes of <a href={`/runs/${account.pending?.runId ?? lastRun?.id ?? ''}`}>the run</a> are not
          shown. {unshown}
        </p>
      )}
      <PendingPlan account={account} plan={plan} isUnshown={unshown !== undefined} canWrite={canWrite} />
      <RemainingChanges plan={remaining} lastRun={lastRun} />
      <section>
        <h2>Last runs</h2>
        {runs.length === 0 ? <p class="quiet">The account has not run yet.</p> : <RunTable runs={runs} />}
      </section>
    </Layout>
  );
}

function failureTitle(run: RunRecord | null): string {
  if (run === null) return '';
  return `The last run ended ${run.status}${run.errorCode === null ? '' : ` (${run.errorCode})`}.`;
}

/** Why the last run failed. Errors of the file are shown already. */
function failureLines({ issues, lastRun }: AccountView): string[] {
  if (issues.length > 0) return [];
  return lastRun?.error?.split('\n') ?? [];
}

function Times({ account }: { readonly account: AccountView }) {
  const times: readonly (readonly [string, string | null])[] = [
    ['Next run', account.nextRunAt],
    ['Backing off until', account.backoffUntil],
    ['Last success', account.lastSuccessAt],
    ['Approval expires', account.approved?.expiresAt ?? null],
  ];
  return (
    <>
      {times.map(([label, at]) =>
        at === null ? null : (
          <>
            <dt>{label}</dt>
            <dd>
              <Instant at={at} />
            </dd>
          </>
        ),
      )}
    </>
  );
}

function settingsOf(account: AccountView): Fact[] {
  const { mode, schedule, timezone, region, remoteAccountId, consecutiveFailures, approved } = account;
  const facts: (Fact | false)[] = [
    mode !== null && { label: 'Mode', line: [mode] },
    schedule !== null && {
      label: 'Schedule',
      line: [code(schedule), ...(timezone === null ? [] : [` ${timezone}`])],
    },
    region !== null && { label: 'Region', line: [region] },
    remoteAccountId !== null && { label: 'Account id', line: [code(remoteAccountId)] },
    consecutiveFailures > 0 && { label: 'Failures in a row', line: [String(consecutiveFailures)] },
    approved !== null && { label: 'Approved plan', line: [code(approved.digest)] },
  ];
  return facts.filter((fact) => fact !== false);
}

function Actions({ account: { name, pause } }: { readonly account: AccountView }) {
  return (
    <div class="actions">
      <ActionButton account={name} action="sync" label="Run now" />
      {pause !== null ? (
        <ActionButton account={name} action="resume" label="Resume scheduled runs" />
      ) : (
        <ActionButton account={name} action="pause" label="Pause scheduled runs" />
      )}
    </div>
  );
}
