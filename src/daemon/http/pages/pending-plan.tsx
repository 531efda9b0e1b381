// The plan that waits for approval, shown completely, since nobody may approve a plan unseen.
import type { Plan } from '../../../core/plan.ts';
import { Instant, DocumentChanges } from '../../../report/html.tsx';
import { planDocument } from '../../../report/plan-report.ts';
import type { AccountView } from '../../daemon-api.ts';
import { waitsForApproval } from './account-marks.tsx';
import { ActionButton } from './action-button.tsx';

interface PendingPlanProps {
  readonly account: AccountView;
  readonly plan: Plan | null;
  /** Whether the page explains elsewhere why the plan is not shown. */
  readonly isUnshown: boolean;
  readonly canWrite: boolean;
}

/** The button sends the digest of the plan that is shown. There is none when that is not the pending plan. */
export function PendingPlan({ account, plan, isUnshown, canWrite }: PendingPlanProps) {
  const { name, pending } = account;
  if (pending === null) return null;
  const isWaiting = waitsForApproval(account);
  const shown = plan?.digest === pending.digest ? planDocument(plan) : undefined;
  return (
    <section class="pending">
      <h2>{isWaiting ? 'A plan waits for approval' : 'A plan is approved; the next run applies it'}</h2>
      <dl>
        <dt>Plan digest</dt>
        <dd>
          <code>{pending.digest}</code>
        </dd>
        <dt>Planned</dt>
        <dd>
          <Instant at={pending.since} />, by <a href={`/runs/${pending.runId}`}>this run</a>
        </dd>
      </dl>
      {shown === undefined && !isUnshown ? (
        <p class="notice warn">
          The plan is no longer stored. Run the account again, and approve the new plan.
        </p>
      ) : null}
      {shown === undefined ? null : (
        <DocumentChanges document={shown} jsonAt={`/api/v1/runs/${pending.runId}`}>
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
        </DocumentChanges>
      )}
    </section>
  );
}
