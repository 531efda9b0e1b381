// Who has what in an account, by its last good snapshot, unused entries first.
import type { SnapshotRecord } from '../../../core/snapshots.ts';
import type { AccountUsage } from '../../../core/usage.ts';
import { Instant, Summary } from '../../../report/html.tsx';
import { usageDocument } from '../../../report/usage-report.ts';
import { accountPath } from '../account-path.ts';
import type { Visitor } from '../context.ts';
import { AccountHeading } from './account-heading.tsx';
import { Layout } from './layout.tsx';
import { PagedSections, type SectionPlace } from './paged-sections.tsx';

interface UsagePageProps {
  readonly snapshot: SnapshotRecord;
  /** null when the lists are no longer stored. */
  readonly usage: AccountUsage | null;
  readonly place: SectionPlace | null;
  readonly visitor: Visitor | undefined;
}

export function UsagePage({ snapshot, usage, place, visitor }: UsagePageProps) {
  const { account, takenAt, runId } = snapshot;
  const { summary, sections } = usage === null ? EMPTY : usageDocument(usage);
  return (
    <Layout title={`Usage of ${account}`} visitor={visitor}>
      <AccountHeading title="Usage" account={account} />
      <p>
        By the lists of <Instant at={takenAt} />, read by <a href={`/runs/${runId}`}>this run</a>.
      </p>
      {usage === null ? <p class="notice warn">These lists are no longer stored.</p> : null}
      {summary === undefined ? null : <Summary line={summary} />}
      <PagedSections
        sections={sections}
        at={`${accountPath(account)}/usage`}
        place={place}
        open={sections.map(({ title }) => title).filter((title) => title.startsWith('Unused'))}
      />
    </Layout>
  );
}

const EMPTY = { summary: undefined, sections: [] } as const;
