// The pages that show stored lists: who has what by one snapshot, and what changed between two.
import type { SnapshotRecord } from '../../core/snapshots.ts';
import type { AnyView } from './run-view.ts';

export type SnapshotView =
  | (AnyView & { readonly type: 'usage'; readonly snapshot: SnapshotRecord })
  /** Both are of one account. */
  | (AnyView & {
      readonly type: 'difference';
      readonly from: SnapshotRecord;
      readonly to: SnapshotRecord;
    });

export function snapshotsOf(view: SnapshotView): readonly SnapshotRecord[] {
  return view.type === 'usage' ? [view.snapshot] : [view.from, view.to];
}
