// Watches the journal while retention is at work: says of every run that went by which rule it did, or that by none.
import type { Workspace } from '../support/workspace.ts';

export interface Retention {
  /** What is older is pruned. */
  readonly keptMs: number;
  /** The newest so many of each account stay. */
  readonly keepAtLeast: number;
}

interface RunRow {
  readonly id: string;
  readonly account: string;
  readonly status: string;
  readonly started_at: string;
  /** How many quiet runs this one stands for beside itself. */
  readonly folded: number;
  readonly quiet: number;
}

export interface RunLedger {
  /** Reads the journal. Has to come more often than a run can be made and go. */
  look(): void;
  /** Whether the run is in the journal, or was. */
  knows(runId: string): boolean;
  /** What went by no rule. */
  readonly problems: readonly string[];
  readonly gone: { readonly pruned: number; readonly folded: number };
}

const QUERY = `
  select id, account, status, started_at, folded,
    status in ('converged', 'held', 'planned') and created + deleted + failed = 0 and error is null as quiet
  from runs order by started_at desc, id desc`;

export function openLedger(workspace: Workspace, { keptMs, keepAtLeast }: Retention): RunLedger {
  const known = new Set<string>();
  const problems: string[] = [];
  const gone = { pruned: 0, folded: 0 };
  let before: readonly RunRow[] = [];

  function judge(account: string, was: readonly RunRow[], is: readonly RunRow[], nowMs: number): void {
    const left = new Map(is.map((run) => [run.id, run]));
    const went = was.filter(({ id }) => !left.has(id));
    const isOld = ({ started_at }: RunRow): boolean => nowMs - Date.parse(started_at) > keptMs;
    const seen = new Set(was.map(({ id }) => id));
    const newest = new Set([...is.filter(({ id }) => !seen.has(id)), ...was].slice(0, keepAtLeast));
    for (const run of went) {
      if (newest.has(run)) problems.push(`${account}: of the newest ${keepAtLeast} one went: ${run.id}`);
      else if (isOld(run)) gone.pruned += 1;
      else if (run.quiet === 1) gone.folded += 1;
      else problems.push(`${account}: a ${run.status} run went before its time: ${run.id}`);
    }
    if (went.some(isOld)) return;
    // None was old, so that all that went stand in the counts of those that stayed.
    const weight = went.reduce((sum, { folded }) => sum + 1 + folded, 0);
    const more = was.reduce((sum, { id, folded }) => sum + ((left.get(id)?.folded ?? folded) - folded), 0);
    if (weight !== more) problems.push(`${account}: ${weight} quiet runs went, and ${more} were counted`);
  }

  return {
    problems,
    gone,
    knows: (runId) => known.has(runId),
    look() {
      const rows = workspace.rows<RunRow>(QUERY);
      const nowMs = Date.now();
      for (const { id } of rows) known.add(id);
      const [was, is] = [byAccount(underNewNames(before, rows)), byAccount(rows)];
      for (const [account, runs] of was) judge(account, runs, is.get(account) ?? [], nowMs);
      before = rows;
    },
  };
}

/** The runs of an account whose file was renamed are carried on under its new name. */
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
