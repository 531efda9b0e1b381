// The lease of an account, and the run of a holder that died.
import { spawn } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import { HOST } from '../../../src/store/process-identity.ts';
import { ENGINE, fixture, openAgain, operation, result, runId, T0 } from './fixture.ts';

const LEASE_MS = 30_000;
const HOUR_MS = 3_600_000;

/** The id of a process that has ended. */
async function deadPid(): Promise<number> {
  const child = spawn(process.execPath, ['-e', '']);
  await new Promise((resolve) => child.on('exit', resolve));
  if (child.pid === undefined) throw new Error('no process');
  return child.pid;
}

async function deadHolder(): Promise<string> {
  return `${await deadPid()} ${HOST}`;
}

describe('a lease', () => {
  it('is held by one run, and names the holder', async () => {
    const store = await fixture();
    await store.take(runId(1));
    const attempt = await store.locks.acquire('acme', runId(2), T0 + 1);
    expect(attempt).toMatchObject({ heldBy: expect.stringContaining(runId(1)) });
    expect('heldBy' in attempt && attempt.heldBy).toContain(String(process.pid));
  });

  it('is given to exactly one of many simultaneous requests', async () => {
    const store = await fixture();
    const attempts = await Promise.all([1, 2, 3, 4, 5].map((n) => store.locks.acquire('acme', runId(n), T0)));
    expect(attempts.filter((attempt) => 'lease' in attempt)).toHaveLength(1);
  });

  it('whose end is far in the future, because the clock of the store was set back, is free', async () => {
    const store = await fixture();
    await store.take(runId(1), T0 + HOUR_MS);
    expect(await store.locks.acquire('acme', runId(2), T0)).toHaveProperty('lease');
  });

  it('of a dead process is taken over immediately', async () => {
    const store = await fixture();
    await store.take(runId(1));
    store.execute('update accounts set lease_holder = ?', await deadHolder());
    expect(await store.locks.acquire('acme', runId(2), T0)).toHaveProperty('lease');
  });

  it('of a process of another machine is taken over when it has expired, and not before', async () => {
    const store = await fixture();
    await store.take(runId(1));
    store.execute('update accounts set lease_holder = ?', `${await deadPid()} elsewhere||`);
    expect(await store.locks.acquire('acme', runId(2), T0 + LEASE_MS - 1)).toHaveProperty('heldBy');
    expect(await store.locks.acquire('acme', runId(2), T0 + LEASE_MS)).toHaveProperty('lease');
  });

  it('that is renewed expires later', async () => {
    const store = await fixture();
    const lease = await store.take(runId(1));
    expect((await store.locks.renew([lease.runId], T0 + 20_000)).held).toContain(lease.runId);
    expect(await store.locks.acquire('acme', runId(2), T0 + LEASE_MS + 10_000)).toHaveProperty('heldBy');
  });

  it('that was taken over cannot be renewed or released by the former holder', async () => {
    const store = await fixture();
    const lost = await store.take(runId(1));
    const other = await openAgain(store);
    await other.take(runId(2), T0 + LEASE_MS);
    expect((await store.locks.renew([lost.runId], T0 + LEASE_MS + 1)).held).toEqual(new Set());
    await store.locks.release(lost);
    expect(await store.locks.acquire('acme', runId(3), T0 + LEASE_MS + 2)).toHaveProperty('heldBy');
  });
});

describe('committing operations', () => {
  async function prepared() {
    const store = await fixture();
    const lease = await store.take(runId(1));
    const id = await store.begin(1);
    await store.journal.addOperations(id, [operation(), operation({ name: 'Other' })]);
    const statuses = () =>
      store.rows<{ status: string }>('select status from operations order by seq').map((row) => row.status);
    return { store, id, lease, statuses };
  }

  it('marks them as sent under the lock', async () => {
    const { store, id, lease, statuses } = await prepared();
    expect(await store.journal.commitOperations(id, lease, [{ seq: 1, atMs: T0 }], [])).toBe('committed');
    expect(statuses()).toEqual(['sent', 'pending']);
  });

  it('marks nothing as sent after a takeover, so that the new holder settles what is unknown', async () => {
    const { store, id, lease, statuses } = await prepared();
    await store.journal.commitOperations(id, lease, [{ seq: 1, atMs: T0 }], []);
    await store.take(runId(2), T0 + LEASE_MS);
    expect(await store.journal.commitOperations(id, lease, [{ seq: 2, atMs: T0 }], [])).toBe('lock_lost');
    expect(statuses()).toEqual(['unknown', 'skipped']);
    expect((await store.history('acme', '42')).unsettled).toMatchObject([{ runId: id, seq: 1 }]);
  });

  it('fails after the release of the lock', async () => {
    const { store, id, lease, statuses } = await prepared();
    await store.locks.release(lease);
    expect(await store.journal.commitOperations(id, lease, [{ seq: 1, atMs: T0 }], [])).toBe('lock_lost');
    expect(statuses()).toEqual(['pending', 'pending']);
  });
});

