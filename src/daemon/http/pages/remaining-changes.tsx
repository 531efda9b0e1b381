// How the account differs from its file, by the latest run that planned: what remains to do, and what is held and why.
import type { RunRecord } from '../../../core/journal.ts';
import type { Plan } from '../../../core/plan.ts';
import { Instant } from '../../../report/html.tsx';
import { accountPath } from '../account-path.ts';
import type { SectionPlace } from './paged-sections.tsx';
import { PlanChanges } from './pending-plan.tsx';

interface RemainingChangesProps {
  /** What remains after the run; null when nothing does. */
  readonly plan: Plan | null;
  /** The run that planned. */
  readonly run: RunRecord;
  /** Whether it is the last run. Otherwise later runs ended before they could plan. */
  readonly isLast: boolean;
  readonly place: SectionPlace | null;
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
