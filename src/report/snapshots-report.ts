// The report of `snapshots`: one row for each snapshot, those of the newest run first.
import { listSize, type SnapshotRecord } from '../core/snapshots.ts';
import { code, toned, type Column, type Line, type Report, type ReportOptions } from './document.ts';
import { briefInstant, count } from './formatting.ts';
import { listReport, renderReport } from './render.ts';

/** All given snapshots, with `shortIds` as the printed forms of the ids of their runs. json is an array. */
export function renderSnapshots(
  snapshots: readonly SnapshotRecord[],
  options: ReportOptions,
  shortIds: ReadonlyMap<string, string> = new Map(),
): string {
  return renderReport(snapshots.map(snapshotToJson), () => snapshotsReport(snapshots, shortIds), options);
}

/** JSON leaves out what is undefined. */
function snapshotToJson(snapshot: SnapshotRecord) {
  return { schemaVersion: 1, ...snapshot, runStatus: undefined } as const;
}

function snapshotsReport(
  snapshots: readonly SnapshotRecord[],
  shortIds: ReadonlyMap<string, string>,
): Report {
  const columns: Column[] = [
    { head: 'Id', align: 'right' },
    { head: 'Taken (UTC)' },
    { head: 'Account' },
    ...['Skills', 'Roles', 'People'].map((head): Column => ({ head, align: 'right' })),
    { head: 'Phase' },
    { head: 'Run' },
  ];
  const rows = snapshots.map((snapshot): Line[] => [
    [code(String(snapshot.id))],
    [briefInstant(snapshot.takenAt)],
    [code(snapshot.account)],
    ...(['skill', 'role', 'resource'] as const).map((kind): Line => [String(listSize(snapshot, kind))]),
    [toned('quiet', snapshot.phase)],
    [code(shortIds.get(snapshot.runId) ?? snapshot.runId)],
  ]);
  return listReport('rolecall snapshots', { columns, rows }, [
    rows.length === 0 ? 'No snapshots.' : `${count(rows.length, 'snapshot')}.`,
  ]);
}
