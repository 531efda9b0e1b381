// The totals of runs that did not count them: running, killed, or failed early.
import { describe, expect, it } from 'vitest';
import { entry, person, plan } from '../core/builders.ts';
import type { Fixture } from './fixture.ts';
import { fixture, operation, result, runId, T0 } from './fixture.ts';

/** A run that has created one entry, found one, deleted one, failed at one, sent one and not tried the last. */
async function halfWay(store: Fixture): Promise<string> {
  const lease = await store.take(runId(1));
  const id = await store.begin(1);
  await store.record(
    id,
    {},
    {
      plan: plan({
        skills: ['Kept', 'Made', 'Found', 'Refused', 'Sent', 'Never'],
        observed: {
          skill: [entry('Kept'), entry('Held'), entry('Gone')],
          resources: [person('p', ['Held'])],
        },
      }),
    },
  );
  await store.journal.addOperations(id, [
    operation({ name: 'Made' }),
    operation({ name: 'Found' }),
    operation({ name: 'Refused' }),
    operation({ name: 'Sent' }),
    operation({ name: 'Never' }),
    operation({ action: 'delete', name: 'Gone', remoteId: 'Gone' }),
    operation({ action: 'delete', name: 'Held', remoteId: 'Held', status: 'held', rule: 'in_use' }),
  ]);
  const sent = [1, 2, 3, 4, 6].map((seq) => ({ seq, atMs: T0 }));
  await store.journal.commitOperations(id, lease, sent, []);
  await store.journal.commitOperations(
    id,
    lease,
    [],
    [
      result(1, { entry: { remoteId: 'made', name: 'Made' } }),
      result(2, { entry: { remoteId: 'found', name: 'Found', existed: true } }),
      result(3, { status: 'failed', attempts: 2 }),
      result(6),
    ],
  );
  return id;
}

const SO_FAR = { created: 1, deleted: 1, held: 1, kept: 1, failed: 1 };

describe('the totals of a run', () => {
  it('are counted from its operations while it is running', async () => {
    const store = await fixture();
    const id = await halfWay(store);
    const shown = [
      (await store.reader.run(id))?.run,
      (await store.reader.runs({ limit: 1 }))[0],
      (await store.reader.accounts())[0]?.lastRun,
    ];
    for (const run of shown) expect(run).toMatchObject({ ...SO_FAR, status: 'running', requests: 5 });
  });

  it('are completed by the number of its operations in each status, and of those in its plan', async () => {
    const store = await fixture();
    const id = await halfWay(store);
    expect(await store.reader.runTallies([id, runId(9)])).toEqual(
      new Map([
        [
          id,
          {
            statuses: { done: 3, failed: 1, sent: 1, pending: 1, held: 1 },
            planned: { create: 5, delete: 1 },
          },
        ],
      ]),
    );
  });

  it('are counted from its operations after a kill, with doubtful ones as failed', async () => {
    const store = await fixture();
    const id = await halfWay(store);
    store.execute("update accounts set lease_until = '2026-01-01T00:00:00.000Z'");
    await store.take('the next run');
    const killed = { ...SO_FAR, failed: 2, status: 'interrupted', requests: 6 };
    expect((await store.reader.run(id))?.run).toMatchObject(killed);
    expect(store.rows('select created, deleted, held, kept, failed from runs')).toEqual([
      { ...SO_FAR, failed: 2 },
    ]);
  });

  it('are those of its plan when it was killed right after planning', async () => {
    const store = await fixture();
    const id = await store.begin(1);
    await store.record(
      id,
      {},
      {
        plan: plan({
          skills: ['Kept'],
          observed: { skill: [entry('Kept'), entry('Held')], resources: [person('p', ['Held'])] },
        }),
      },
    );
    await store.take('the next run');
    const killed = { created: 0, deleted: 0, held: 1, kept: 1, failed: 0, status: 'interrupted' };
    expect((await store.reader.run(id))?.run).toMatchObject(killed);
  });
});

describe('what the last plan of an account left to do', () => {
  const remaining = async (store: Fixture): Promise<unknown> => (await store.reader.accounts())[0]?.remaining;

  it('is counted at the end of its run, and kept by runs that fail before they plan', async () => {
    const store = await fixture();
    const id = await halfWay(store);
    expect(await remaining(store)).toBeNull();
    await store.end(id, 'partial');
    expect(await remaining(store)).toEqual({ create: 3, delete: 0 });
    await store.end(await store.begin(2), 'failed');
    expect(await remaining(store)).toEqual({ create: 3, delete: 0 });
  });

  it('is its plan after a dry run', async () => {
    const store = await fixture();
    const id = await store.begin(1);
    await store.record(id, {}, { plan: plan({ skills: ['New', 'More'] }) });
    await store.end(id, 'planned');
    expect(await remaining(store)).toEqual({ create: 2, delete: 0 });
  });

  it('is counted when its run was killed', async () => {
    const store = await fixture();
    await halfWay(store);
    store.execute("update accounts set lease_until = '2026-01-01T00:00:00.000Z'");
    await store.take('the next run');
    expect(await remaining(store)).toEqual({ create: 3, delete: 0 });
  });
});
