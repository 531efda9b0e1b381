// A run whose lock another run has taken writes nothing more, whichever method of the journal it calls.
import { expect, it } from 'vitest';
import { entryKey } from '../../../src/core/usage.ts';
import { plan } from '../core/builders.ts';
import type { Fixture } from './fixture.ts';
import { BASE, fixture, listed, operation, result, runId, T0 } from './fixture.ts';

const TABLES = ['accounts', 'runs', 'operations', 'plan_bodies', 'snapshots', 'snapshot_bodies', 'entries'];

const contentOf = (store: Fixture) =>
  TABLES.map((table) => store.rows(`select * from ${table} order by 1, 2`));

/** A run that has lost its lock, after a run that left a create and a delete with an unknown outcome. */
async function replaced() {
  const store = await fixture();
  const before = await store.take(runId(1));
  const old = await store.begin(1);
  await store.journal.addOperations(old, [operation(), operation({ action: 'delete', remoteId: 'a' })]);
  const unknown = [1, 2].map((seq) => result(seq, { status: 'unknown' }));
  await store.journal.commitOperations(old, before, [], unknown);
  await store.end(old, 'partial');
  const lease = await store.take(runId(2));
  const id = await store.begin(2);
  await store.journal.addOperations(id, [operation()]);
  await store.take(runId(3), T0 + 31_000);
  store.execute("update accounts set approved_digest = 'sha256:d', approved_at = '2026-03-10T12:00:00.000Z'");
  const [create] = (await store.history('acme', '42')).unsettled;
  if (create === undefined) throw new Error('no create is unsettled');
  return { store, id, lease, create };
}

/** Calls every method with which a run writes. Returns the code of its error, or what it resolves with. */
async function writeAll({ store, id, lease, create }: Awaited<ReturnType<typeof replaced>>) {
  const { journal } = store;
  const applied = {
    runId: id,
    remoteAccountId: '42',
    named: [entryKey('skill', 'a')],
    released: { entries: [], run: null },
    commit: null,
  };
  const claim = { runId: id, account: 'acme', baseUrl: BASE, remoteAccountId: '43', configured: new Set('') };
  const calls: Record<string, () => Promise<unknown>> = {
    claimToken: () => journal.claimToken(lease, 'digest'),
    adoptRenamedAccount: () => journal.adoptRenamedAccount(claim),
    claimRemoteAccount: () => journal.claimRemoteAccount(claim),
    recordObservation: () => store.record(id, { skill: [listed('a', 'A')] }),
    settleOperation: () => journal.settleOperation(create, { hasHappened: true, entry: null }, id, T0),
    takeApproval: () => journal.takeApproval({ id, account: 'acme', byHand: true }, 'sha256:d', T0),
    recordPlan: () => store.record(id, {}, { plan: plan({ skills: ['Go'] }) }),
    addOperations: () => journal.addOperations(id, [operation({ name: 'Late' })]),
    commitOperations: () => journal.commitOperations(id, lease, [{ seq: 1, atMs: T0 }], []),
    rememberApplied: () => journal.rememberApplied(lease, applied),
  };
  const answers: Record<string, unknown> = {};
  for (const [name, call] of Object.entries(calls)) {
    answers[name] = await call().catch((error: unknown) => (error as { code?: string }).code);
  }
  return answers;
}

const REFUSED = {
  claimToken: 'lock_lost',
  adoptRenamedAccount: 'lock_lost',
  claimRemoteAccount: 'lock_lost',
  recordObservation: 'lock_lost',
  settleOperation: 'lock_lost',
  takeApproval: 'lock_lost',
  recordPlan: 'lock_lost',
  addOperations: 'lock_lost',
  commitOperations: 'lock_lost',
  rememberApplied: 'lock_lost',
};

it('a run that was interrupted by the next holder of its lock writes nothing', async () => {
  const made = await replaced();
  const before = contentOf(made.store);
  expect(await writeAll(made)).toEqual(REFUSED);
  expect(await made.store.end(made.id)).toBe(false);
  expect(contentOf(made.store)).toEqual(before);
});

it('a run whose lock was taken, and that is not yet marked as interrupted, writes nothing', async () => {
  const made = await replaced();
  made.store.execute("update runs set status = 'running', finished_at = null where id = ?", made.id);
  made.store.execute("update operations set status = 'pending' where run_id = ?", made.id);
  const before = contentOf(made.store);
  expect(await writeAll(made)).toEqual(REFUSED);
  expect(contentOf(made.store)).toEqual(before);
  const accounts = made.store.rows('select * from accounts');
  expect(await made.store.end(made.id)).toBe(false);
  expect(made.store.rows('select status, error_code from runs where id = ?', made.id)).toEqual([
    { status: 'interrupted', error_code: 'interrupted' },
  ]);
  expect(made.store.rows('select status from operations where run_id = ?', made.id)).toEqual([
    { status: 'skipped' },
  ]);
  expect(made.store.rows('select * from accounts')).toEqual(accounts);
});

it('a run that failed before it began is journaled although another run holds the lock', async () => {
  const store = await fixture();
  await store.take(runId(1));
  const working = await store.begin(1);
  await store.journal.recordFailedRun(
    {
      id: runId(2),
      account: 'acme',
      trigger: 'schedule',
      mode: 'apply',
      startedAtMs: T0 + 2000,
      configDigest: null,
      configCommit: null,
    },
    { code: 'config_invalid', message: 'acme.yaml:1:1: wrong' },
  );
  expect((await store.reader.run(runId(2)))?.run).toMatchObject({
    status: 'failed',
    errorCode: 'config_invalid',
    finishedAt: '2026-03-10T12:00:02.000Z',
  });
  expect((await store.journal.accountState('acme')).consecutiveFailures).toBe(1);
  expect(await store.end(working)).toBe(true);
});
