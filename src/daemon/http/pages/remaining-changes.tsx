// What the last run of an account left to do, and what it holds, with the reason of each.
import type { RunRecord } from '../../../core/journal.ts';
import type { Plan } from '../../../core/plan.ts';
import { planReport } from '../../../report/plan-report.ts';
import { Instant } from './instant.tsx';
import { Inline, Sections } from './report-view.tsx';

interface RemainingChangesProps {
  readonly plan: Plan | null;
  readonly lastRun: RunRecord | null;
}

export function RemainingChanges({ plan, lastRun }: RemainingChangesProps) {
  if (plan === null || lastRun === null) return null;
  const shown = planReport([plan]).documents[0];
  return (
    <section class="remaining">
      <h2>Remaining changes</h2>
      <p>
        As <a href={`/runs/${lastRun.id}`}>the run</a> of <Instant at={lastRun.startedAt} /> left them.
      </p>
      <p class="strong">
        <Inline line={shown?.summary ?? []} />
      </p>
      <Sections sections={shown?.sections ?? []} allAt={`/api/v1/runs/${lastRun.id}`} />
    </section>
  );
}
