// How an account differs from its file: the plan that waits for approval, shown completely, since nobody may approve a plan
// unseen, with its button below it; or what remains after the latest run that planned.
import type { RunRecord } from '../../../core/journal.ts';
import { onlyOf, type Plan } from '../../../core/plan.ts';
import type { Section } from '../../../report/document.ts';
import { count } from '../../../report/formatting.ts';
import { Instant, Summary } from '../../../report/html.tsx';
import { planDocument } from '../../../report/plan-report.ts';
import { affectedText, losingPeople } from '../../../report/plan-sentence.ts';
import { waitsForApproval } from '../../account-state.ts';
import type { AccountView } from '../../daemon-api.ts';
import { accountPath, type Visitor } from '../context.ts';
import { ActionButton } from './page-parts.tsx';
import { heldOf, PagedSections, type PagePlace } from './paged-sections.tsx';

interface PendingPlanProps {
  readonly account: AccountView;
  readonly plan: Plan | null;
  readonly place: PagePlace;
  readonly visitor: Visitor | undefined;
  /** Whether a run makes another plan now, so that a button could be under the pointer with a plan that nobody has read. */
  readonly isReplaced: boolean;
}

/** The button sends the digest of the plan that is shown. There is none when that is not the pending plan. */
export function PendingPlan({ account, plan, place, visitor, isReplaced }: PendingPlanProps) {
  const { name, pending } = account;
  if (pending === null) return null;
  const isPending = plan?.digest === pending.digest;
  // The creates of the run were applied at once.
  const approved = isPending && account.mode === 'approve-deletes' ? onlyOf('delete', plan) : plan;
  const shown = isPending ? approved : null;
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
      {shown === null ? (
        <p class="notice warn">
          The plan is no longer stored. Run the account again, and approve the new plan.
        </p>
      ) : null}
      {shown === null ? null : (
        <>
          <PlanChanges plan={shown} at={accountPath(name)} place={place} isPending />
          {waitsForApproval(account) ? (
            <HowToApprove
              account={name}
              mode={account.mode}
              plan={shown}
              visitor={visitor}
              isReplaced={isReplaced}
            />
          ) : null}
        </>
      )}
    </section>
  );
}

interface HowToApproveProps extends Pick<PendingPlanProps, 'visitor' | 'isReplaced'> {
  readonly account: string;
  readonly mode: AccountView['mode'];
  readonly plan: Plan;
}

/** The button, or the command where nothing can be changed over HTTP. A reader has neither. */
function HowToApprove({ account, mode, plan, visitor, isReplaced }: HowToApproveProps) {
  const canWrite = visitor?.role === 'operate';
  if (!canWrite && visitor?.kind !== 'anybody') return null;
  if (isReplaced) {
    return (
      <p class="notice">
        A run of the account is queued or in progress and makes a new plan, which can be approved then.
      </p>
    );
  }
  return (
    <div class="approval" id="approval">
      {canWrite ? (
        <div class="actions">
          <ActionButton
            account={account}
            action="approve"
            label={`Approve this plan: ${planCounts(plan)}`}
            digest={plan.digest}
            main
          />
        </div>
      ) : (
        <p>
          To approve this plan ({planCounts(plan)}), run on the machine of the daemon:{' '}
          <code>{`rolecall approve ${account} ${plan.digest}`}</code>
        </p>
      )}
      {plan.status === 'blocked' ? (
        <p>
          The approval accepts the lists of the service.
          {mode === 'plan' ? ' In mode plan, nothing is written.' : ''}
        </p>
      ) : null}
      {plan.held.length === 0 ? null : <p>Held changes stay held.</p>}
    </div>
  );
}

/** What happens to the pending plan next. An approved plan of a paused account is not applied before it is resumed. */
function titleOf(account: AccountView): string {
  if (waitsForApproval(account)) return 'A plan waits for approval';
  if (account.mode === 'plan') return 'A plan is approved; the next run accepts its lists and writes nothing';
  return account.pause === null
    ? 'A plan is approved; the next run applies it'
    : 'A plan is approved; it is applied after the account is resumed';
}

interface PlanChangesProps {
  readonly plan: Plan;
  readonly at: string;
  readonly place: PagePlace;
  /** Whether the plan is pending: what an approval applies is shown before what it does not apply. */
  readonly isPending?: boolean;
}

/** The changes of a plan. Deletes are never collapsed. */
export function PlanChanges({ plan, at, place, isPending = false }: PlanChangesProps) {
  const { summary, sections: all = [] } = planDocument(plan);
  const sections = isPending ? appliedFirst(all) : all;
  const deletes = sections.filter(({ title }) => /delete/i.test(title)).map(({ title }) => title);
  return (
    <>
      {summary === undefined ? null : <Summary line={summary} />}
      <PagedSections sections={sections} at={at} place={place} open={deletes} held={heldOf(plan)} />
    </>
  );
}

function appliedFirst(sections: readonly Section[]): Section[] {
  const isHeld = ({ title }: Section): boolean => title.startsWith('Held');
  const isApplied = (section: Section): boolean => !isHeld(section) && section.quiet !== true;
  return [
    ...sections.filter(isApplied),
    ...sections.filter(isHeld).map((section) => ({
      ...section,
      title: `Not part of this approval: ${section.title.toLowerCase()}`,
    })),
    ...sections.filter((section) => !isHeld(section) && !isApplied(section)),
  ];
}

interface RemainingChangesProps {
  /** What remains after the run; null when nothing does. */
  readonly plan: Plan | null;
  /** The run that planned. */
  readonly run: RunRecord;
  /** Whether it is the last run. Otherwise later runs ended before they could plan. */
  readonly isLast: boolean;
  readonly place: PagePlace;
}

export function RemainingChanges({ plan, run, isLast, place }: RemainingChangesProps) {
  const when = (
    <a href={`/runs/${run.id}`}>
      <Instant at={run.startedAt} />
    </a>
  );
  const later = isLast ? '.' : '. Later runs ended before they could compare the account with its file.';
  if (plan === null) {
    const matches = run.status === 'converged' || run.status === 'planned';
    return matches ? (
      <p>
        The account matched its file in the run of {when}
        {later}
      </p>
    ) : null;
  }
  return (
    <section class="remaining" id="changes">
      <h2>Remaining changes</h2>
      <p>
        {run.status === 'planned' ? 'By the dry run of ' : 'After the run of '}
        {when}
        {later}
      </p>
      <PlanChanges plan={plan} at={accountPath(run.account)} place={place} />
    </section>
  );
}

/**
 * `3 creates, 10 deletes, 0 people affected`, or that nobody can tell. A plan without creates does not mention them.
 */
export function planCounts(plan: Plan): string {
  const { create, delete: deletes } = plan.summary;
  const parts = [
    ...(create === 0 ? [] : [count(create, 'create')]),
    count(deletes, 'delete'),
    affectedText(affected, losingPeople(plan)),
  ];
  return parts.join(', ');
}

function affected(people: number): string {
  return `${count(people, 'person', 'people')} affected`;
}
