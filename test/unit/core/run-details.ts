// Runs as the journal returns them, with defaults.
import type { OperationRecord, RunRecord } from '../../../src/core/schemas.ts';
import type { HeldChange, Operation, Plan } from '../../../src/core/plan.ts';
import type { RunDetail } from '../../../src/core/ports/journal-reader.ts';

export interface RunSketch extends Partial<Omit<RunRecord, 'held'>> {
  /** Names of skills that the plan would create. */
  readonly toCreate?: readonly string[];
  readonly toDelete?: readonly string[];
  readonly held?: readonly (string | Partial<HeldChange>)[];
  readonly operations?: readonly Partial<OperationRecord>[];
  readonly plan?: Partial<Plan> | null;
  readonly warnings?: RunDetail['warnings'];
}

export const T0 = Date.parse('2026-03-10T12:00:00.000Z');

/** Run `n`, which started n minutes after T0 and took a second. */
export function runDetail(n: number, sketch: RunSketch = {}): RunDetail {
  const {
    toCreate = [],
    toDelete = [],
    held = [],
    operations = [],
    plan = {},
    warnings = [],
    ...run
  } = sketch;
  const startedAtMs = T0 + n * 60_000;
  const id = `01900000-0000-7000-8000-${n.toString(16).padStart(12, '0')}`;
  const made = plan === null ? null : planOf(toCreate, toDelete, held.map(heldChange), plan);
  return {
    run: {
      id,
      account: 'acme',
      remoteAccountId: '42',
      trigger: 'schedule',
      actor: null,
      mode: 'apply',
      status: 'converged',
      startedAt: new Date(startedAtMs).toISOString(),
      finishedAt: new Date(startedAtMs + 1000).toISOString(),
      configDigest: 'sha256:c',
      configCommit: null,
      configDirty: null,
      configAuthoredAt: null,
      configAuthor: null,
      configSubject: null,
      planDigest: made?.digest ?? null,
      plannedCreates: made?.summary.create ?? null,
      plannedDeletes: made?.summary.delete ?? null,
      created: 0,
      deleted: 0,
      held: held.length,
      kept: 0,
      failed: 0,
      requests: 3,
      retries: 0,
      errorCode: null,
      error: null,
      ...run,
    },
    operations: operations.map((row, index) => operationRow(id, index + 1, row)),
    warnings,
    plan: made,
  };
}

function operationRow(runId: string, seq: number, row: Partial<OperationRecord>): OperationRecord {
  return {
    runId,
    seq,
    kind: 'skill',
    action: 'create',
    name: `S${String(seq)}`,
    remoteId: null,
    status: 'done',
    rule: null,
    reason: null,
    attempts: 1,
    httpStatus: 200,
    startedAt: null,
    finishedAt: null,
    ...row,
  };
}

function heldChange(sketch: string | Partial<HeldChange>): HeldChange {
  return {
    action: 'delete',
    kind: 'skill',
    name: 'Perl',
    remoteId: 'id-perl',
    usedBy: ['person-1'],
    rules: ['in_use'],
    reason: '1 person has it: person-1',
    release: 'remove it from person-1',
    ...(typeof sketch === 'string' ? { name: sketch, remoteId: `id-${sketch}` } : sketch),
  };
}

function planOf(
  toCreate: readonly string[],
  toDelete: readonly string[],
  held: readonly HeldChange[],
  parts: Partial<Plan>,
): Plan {
  const operations: Operation[] = [
    ...toCreate.map((name): Operation => ({ action: 'create', kind: 'skill', name })),
    ...toDelete.map((name): Operation => ({
      action: 'delete',
      kind: 'skill',
      name,
      remoteId: `id-${name}`,
      usedBy: ['person-2'],
    })),
  ];
  return {
    schemaVersion: 1,
    account: 'acme',
    remoteAccountId: '42',
    createdAt: '',
    digest: `sha256:${operations.map(({ action, name }) => `${action}-${name}`).join('-')}`,
    configDigest: 'sha256:c',
    observedDigest: 'sha256:o',
    configCommit: null,
    status: 'planned',
    summary: { create: toCreate.length, delete: toDelete.length, hold: held.length, keep: 7, leave: 0 },
    operations,
    held,
    leftAlone: [],
    warnings: [],
    ...parts,
  };
}
