// Watches the journal while retention runs, and finds the runs that it deleted too early.
import type { Workspace } from '../support/workspace.ts';

export interface Retention {
  /** Older runs are pruned. */
  readonly keptMs: number;
}

interface RunRow {
  readonly id: string;
  readonly account: string;
  readonly status: string;
  readonly started_at: string;
}

export interface RunLedger {
  /** Reads the journal. It must be called so often that no run is created and deleted in between. */
  read(): void;
  /** Whether the run is in the journal, or was. */
  knows(runId: string): boolean;
  /** Deleted runs that no rule explains. */
  readonly problems: readonly string[];
  readonly deletedBy: { readonly pruned: number };
}

const QUERY = `
  select id, account, status, started_at from runs order by started_at desc, id desc`;

export function openLedger(workspace: Workspace, { keptMs }: Retention): RunLedger {
  const known = new Set<string>();
  const problems: string[] = [];
  const deletedBy = { pruned: 0 };
  let before: readonly RunRow[] = [];

  function judge(account: string, was: readonly RunRow[], is: readonly RunRow[], nowMs: number): void {
    const left = new Map(is.map((run) => [run.id, run]));
    const deleted = was.filter(({ id }) => !left.has(id));
    const isOld = ({ started_at }: RunRow): boolean => nowMs - Date.parse(started_at) > keptMs;
    for (const run of deleted) {
      if (isOld(run)) deletedBy.pruned += 1;
      else problems.push(`${account}: a ${run.status} run was deleted too early: ${run.id}`);
    }
  }

  return {
    problems,
    deletedBy,
    knows: (runId) => known.has(runId),
    read() {
      const rows = workspace.rows<RunRow>(QUERY);
      const nowMs = Date.now();
      for (const { id } of rows) known.add(id);
      const [was, is] = [byAccount(underNewNames(before, rows)), byAccount(rows)];
      for (const [account, runs] of was) judge(account, runs, is.get(account) ?? [], nowMs);
      before = rows;
    },
  };
}

/** The runs of an account whose file was renamed continue under its new name. */
function underNewNames(before: readonly RunRow[], now: readonly RunRow[]): RunRow[] {
  const accounts = new Map(now.map(({ id, account }) => [id, account]));
  const newNames = new Map<string, string>();
  for (const { id, account } of before) {
    const today = accounts.get(id);
    if (today !== undefined && today !== account) newNames.set(account, today);
  }
  return before.map((run) => ({ ...run, account: newNames.get(run.account) ?? run.account }));
}

function byAccount(rows: readonly RunRow[]): Map<string, RunRow[]> {
  const groups = new Map<string, RunRow[]>();
  for (const row of rows) groups.set(row.account, [...(groups.get(row.account) ?? []), row]);
  return groups;
}
