// What the last run of an account did not do or holds, with the reasons.
import type { RunRecord } from '../../../core/journal.ts';
import type { Plan } from '../../../core/plan.ts';
import { Instant, DocumentChanges } from '../../../report/html.tsx';
import { planDocument } from '../../../report/plan-report.ts';

interface RemainingChangesProps {
  readonly plan: Plan | null;
  readonly lastRun: RunRecord | null;
}

export function RemainingChanges({ plan, lastRun }: RemainingChangesProps) {
  if (plan === null || lastRun === null) return null;
  return (
    <section class="remaining">
      <h2>Remaining changes</h2>
      <p>
        After <a href={`/runs/${lastRun.id}`}>the run</a> of <Instant at={lastRun.startedAt} />.
      </p>
      <DocumentChanges document={planDocument(plan)} jsonAt={`/api/v1/runs/${lastRun.id}`} />
    </section>
  );
}
