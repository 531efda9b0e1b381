// The entries that retention deletes, and those that it keeps.
import { describe, expect, it } from 'vitest';
import type { Fixture } from './fixture.ts';
import { DAY_MS, fixture, listed, operation, result, T0 } from './fixture.ts';

const RETENTION = 90 * DAY_MS;
const ids = (store: Fixture) =>
  store.rows<{ id: string }>('select remote_id as id from entries order by 1').map(({ id }) => id);

/** The id of a run that began this many days after T0, which contains that time as a real one does. */
function idAt(day: number): string {
  const time = (T0 + day * DAY_MS).toString(16).padStart(12, '0');
  return `${time.slice(0, 8)}-${time.slice(8)}-7000-8000-000000000000`;
}

/** Such a run, and the entries that it listed. */
async function runAt(store: Fixture, day: number, shown: readonly string[], remote: string | null = '42') {
  const atMs = T0 + day * DAY_MS;
  const id = idAt(day);
  await store.journal.beginRun({
    id,
    account: 'acme',
    trigger: 'schedule',
    mode: 'apply',
    startedAtMs: atMs,
    configDigest: null,
    configCommit: null,
  });
  await store.journal.claimRemoteAccount({
    runId: id,
    account: 'acme',
    baseUrl: 'https://eu.example.com',
    remoteAccountId: remote,
    configured: new Set(['acme']),
  });
  const skill = shown.map((name) => listed(name, name));
  await store.record(id, { skill }, { remoteAccountId: remote, takenAtMs: atMs });
  return id;
}

const prune = (store: Fixture, day: number) => store.prune(RETENTION, T0 + day * DAY_MS);

describe('entries that others created', () => {
  it('are deleted when no list has shown them for as long as runs are kept', async () => {
    const store = await fixture();
    await store.end(await runAt(store, 0, ['gone', 'stays']));
    await store.end(await runAt(store, 50, ['later', 'stays']));
    await store.end(await runAt(store, 100, ['stays']));
    expect(await prune(store, 100)).toMatchObject({ entries: 1 });
    expect(ids(store)).toEqual(['later', 'stays']);
  });

  it('do not fill the store when every list shows thousands of new ones', async () => {
    const store = await fixture();
    for (let day = 0; day < 300; day += 100) {
      const fresh = Array.from({ length: 5000 }, (_, n) => `${String(day)}-${String(n)}`);
      await store.end(await runAt(store, day, fresh));
      await prune(store, day);
    }
    expect(ids(store)).toHaveLength(5000);
  });

  it('are kept while the last good lists show them, however long ago that was', async () => {
    const store = await fixture();
    await store.end(await runAt(store, 0, ['a']));
    await prune(store, 900);
    expect(ids(store)).toEqual(['a']);
  });

  it('are kept while a create is in doubt, because earlier ids are needed to settle it', async () => {
    const store = await fixture();
    const lease = await store.take(idAt(0));
    const id = await runAt(store, 0, ['a']);
    await store.operate(id, lease, [operation()], [result(1, { status: 'unknown' })]);
    await store.end(id, 'partial');
    await store.end(await runAt(store, 200, []));
    await prune(store, 200);
    expect(ids(store)).toEqual(['a']);
  });

  it('are kept for a former remote account, because they identify its token', async () => {
    const store = await fixture();
    await store.end(await runAt(store, 0, ['a'], '42'));
    await store.end(await runAt(store, 100, ['b'], '43'));
    await prune(store, 300);
    expect(ids(store)).toEqual(['a', 'b']);
    const lists = {
      account: 'acme',
      remoteAccountId: '43',
      configured: new Set(['acme']),
      identified: false,
    };
    const owner = await store.journal.foreignOwner({ ...lists, listed: { skill: [{ id: 'a' }], role: [] } });
    expect(owner).toEqual({ account: 'acme', remoteAccountId: '42' });
  });
});

describe('entries that rolecall changed', () => {
  it('are kept: created, adopted, deleted, released by allowedDeletes, and those whose name the service changed', async () => {
    const store = await fixture();
    const lease = await store.take(idAt(0));
    const id = await runAt(store, 0, ['adopted', 'deleted', 'foreign', 'released']);
    const operations = [
      operation({ name: 'Made' }),
      operation({ name: ' Trimmed ' }),
      operation({ action: 'delete', name: 'deleted', remoteId: 'deleted' }),
    ];
    await store.operate(id, lease, operations, [
      result(1, { entry: { remoteId: 'made', name: 'Made' } }),
      result(2, { entry: { remoteId: 'trimmed', name: 'Trimmed', existed: true } }),
      result(3),
    ]);
    const entries = [{ kind: 'skill', remoteId: 'released', allowance: '2026-12-31 Old' }] as const;
    const released = { entries, run: null };
    await store.apply(id, lease, { named: ['skill:adopted'], released });
    await store.end(id);
    await store.end(await runAt(store, 100, ['stays']));
    expect(await prune(store, 200)).toMatchObject({ entries: 1 });
    expect(ids(store)).toEqual(['adopted', 'deleted', 'made', 'released', 'stays', 'trimmed']);
  });
});
