// The plan that waits for a person: shown whole, so that nobody approves what they have not seen.
import type { Plan } from '../../../core/plan.ts';
import { planReport } from '../../../report/plan-report.ts';
import type { AccountView } from '../../daemon-api.ts';
import { ActionButton } from './action-button.tsx';
import { waitsForApproval } from './account-marks.tsx';
import { Instant } from './instant.tsx';
import { Inline, Sections } from './report-view.tsx';

interface PendingPlanProps {
  readonly account: AccountView;
  readonly plan: Plan | null;
  /** The page says elsewhere why the plan is not shown. */
  readonly isUnshown: boolean;
  readonly canWrite: boolean;
}

/** The button carries the digest of the plan that is shown; where that is not the one that waits, there is none. */
export function PendingPlan({ account, plan, isUnshown, canWrite }: PendingPlanProps) {
  const { name, pending } = account;
  if (pending === null) return null;
  const isWaiting = waitsForApproval(account);
  const shown = plan?.digest === pending.digest ? planReport([plan]).documents[0] : undefined;
  return (
    <section class="pending">
      <h2>{isWaiting ? 'A plan waits for approval' : 'A plan is approved, and runs next'}</h2>
      <dl>
        <dt>Digest</dt>
        <dd>
          <code>{pending.digest}</code>
        </dd>
        <dt>Since</dt>
        <dd>
          <Instant at={pending.since} />, by <a href={`/runs/${pending.runId}`}>this run</a>
        </dd>
      </dl>
      {shown === undefined && !isUnshown ? (
        <p class="notice warn">The plan cannot be shown any more; run the account to make it anew.</p>
      ) : null}
      {shown === undefined ? null : (
        <>
          <p class="strong">
            <Inline line={shown.summary ?? []} />
          </p>
          {canWrite && isWaiting ? (
            <div class="actions">
              <ActionButton
                account={name}
                action="approve"
                label="Approve this plan"
                digest={pending.digest}
                main
              />
            </div>
          ) : null}
          <Sections sections={shown.sections} allAt={`/api/v1/runs/${pending.runId}`} />
        </>
      )}
    </section>
  );
}
