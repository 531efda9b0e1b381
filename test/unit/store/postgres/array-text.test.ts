// Texts in arrays, which one statement passes for many rows, are stored as the same texts elsewhere.
import { describe, expect, it, onTestFinished } from 'vitest';
import { openPostgresStore } from '../../../../src/store/postgres/open-postgres-store.ts';
import { hasPostgres } from '../../../support/postgres.ts';
import { freshLocation } from '../fixture.ts';

const HOSTILE = [
  'nul\0',
  'half \ud800',
  'other half \udc00 \ud83d',
  'mark \ufdd0',
  '{"a",NULL}',
  'NULL',
  '\\',
];

describe.skipIf(!hasPostgres)('a text that PostgreSQL cannot store', () => {
  it.each(HOSTILE)('%j stops no account when the schedules are stored', async (text) => {
    const store = await openPostgresStore(await freshLocation());
    onTestFinished(() => store.close());
    const { turns } = store;
    if (turns === null) throw new Error('the store has no turns');
    const other = { schedule: '* * * * *', timezone: 'Etc/UTC', jitterMs: 0, revision: 'a', isBroken: false };
    const times = { dueMs: 0, tickMs: 0, backoffUntilMs: null };
    const names = ['fine', `odd ${text}`];
    await turns.register('one', '1', 60_000);
    const own = { generation: 1, isNewest: true, commit: null, digest: '', flaws: 0 };
    const schedules = names.map((name) => ({ name, lane: text, digest: text, ...other, ...times }));
    expect(await turns.update('one', await turns.situation('one'), own, schedules)).toBe(true);
    const rooms = [{ lane: text, room: 9 }];
    const claimed = await turns.claim('one', 1, rooms, { most: 9, except: [] });
    expect(claimed.turns.map(({ account, lane }) => [account, lane])).toEqual(
      names.map((name) => [name, text]),
    );
    await turns.releaseOthers('one', [`odd ${text}`]);
    expect(await turns.active()).toEqual(
      new Map([
        ['fine', 'queued'],
        [`odd ${text}`, 'running'],
      ]),
    );
  });
});
