// What charts and progress bars read from the journal: numbers over time, and how far a run is.
import { expect, it } from 'vitest';
import { entry, person, plan, UNLIMITED } from '../core/builders.ts';
import { fixture, listed, operation, result, runId, T0 } from './fixture.ts';

it('the trend has the numbers of each run, oldest first, and null for what a run did not find out', async () => {
  const store = await fixture();
  const first = await store.begin(1);
  await store.record(first, { skill: [listed('a', 'A'), listed('b', 'B')], role: [] });
  await store.journal.recordPlan(
    first,
    plan({
      skills: ['New', 'Newer'],
      policy: UNLIMITED,
      observed: {
        skill: [entry('Used'), entry('Unused')],
        resources: [person('p1', ['Used']), person('p2', ['Used'])],
      },
    }),
  );
  await store.end(first, 'planned', T0 + 5000);
  const failed = await store.begin(2);
  await store.journal.endRun(failed, {
    status: 'failed',
    finishedAtMs: T0 + 6000,
    counts: null,
    traffic: { requests: 1, retries: 0 },
    planDigest: null,
    errorCode: 'unavailable',
    error: 'x',
    warnings: [],
  });
  const third = await store.begin(3);
  await store.record(third, { skill: [listed('a', 'A')] });
  await store.record(third, { skill: [listed('a', 'A'), listed('n', 'New')] }, { phase: 'after' });
  await store.begin(4, { account: 'other' });
  const nothing = { skills: null, roles: null, toCreate: null, toDelete: null, affected: null, held: null };
  expect(await store.reader.trend('acme', 10)).toEqual([
    expect.objectContaining({
      runId: first,
      skills: 2,
      roles: 0,
      toCreate: 2,
      toDelete: 2,
      affected: 2,
      held: 0,
    }),
    expect.objectContaining({ runId: failed, status: 'failed', ...nothing }),
    expect.objectContaining({ runId: third, status: 'running', ...nothing, skills: 2, roles: 0 }),
  ]);
  expect((await store.reader.trend('acme', 2)).map((point) => point.runId)).toEqual([failed, third]);
  expect(await store.reader.trend('nobody', 2)).toEqual([]);
});

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
