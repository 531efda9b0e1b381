// The runs of a fleet's accounts in the journal, on either engine.
import type { Fleet } from './fleet.ts';

export interface FleetRun {
  readonly id: string;
  readonly account: string;
  readonly trigger: string;
  readonly status: string;
  readonly holder_pid: number;
  readonly created: number;
  readonly deleted: number;
  readonly config_commit: string | null;
  readonly config_dirty: number | null;
  readonly startedMs: number;
  readonly finishedMs: number | null;
}

type StoredRun = Omit<FleetRun, 'startedMs' | 'finishedMs'> & {
  readonly started_at: string;
  readonly finished_at: string | null;
};

/** All runs of the changing accounts, in the order in which they started. */
export async function runsOf(fleet: Fleet): Promise<readonly FleetRun[]> {
  const rows = await fleet.rows<StoredRun>(
    `select id, account, trigger, status, holder_pid, created, deleted, config_commit, config_dirty, started_at, finished_at
     from runs where account like 'acct-%'`,
  );
  return rows
    .map((row) => ({
      ...row,
      startedMs: Date.parse(row.started_at),
      finishedMs: row.finished_at === null ? null : Date.parse(row.finished_at),
    }))
    .toSorted((a, b) => a.startedMs - b.startedMs || (a.id < b.id ? -1 : 1));
}

export function iso(atMs: number): string {
  return new Date(atMs).toISOString();
}