describe('the broken run of a holder that died', () => {
  async function broken() {
    const store = await fixture();
    const lease = await store.take(runId(1));
    const id = await store.begin(1);
    await store.journal.addOperations(id, [
      operation({ name: 'done' }),
      operation({ name: 'sent' }),
      operation({ name: 'pending' }),
      operation({ name: 'held', status: 'held', rule: 'in_use', action: 'delete' }),
    ]);
    await store.journal.commitOperations(
      id,
      lease,
      [1, 2].map((seq) => ({ seq, atMs: T0 })),
      [],
    );
    await store.journal.commitOperations(
      id,
      lease,
      [],
      [result(1, { entry: { remoteId: 's1', name: 'done' } })],
    );
    const pid = await deadPid();
    store.execute('update accounts set lease_holder = ?', `${pid} ${HOST}`);
    store.execute('update runs set holder_pid = ?', pid);
    return { store, id };
  }

  it('is interrupted and stays so: its sent operations are unknown and to be settled, the rest skipped', async () => {
    const { store, id } = await broken();
    await store.take(runId(2), T0 + 5000);
    const detail = await store.reader.run(id);
    expect(detail?.run).toMatchObject({ status: 'interrupted', created: 1, deleted: 0, held: 1, failed: 1 });
    expect(detail?.operations.map(({ status }) => status)).toEqual(['done', 'unknown', 'skipped', 'held']);
    expect(detail?.operations[1]).toMatchObject({
      attempts: 1,
      finishedAt: new Date(T0 + 5000).toISOString(),
    });
    expect((await store.history('acme', '42')).unsettled).toMatchObject([
      { runId: id, seq: 2, name: 'sent', sinceMs: T0 + 5000 },
    ]);
    // Its process ends it late.
    expect(await store.end(id, 'converged', T0 + 6000)).toBe(false);
    expect((await store.reader.run(id))?.run.status).toBe('interrupted');
  });

  it('leaves nothing pending that its process planned after it had lost the lock', async () => {
    const store = await fixture();
    await store.take(runId(1));
    const id = await store.begin(1);
    await store.take(runId(2), T0 + 31_000);
    const late = store.journal.addOperations(id, [operation()]);
    await expect(late).rejects.toMatchObject({ code: 'lock_lost' });
    expect(await store.end(id, 'converged', T0 + 32_000)).toBe(false);
    expect((await store.reader.run(id))?.operations).toEqual([]);
  });

  it('is found although its lock was released before it was ended', async () => {
    const store = await fixture();
    const lease = await store.take(runId(1));
    const id = await store.begin(1);
    await store.journal.addOperations(id, [operation()]);
    await store.journal.commitOperations(id, lease, [{ seq: 1, atMs: T0 }], []);
    // The disk was full at the end of the run; the same process continues with the next run.
    await store.locks.release(lease);
    await store.take(runId(2), T0 + 5000);
    expect((await store.reader.run(id))?.run.status).toBe('interrupted');
    expect((await store.history('acme', '42')).unsettled).toHaveLength(1);
  });

  // In PostgreSQL, machines may share a name, so a holder of another boot may be another machine.
  it.each(
    ENGINE === 'sqlite'
      ? [[5000, 'interrupted']]
      : [
          [5000, 'running'],
          [25 * HOUR_MS, 'interrupted'],
        ],
  )(
    'is found after a restart of the machine, also if it is a dry run without a lock (%i ms later: %s)',
    async (laterMs, status) => {
      const store = await fixture();
      const id = await store.begin(1, { mode: 'plan' });
      const [machine = '', , namespace = ''] = HOST.split('|');
      store.execute('update runs set holder_host = ?', `${machine}|another-boot|${namespace}`);
      await store.take(runId(2), T0 + Number(laterMs));
      expect((await store.reader.run(id))?.run.status).toBe(status);
    },
  );

  it('is ended by the next dry run if it is one itself, because that takes no lock', async () => {
    const store = await fixture();
    const id = await store.begin(1, { mode: 'plan' });
    store.execute('update runs set holder_pid = ?', await deadPid());
    await store.begin(2, { mode: 'plan' });
    expect((await store.reader.run(id))?.run.status).toBe('interrupted');
  });

  it('is not a dry run that is still running beside an apply', async () => {
    const store = await fixture();
    const id = await store.begin(1, { mode: 'plan' });
    await store.take(runId(2));
    expect((await store.reader.run(id))?.run.status).toBe('running');
  });
});
