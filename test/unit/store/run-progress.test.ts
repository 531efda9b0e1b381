// What progress bars read from the journal: how far a run is.
import { expect, it } from 'vitest';
import { fixture, operation, result, runId, T0 } from './fixture.ts';

it('the progress counts the operations of a run by their results, without the held ones', async () => {
  const store = await fixture();
  const lease = await store.take(runId(1));
  const id = await store.begin(1);
  expect(await store.reader.runProgress(id)).toEqual({
    status: 'running',
    total: 0,
    done: 0,
    failed: 0,
    sent: 0,
    unknown: 0,
    firstSentAt: null,
  });
  const names = ['A', 'B', 'C', 'D', 'E'];
  await store.journal.addOperations(id, [
    ...names.map((name) => operation({ name })),
    operation({ name: 'F', status: 'held', rule: 'in_use' }),
  ]);
  const sent = [1, 2, 3, 4].map((seq) => ({ seq, atMs: T0 + seq * 1000 }));
  const results = [result(1), result(2, { status: 'failed' }), result(3, { status: 'unknown' })];
  await store.journal.commitOperations(id, lease, sent, []);
  await store.journal.commitOperations(id, lease, [], results);
  expect(await store.reader.runProgress(id)).toEqual({
    status: 'running',
    total: 5,
    done: 1,
    failed: 1,
    sent: 1,
    unknown: 1,
    firstSentAt: new Date(T0 + 1000).toISOString(),
  });
  expect(await store.reader.runProgress(runId(99))).toBeNull();
});
