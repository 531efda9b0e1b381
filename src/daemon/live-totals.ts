// The totals of a run that still works: the journal writes them when it ends, so until then they are counted.
import type { RunRecord } from '../core/journal.ts';
import type { RunDetail } from '../core/journal-reader.ts';

/** The run with what it has done so far, when it still works; requests are counted at its end. */
export function withLiveTotals(detail: RunDetail): RunDetail {
  const { run, operations, plan } = detail;
  if (run.status !== 'running') return detail;
  const count = (isCounted: (operation: RunDetail['operations'][number]) => boolean): number =>
    operations.filter(isCounted).length;
  const live: RunRecord = {
    ...run,
    created: count(({ status, action }) => status === 'done' && action === 'create'),
    deleted: count(({ status, action }) => status === 'done' && action === 'delete'),
    failed: count(({ status }) => status === 'failed' || status === 'unknown'),
    held: plan?.summary.hold ?? 0,
    kept: plan?.summary.keep ?? 0,
  };
  return { ...detail, run: live };
}
