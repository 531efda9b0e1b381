// Sample plans and runs for the tests of reports.
import type { OperationRecord, RunRecord } from '../../../src/core/schemas.ts';
import type { HeldChange, Operation, Plan } from '../../../src/core/plan.ts';
import type { ReportOptions } from '../../../src/report/document.ts';

export const TEXT: ReportOptions = { format: 'text', colour: false, width: 100 };
export const JSON_FORMAT: ReportOptions = { format: 'json', colour: false, width: 100 };
export const MARKDOWN: ReportOptions = { format: 'markdown', colour: false, width: 100 };

export const DIGEST = `sha256:${'ab12cd34'.repeat(8)}`;

export function makePlan(parts: Partial<Plan> = {}): Plan {
  const operations = parts.operations ?? [];
  const held = parts.held ?? [];
  return {
    schemaVersion: 1,
    account: 'acme-eu',
    remoteAccountId: '4815162342',
    createdAt: '2026-11-21T05:24:10.123Z',
    digest: DIGEST,
    configDigest: `sha256:${'1'.repeat(64)}`,
    observedDigest: `sha256:${'2'.repeat(64)}`,
    configCommit: '3f2a91c0d1e2f3a4b5c6d7e8f9a0b1c2d3e4f5a6',
    status: 'planned',
    summary: {
      create: operations.filter(({ action }) => action === 'create').length,
      delete: operations.filter(({ action }) => action === 'delete').length,
      hold: held.length,
      keep: 412,
      leave: parts.leftAlone?.length ?? 0,
    },
    operations,
    held,
    leftAlone: [],
    warnings: [],
    ...parts,
  };
}

export function create(name: string, kind: 'skill' | 'role' = 'skill'): Operation {
  return { action: 'create', kind, name };
}

export function remove(
  name: string,
  usedBy: readonly string[] = [],
  kind: 'skill' | 'role' = 'skill',
): Operation {
  return { action: 'delete', kind, name, remoteId: `id-${name.length}`, usedBy };
}

export function hold(name: string, parts: Partial<HeldChange> = {}): HeldChange {
  return {
    action: 'delete',
    kind: 'skill',
    name,
    remoteId: '65a1f0c2e4b0a1b2c3d4e5f6',
    usedBy: [],
    rules: ['in_use'],
    reason: 'People have it.',
    release: 'Remove it from them, or allow the delete under allowedDeletes.',
    ...parts,
  };
}

export function resourceIds(amount: number): string[] {
  return Array.from({ length: amount }, (_, index) => `res-${String(index + 1).padStart(4, '0')}`);
}

/** A plan with something in every section. */
export const MIXED = makePlan({
  operations: [
    create('Kubernetes'),
    { ...create('日本語'), reason: 'listed by catalogs/languages.yaml' },
    create('Designer', 'role'),
    remove('Cobol'),
    remove('Visual Basic', resourceIds(3)),
  ],
  held: [
    hold('Perl', {
      usedBy: resourceIds(47),
      reason: '47 people have it.',
      release: 'It is deleted when nobody has it; or allow it under allowedDeletes.',
    }),
    hold('K8s', {
      usedBy: ['res-0007'],
      rules: ['in_use', 'rename'],
      reason: 'It is the old name of Kubernetes, and 1 person still has it.',
      release: 'Move that person to Kubernetes; the next run deletes the old name.',
    }),
    hold('Fortran', {
      rules: ['in_use'],
      reason: 'It must be unused for a day first.',
      release: 'It is deleted when it has been unused for 24h.',
    }),
    hold('Ada', {
      rules: ['in_use'],
      reason: 'It must be unused for a day first.',
      release: 'It is deleted when it has been unused for 24h.',
    }),
  ],
  leftAlone: [
    { kind: 'skill', name: 'Admin tools', remoteId: 'a1', rule: 'protected' },
    { kind: 'skill', name: 'Excel', remoteId: 'a2', rule: 'unmanaged' },
    { kind: 'skill', name: 'Word', remoteId: 'a3', rule: 'unmanaged' },
    { kind: 'role', name: 'Intern', remoteId: 'a4', rule: 'unmanaged' },
    { kind: 'skill', name: 'TypeScript', remoteId: 'a5', rule: 'duplicate' },
  ],
  warnings: [
    {
      code: 'no_history',
      message:
        'This plan was made without history: ownership, stale source, flapping and the daily limit cannot be judged.',
    },
    {
      code: 'near_name',
      message: 'It is near the desired name TypeScript.',
      kind: 'skill',
      name: 'typescript ',
      remoteId: 'a9',
    },
  ],
});

export function makeRun(parts: Partial<RunRecord> = {}): RunRecord {
  return {
    id: '0193a5c2-7b1e-7c3d-8e4f-5a6b7c8d9e0f',
    account: 'acme-eu',
    remoteAccountId: '4815162342',
    trigger: 'cli',
    actor: null,
    mode: 'apply',
    status: 'converged',
    startedAt: '2026-11-21T05:24:10.123Z',
    finishedAt: '2026-11-21T05:24:22.500Z',
    configDigest: `sha256:${'1'.repeat(64)}`,
    configCommit: '3f2a91c0d1e2f3a4b5c6d7e8f9a0b1c2d3e4f5a6',
    planDigest: DIGEST,
    plannedCreates: 0,
    plannedDeletes: 0,
    created: 0,
    deleted: 0,
    held: 0,
    kept: 412,
    failed: 0,
    requests: 12,
    retries: 0,
    errorCode: null,
    error: null,
    configDirty: false,
    configAuthoredAt: '2026-11-20T10:00:00.000Z',
    configAuthor: 'Dana',
    configSubject: 'Add Rust',
    ...parts,
  };
}

export function makeOperation(
  seq: number,
  name: string,
  parts: Partial<OperationRecord> = {},
): OperationRecord {
  return {
    runId: '0193a5c2-7b1e-7c3d-8e4f-5a6b7c8d9e0f',
    seq,
    kind: 'skill',
    action: 'create',
    name,
    remoteId: null,
    status: 'done',
    rule: null,
    reason: null,
    attempts: 1,
    httpStatus: 201,
    startedAt: '2026-11-21T05:24:11.000Z',
    finishedAt: '2026-11-21T05:24:11.240Z',
    ...parts,
  };
}
