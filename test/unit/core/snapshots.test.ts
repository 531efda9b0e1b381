// The sizes of the lists in a snapshot.
import { expect, it } from 'vitest';
import { listSize } from '../../../src/core/ports/journal-reader.ts';
import type { SnapshotRecord } from '../../../src/core/command-schemas.ts';

const SNAPSHOT: SnapshotRecord = {
  id: 7,
  account: 'acme',
  remoteAccountId: '42',
  runId: 'run-1',
  runStatus: 'converged',
  phase: 'before',
  takenAt: '2026-03-10T12:00:00.000Z',
  lists: [
    { kind: 'skill', entries: 3, digest: 'sha256:a' },
    { kind: 'resource', entries: 5, digest: 'sha256:b' },
  ],
};

it('the size of a list in a snapshot is the number of its objects, and 0 without the list', () => {
  const sizes = (['skill', 'role', 'resource'] as const).map((kind) => listSize(SNAPSHOT, kind));
  expect(sizes).toEqual([3, 0, 5]);
});
