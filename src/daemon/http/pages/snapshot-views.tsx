// Renders the pages that show stored lists. Those of large accounts are rendered in a process of their own.
import { KINDS, type ObservedCatalog } from '../../../core/catalog.ts';
import { catalogDifference } from '../../../core/catalog-difference.ts';
import type { SnapshotReader, SnapshotRecord } from '../../../core/snapshots.ts';
import { type AccountUsage, accountUsage } from '../../../core/usage.ts';
import type { AccountDifference } from '../../../report/diff-report.ts';
import { sortedNaturally } from '../../../report/natural-order.ts';
import { accountPath } from '../account-path.ts';
import type { SnapshotView } from '../snapshot-view.ts';
import { DifferencePage } from './difference-page.tsx';
import { pageText } from './page-text.ts';
import { UsagePage } from './usage-page.tsx';

/** The text of the page. */
export async function renderSnapshotView(view: SnapshotView, reader: SnapshotReader): Promise<string> {
  const { place, visitor } = view;
  if (view.type === 'usage') {
    const { snapshot } = view;
    const usage = await usageOf(snapshot, reader);
    return await pageText(<UsagePage snapshot={snapshot} usage={usage} place={place} visitor={visitor} />);
  }
  const { from, to } = view;
  return await pageText(
    <DifferencePage
      account={to.account}
      difference={await differenceOf(from, to, reader)}
      at={`${accountPath(to.account)}/difference?from=${from.id}&to=${to.id}`}
      place={place}
      visitor={visitor}
    />,
  );
}

/** The entries that most people have first. */
async function usageOf(snapshot: SnapshotRecord, reader: SnapshotReader): Promise<AccountUsage | null> {
  const lists = await listsOf(snapshot, reader);
  if (lists === null) return null;
  const usage = accountUsage(snapshot.account, lists);
  const entries = sortedNaturally(usage.entries, KINDS).toSorted((a, b) => b.usedBy.length - a.usedBy.length);
  return { ...usage, entries };
}

async function differenceOf(
  from: SnapshotRecord,
  to: SnapshotRecord,
  reader: SnapshotReader,
): Promise<AccountDifference | null> {
  const before = await listsOf(from, reader);
  const after = await listsOf(to, reader);
  if (before === null || after === null) return null;
  return { account: to.account, before: from, after: to, ...catalogDifference(before, after) };
}

/** null when a list is no longer stored. */
async function listsOf(snapshot: SnapshotRecord, reader: SnapshotReader): Promise<ObservedCatalog | null> {
  const entries = await reader.snapshotEntries(snapshot);
  const resources = await reader.snapshotPeople(snapshot);
  return entries === null || resources === null ? null : { ...entries, resources, warnings: [] };
}
