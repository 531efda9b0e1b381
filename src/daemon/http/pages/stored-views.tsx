// Renders the pages that are made from the store, in whichever process.
import type { SnapshotReader } from '../../../core/snapshots.ts';
import type { StoredView } from '../show-page.ts';
import { renderRunView, type RunViewReader } from './run-views.tsx';
import { renderSnapshotView } from './snapshot-views.tsx';

/** The text of the page; null when the run that it shows does not exist. */
export async function renderStoredView(
  view: StoredView,
  reader: RunViewReader & SnapshotReader,
): Promise<string | null> {
  return view.type === 'usage' || view.type === 'difference'
    ? await renderSnapshotView(view, reader)
    : await renderRunView(view, reader);
}
