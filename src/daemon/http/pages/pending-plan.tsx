// The plan that waits for approval, shown completely, since nobody may approve a plan unseen. The button is below it.
import type { Plan } from '../../../core/plan.ts';
import { Instant, Summary } from '../../../report/html.tsx';
import { planDocument } from '../../../report/plan-report.ts';
import { waitsForApproval } from '../../account-state.ts';
import type { AccountView } from '../../daemon-api.ts';
import { ActionButton } from './action-button.tsx';
import { PagedSections, type SectionPlace } from './paged-sections.tsx';
import { planCounts } from './plan-counts.ts';

interface PendingPlanProps {
  readonly account: AccountView;
  readonly plan: Plan | null;
  /** Whether the page explains elsewhere why the plan is not shown. */
  readonly isUnshown: boolean;
  readonly place: SectionPlace | null;
  readonly canWrite: boolean;
  /** Whether a run makes another plan now, so that a button could be under the pointer with a plan that nobody has read. */
  readonly isReplaced: boolean;
}

/** The button sends the digest of the plan that is shown. There is none when that is not the pending plan. */
export function PendingPlan({ account, plan, isUnshown, place, canWrite, isReplaced }: PendingPlanProps) {
  const { name, pending } = account;
  if (pending === null) return null;
  const shown = plan?.digest === pending.digest ? plan : null;
  const canApprove = canWrite && waitsForApproval(account);
  return (
    <section class="pending" id="changes">
      <h2>{titleOf(account)}</h2>
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
      {shown === null && !isUnshown ? (
        <p class="notice warn">
          The plan is no longer stored. Run the account again, and approve the new plan.
        </p>
      ) : null}
      {shown === null ? null : (
        <>
          <PlanChanges plan={shown} at={`/accounts/${name}`} place={place} />
          {canApprove && isReplaced ? (
            <p class="notice">
              A run of the account is queued or in progress and makes a new plan, which can be approved then.
            </p>
          ) : null}
          {canApprove && !isReplaced ? (
            <div class="actions approval" id="approval">
              <ActionButton
                account={name}
                action="approve"
                label={`Approve this plan: ${planCounts(shown)}`}
                digest={pending.digest}
                main
              />
            </div>
          ) : null}
        </>
      )}
    </section>
  );
}

/** What happens to the pending plan next. An approved plan of a paused account is not applied before it is resumed. */
function titleOf(account: AccountView): string {
  if (waitsForApproval(account)) return 'A plan waits for approval';
  return account.pause === null
    ? 'A plan is approved; the next run applies it'
    : 'A plan is approved; it is applied after the account is resumed';
}

interface PlanChangesProps {
  readonly plan: Plan;
  readonly at: string;
  readonly place: SectionPlace | null;
}

/** The changes of a plan. Deletes are never collapsed. */
export function PlanChanges({ plan, at, place }: PlanChangesProps) {
  const { summary, sections } = planDocument(plan);
  const deletes = sections.filter(({ title }) => /delete/i.test(title)).map(({ title }) => title);
  return (
    <>
      {summary === undefined ? null : <Summary line={summary} />}
      <PagedSections sections={sections} at={at} place={place} open={deletes} />
    </>
  );
}
