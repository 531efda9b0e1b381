// What the daemon's API shows of an account.
import { expect, it } from 'vitest';
import { createDaemonApi, type DaemonApiOptions } from '../../../src/daemon/daemon-api.ts';
import { virtualClock } from './virtual-clock.ts';

const T0 = Date.parse('2026-06-01T10:00:00.000Z');

/** The view of an account with this approval and pause. */
async function viewOf(state: object, dueMs: number | null = null) {
  const account = {
    name: 'acme',
    file: '/etc/accounts/acme.yaml',
    isValid: true,
    errors: [],
    settings: null,
  };
  const record = { name: 'acme', lastRun: null, lastSuccessAt: null, remaining: null, dueMs };
  const api = createDaemonApi({
    clock: virtualClock(T0),
    registry: {
      account: () => account,
      service: () => ({ file: '/etc/rolecall.yaml' }),
      serviceErrors: () => [],
    },
    nextTickMs: () => T0 + 60_000,
    reader: {
      accounts: async () => [{ ...record, state: { approval: null, pause: null, pending: null, ...state } }],
    },
  } as unknown as DaemonApiOptions); // only what a view needs
  return await api.account('acme');
}

it('an approval is shown until it expires', async () => {
  const approval = (expiresAtMs: number) => ({ digest: 'sha256:a', by: 'ci', givenAtMs: 0, expiresAtMs });
  expect((await viewOf({ approval: approval(T0 + 1) }))?.approved).toMatchObject({ by: 'ci' });
  expect((await viewOf({ approval: approval(T0) }))?.approved).toBeNull();
});

it('a paused account has no next run', async () => {
  expect(await viewOf({})).toMatchObject({
    nextRunAt: '2026-06-01T10:01:00.000Z',
    file: 'accounts/acme.yaml',
  });
  const paused = await viewOf({ pause: { sinceMs: T0, by: 'ann', reason: null } });
  expect(paused).toMatchObject({ nextRunAt: null, pause: { by: 'ann' } });
});

it('an account that is due waits in the queue, unless it is paused, and runs next at the end of its jitter', async () => {
  expect(await viewOf({}, T0)).toMatchObject({ activity: 'queued' });
  expect(await viewOf({}, T0 + 5000)).toMatchObject({
    activity: 'idle',
    nextRunAt: '2026-06-01T10:00:05.000Z',
  });
  const pause = { sinceMs: T0, by: 'ann', reason: null };
  expect(await viewOf({ pause }, T0)).toMatchObject({ activity: 'idle', nextRunAt: null });
});
