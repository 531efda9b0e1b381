// What changed in an account between two snapshots.
import type { AccountDifference } from '../../../report/diff-report.ts';
import { differenceDocument } from '../../../report/diff-report.ts';
import { Facts, Headline } from '../../../report/html.tsx';
import { accountPath } from '../account-path.ts';
import type { Visitor } from '../context.ts';
import { AccountHeading } from './account-heading.tsx';
import { Layout } from './layout.tsx';
import { PagedSections, type SectionPlace } from './paged-sections.tsx';

interface DifferencePageProps {
  readonly account: string;
  /** null when the lists of a snapshot are no longer stored. */
  readonly difference: AccountDifference | null;
  /** The address of this page without the place. */
  readonly at: string;
  readonly place: SectionPlace | null;
  readonly visitor: Visitor | undefined;
}

export function DifferencePage({ account, difference, at, place, visitor }: DifferencePageProps) {
  return (
    <Layout title={`Changes of ${account}`} visitor={visitor}>
      <AccountHeading title="Changes" account={account} />
      <p>
        <a href={`${accountPath(account)}/snapshots`}>All snapshots</a>
      </p>
      {difference === null ? (
        <p class="notice warn">The lists of one of these snapshots are no longer stored.</p>
      ) : (
        <Difference difference={difference} at={at} place={place} />
      )}
    </Layout>
  );
}

function Difference({
  difference,
  at,
  place,
}: {
  readonly difference: AccountDifference;
  readonly at: string;
  readonly place: SectionPlace | null;
}) {
  const { headline, facts, sections } = differenceDocument(difference);
  return (
    <>
      <Headline headline={headline} lines={[]} />
      <Facts facts={facts} />
      <PagedSections sections={sections} at={at} place={place} open={['Entries']} />
    </>
  );
}
