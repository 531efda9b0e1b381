// The page of one account: its state, how it differs from its file, the buttons, the last runs and the audit.
import type { RunProgress } from '../../../core/ports/journal-reader.ts';
import type { RunRecord } from '../../../core/journal.ts';
import type { OperatorActionRecord } from '../../../core/operator.ts';
import type { Plan } from '../../../core/plan.ts';
import { visible } from '../../../report/escape-invisible.ts';
import { actionsTable } from '../../../report/actions-report.ts';
import { GroupTable } from '../../../report/html.tsx';
import { isChanging, waitsForApproval } from '../../account-state.ts';
import type { AccountView } from '../../daemon-api.ts';
import { READ_ONLY, WRITING_OFF } from '../refusals.ts';
import { AccountFacts, PauseNotice, AccountStates } from './account-facts.tsx';
import { Layout } from './layout.tsx';
import { ActionButton, NO_ACCOUNT_RUNS, Notice } from './page-parts.tsx';
import { PendingPlan, RemainingChanges } from './pending-plan.tsx';
import { LiveProgress, QueuedRun, RELOAD_AFTER_S } from './progress-bar.tsx';
import type { PageView } from './run-page.tsx';
import { RunTable } from './run-table.tsx';
import { runsAddress } from './runs-page.tsx';

interface AccountPageProps extends PageView {
  readonly account: AccountView;
  /** The latest ones, newest first; the page shows fewer. */
  readonly runs: readonly RunRecord[];
  /** The latest ones, newest first. */
  readonly actions: readonly OperatorActionRecord[];
  /** The run that the changes are from, and its plan; null when there is none. */
  readonly changes: Changes | null;
  /** The run that works now; null when none does. */
  readonly progress: RunProgress | null;
}

interface Changes {
  readonly run: RunRecord;
  /** The complete plan of the run. */
  readonly plan: Plan | null;
  /** Its plan without what was done; null when nothing remains. */
  readonly remaining: Plan | null;
}

const SHOWN_RUNS = 20;

export function AccountPage(props: AccountPageProps) {
  const { account, runs, actions, progress, nowMs, visitor } = props;
  const { name, lastRun } = account;
  // A page with fields is not loaded again by itself, since what somebody types would be lost.
  const canWrite = visitor?.role === 'operate';
  return (
    <Layout
      title={name}
      visitor={visitor}
      {...(isChanging(account) && !canWrite ? { reloadAfterS: RELOAD_AFTER_S } : {})}
    >
      <h1>{visible(name)}</h1>
      <p>
        <AccountStates account={account} />
      </p>
      <Notice
        tone="bad"
        title={account.serviceValid ? 'The configuration of this account is invalid.' : NO_ACCOUNT_RUNS}
        lines={account.issues}
      />
      <Notice tone="bad" title={failureTitle(lastRun)} lines={failureLines(account)} />
      <PauseNotice pause={account.pause} />
      {lastRun?.status !== 'running' && isChanging(account) ? <QueuedRun /> : null}
      {progress === null || lastRun === null ? null : (
        <section>
          <h2>
            <a href={`/runs/${lastRun.id}`}>The run in progress</a>
          </h2>
          <LiveProgress runId={lastRun.id} progress={progress} nowMs={nowMs} />
        </section>
      )}
      <AccountFacts account={account} />
      {canWrite ? (
        <Buttons account={account} />
      ) : (
        <p class="quiet">{visitor?.kind === 'anybody' ? WRITING_OFF.message : READ_ONLY.message}</p>
      )}
      <DifferencesNow {...props} />
      <section>
        <h2>Last runs</h2>
        {runs.length === 0 ? (
          <p class="quiet">The account has not run yet.</p>
        ) : (
          <>
            <RunTable runs={runs.slice(0, SHOWN_RUNS)} nowMs={nowMs} />
            <p>
              <a href={runsAddress({ account: name })}>All runs of this account</a>
            </p>
          </>
        )}
      </section>
      <section>
        <h2>Actions of operators</h2>
        {actions.length === 0 ? (
          <p class="quiet">No operator has approved, paused, resumed or run it.</p>
        ) : (
          <>
            <GroupTable group={actionsTable(actions, false)} />
            <p>
              <a href="/activity">Activity of all accounts</a>
            </p>
          </>
        )}
      </section>
    </Layout>
  );
}

/** The plan that waits, or what remains after the last run that planned. Nothing while a run changes it, as the run of an approval does. */
function DifferencesNow({ account, changes, progress, place, visitor }: AccountPageProps) {
  const { pending, lastRun } = account;
  return (
    <>
      {progress !== null && !waitsForApproval(account) ? null : (
        <PendingPlan
          account={account}
          plan={changes?.plan ?? null}
          place={place}
          visitor={visitor}
          isReplaced={isChanging(account)}
        />
      )}
      {pending !== null || progress !== null || changes === null ? null : (
        <RemainingChanges
          plan={changes.remaining}
          run={changes.run}
          isLast={changes.run.id === lastRun?.id}
          place={place}
        />
      )}
    </>
  );
}

function Buttons({ account: { name, pause } }: { readonly account: AccountView }) {
  return (
    <div class="actions">
      <ActionButton account={name} action="sync" label="Run now" />
      {pause === null ? (
        <ActionButton account={name} action="pause" label="Pause scheduled runs" />
      ) : (
        <ActionButton account={name} action="resume" label="Resume scheduled runs" />
      )}
    </div>
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
