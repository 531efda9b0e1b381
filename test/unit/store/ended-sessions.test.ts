// The sessions that were ended: in every process, until they would have expired, and in bounded number.
import { expect, it } from 'vitest';
import { fixture, openAgain, T0 } from './fixture.ts';

const HOUR_MS = 3_600_000;
const LIFE_MS = 12 * HOUR_MS;
const KEPT = "select count(*) as kept from settings where name like 'ended%'";

const session = (id: string, holder = 'ops', expiresMs = T0 + LIFE_MS) => ({ holder, id, expiresMs });

it('an ended session is ended in every process that uses the store, and no other session is', async () => {
  const store = await fixture();
  await store.endedSessions.end(session('one'), T0);
  await store.endedSessions.end(session('one'), T0);
  const { endedSessions } = await openAgain(store);
  expect(await endedSessions.hasEnded(session('one'))).toBe(true);
  expect(await endedSessions.hasEnded(session('on'))).toBe(false);
  expect(await endedSessions.hasEnded(session('one', 'op'))).toBe(false);
});

it('an ended session is forgotten an hour after it would have expired', async () => {
  const store = await fixture();
  const { endedSessions, settings } = store;
  await settings.valueOr('session_key', 'key');
  await endedSessions.end(session('one'), T0);
  await endedSessions.end(session('two', 'ops', T0 + 2 * LIFE_MS), T0 + LIFE_MS + HOUR_MS);
  expect(await endedSessions.hasEnded(session('one'))).toBe(true);
  await endedSessions.end(session('three', 'ops', T0 + 2 * LIFE_MS), T0 + LIFE_MS + HOUR_MS + 1);
  expect(store.rows(KEPT)).toEqual([{ kept: 2 }]);
  expect(await settings.valueOr('session_key', 'other')).toBe('key');
});

it('somebody who ends many sessions of one token makes the store forget none of another', async () => {
  const store = await fixture();
  const { endedSessions } = store;
  await endedSessions.end(session('copied', 'admin', T0 + 1), T0);
  await endedSessions.end(session('first', 'ci', T0 + 1), T0);
  store.execute(
    `insert into settings (name, value)
     with recursive n (i) as (select 1 union all select i + 1 from n where i < 9999)
     select 'ended_session:ci:' || i, '${new Date(T0 + LIFE_MS).toISOString()}' from n`,
  );
  await endedSessions.end(session('last', 'ci'), T0);
  expect(store.rows(KEPT)).toEqual([{ kept: 10_001 }]);
  expect(await endedSessions.hasEnded(session('first', 'ci'))).toBe(false);
  expect(await endedSessions.hasEnded(session('last', 'ci'))).toBe(true);
  expect(await endedSessions.hasEnded(session('copied', 'admin'))).toBe(true);
});
