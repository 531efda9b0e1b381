// The claims of notifications follow the clock of the database.
import { expect, it, onTestFinished } from 'vitest';
import { openStore } from '../../../../src/store/store.ts';
import { hasPostgres } from '../../../support/postgres.ts';
import { freshLocation, runId } from '../fixture.ts';

const HOUR_MS = 3_600_000;

it.skipIf(!hasPostgres)(
  'a replica whose clock is ahead does not send again what another one is sending',
  async () => {
    const store = await openStore(await freshLocation());
    onTestFinished(() => store.close());
    const nowMs = Date.now();
    const notified = { states: { failed: 'failed' }, asOfMs: nowMs } as const;
    const notice = { id: 'notice-1', runId: runId(1), type: 'failed', commit: null, body: '{}' } as const;
    await store.outbox.notify('acme', ['t'], () => ({ notified, notices: [notice] }), nowMs - 1000);
    const sent = async (claimant: string, atMs: number) =>
      (await store.outbox.claim('t', claimant, { messages: 9, collectMs: 0 }, atMs)).messages
        .flat()
        .map(({ id }) => id);
    expect(await sent('one', nowMs)).toEqual(['notice-1']);
    expect(await sent('two', nowMs + HOUR_MS)).toEqual([]);
  },
);
