// Compares the gauges of a daemon with the journal, read in plain SQL, and with the files.
import type { SQLite } from '../../../src/platform/sqlite.ts';
import { gunzipSync } from 'node:zlib';
import type { Plan } from '../../../src/core/plan.ts';
import { samplesOf } from '../../support/daemon.ts';

interface Row {
  readonly id: string;
  readonly body: Buffer | null;
}

export interface ShownAccount {
  readonly name: string;
  readonly valid: boolean;
  /** As the daemon has read it last; undefined if it has not. */
  readonly paused: boolean | undefined;
  readonly lastSuccessMs: number | undefined;
  /** The latest run of the daemon that has a plan. */
  readonly lastRunWithPlan: string | null;
}

/** Compares the gauges of an account with their expected values. */
export function judgeGauges(
  text: string,
  account: ShownAccount,
  db: SQLite.Database,
  violate: (what: string) => void,
): void {
  const samples = samplesOf(text);
  const { name } = account;
  const expect = (key: string, expected: number | undefined): void => {
    const found = samples.get(key);
    if (found !== expected) violate(`${key} is ${String(found)} instead of ${String(expected)}`);
  };
  expect(`rolecall_config_valid{account="${name}"}`, account.valid ? 1 : 0);
  const { paused, lastSuccessMs } = account;
  expect(`rolecall_paused{account="${name}"}`, paused === undefined ? undefined : Number(paused));
  const success = `rolecall_last_success_timestamp_seconds{account="${name}"}`;
  expect(success, lastSuccessMs === undefined ? undefined : lastSuccessMs / 1000);
  if (account.lastRunWithPlan === null) return;
  const plan = planOf(db, account.lastRunWithPlan);
  const done = new Set(
    db
      .prepare(`select seq from operations where run_id = ? and status = 'done'`)
      .pluck()
      .all(account.lastRunWithPlan) as number[],
  );
  for (const kind of ['skill', 'role'] as const) {
    for (const action of ['create', 'delete'] as const) {
      const left = plan.operations.filter(
        (operation, index) => operation.kind === kind && operation.action === action && !done.has(index + 1),
      );
      expect(`rolecall_drift{account="${name}",kind="${kind}",action="${action}"}`, left.length);
    }
    for (const rule of ['in_use', 'empty_catalog', 'max_delete_percent', 'suspected_rename', 'flapping']) {
      const held = plan.held.filter((each) => each.kind === kind && each.rules.some((of) => of === rule));
      const key = `rolecall_held{account="${name}",kind="${kind}",rule="${rule}"}`;
      expect(key, held.length === 0 ? undefined : held.length);
    }
  }
}

function planOf(db: SQLite.Database, run: string): Pick<Plan, 'operations' | 'held'> {
  const row = db
    .prepare('select id, body from runs join plan_bodies on plan_bodies.digest = plan_body where id = ?')
    .get(run) as Row;
  const lines = gunzipSync(row.body ?? Buffer.alloc(0))
    .toString('utf8')
    .trim()
    .split('\n')
    .slice(1, -1);
  const changes = lines.map((line) => JSON.parse(line) as [string, []]);
  const listed = (wanted: string) => changes.flatMap(([list, some]) => (list === wanted ? some : []));
  return { operations: listed('operations'), held: listed('held') };
}
