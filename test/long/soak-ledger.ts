// Watches the journal while retention runs, and determines for every deleted run which rule deleted it, or that none
// did.
import type { Workspace } from '../support/workspace.ts';

export interface Retention {
  /** Older runs are pruned. */
  readonly keptMs: number;
  /** This many newest runs of each account are kept. */
  readonly keepAtLeast: number;
}

interface RunRow {
  readonly id: string;
  readonly account: string;
  readonly status: string;
  readonly started_at: string;
  /** How many other quiet runs are folded into this one. */
  readonly folded: number;
  readonly quiet: number;
}

export interface RunLedger {
  /** Reads the journal. It must be called so often that no run is created and deleted in between. */
  read(): void;
  /** Whether the run is in the journal, or was. */
  knows(runId: string): boolean;
  /** Deleted runs that no rule explains. */
  readonly problems: readonly string[];
  readonly deletedBy: { readonly pruned: number; readonly folded: number };
}

const QUERY = `
  select id, account, status, started_at, folded,
    status in ('converged', 'held', 'planned') and created + deleted + failed = 0 and error is null as quiet
  from runs order by started_at desc, id desc`;

export function openLedger(workspace: Workspace, { keptMs, keepAtLeast }: Retention): RunLedger {
  const known = new Set<string>();
  const problems: string[] = [];
  const deletedBy = { pruned: 0, folded: 0 };
  let before: readonly RunRow[] = [];

  function judge(account: string, was: readonly RunRow[], is: readonly RunRow[], nowMs: number): void {
    const left = new Map(is.map((run) => [run.id, run]));
    const deleted = was.filter(({ id }) => !left.has(id));
    const isOld = ({ started_at }: RunRow): boolean => nowMs - Date.parse(started_at) > keptMs;
    const seen = new Set(was.map(({ id }) => id));
    const newest = new Set([...is.filter(({ id }) => !seen.has(id)), ...was].slice(0, keepAtLeast));
    for (const run of deleted) {
      if (newest.has(run))
        problems.push(`${account}: one of the newest ${keepAtLeast} was deleted: ${run.id}`);
      else if (isOld(run)) deletedBy.pruned += 1;
      else if (run.quiet === 1) deletedBy.folded += 1;
      else problems.push(`${account}: a ${run.status} run was deleted too early: ${run.id}`);
    }
    if (deleted.some(isOld)) return;
    // None was old, so the counts of the kept runs must include all deleted ones.
    const weight = deleted.reduce((sum, { folded }) => sum + 1 + folded, 0);
    const more = was.reduce((sum, { id, folded }) => sum + ((left.get(id)?.folded ?? folded) - folded), 0);
    if (weight !== more)
      problems.push(`${account}: ${weight} quiet runs were deleted, and ${more} were counted`);
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
