// What the journal reports of the accounts that run a commit first.
import { expect, it } from 'vitest';
import type { RunStatus } from '../../../src/core/journal.ts';
import { BASE, fixture, runId, T0 } from './fixture.ts';

const HOUR_MS = 3_600_000;
const commitOf = (sha: string) => ({
  sha,
  dirty: false,
  committedAt: '',
  authoredAt: '',
  author: null,
  subject: '',
});

async function stage() {
  const store = await fixture();
  let last = 0;
  /** Journals a run that ended; `held`: the rule of an operation that it held. */
  async function ran(
    account: string,
    commit: string,
    digest: string,
    atHours: number,
    { status = 'converged', applies = true, held = '', isCommand = false } = {} as {
      status?: RunStatus;
      applies?: boolean;
      held?: string;
      isCommand?: boolean;
    },
  ): Promise<void> {
    const id = runId((last += 1));
    const startedAtMs = T0 + atHours * HOUR_MS;
    const lease = await store.take(id, startedAtMs, account);
    const run = { id, account, trigger: isCommand ? 'cli' : 'schedule', mode: 'apply', startedAtMs } as const;
    await store.journal.beginRun({ ...run, configDigest: digest, configCommit: commitOf(commit) });
    await store.journal.claimRemoteAccount({
      runId: id,
      account,
      baseUrl: BASE,
      remoteAccountId: `id of ${account}`,
      configured: new Set([account]),
    });
    if (held !== '') {
      const row = { kind: 'skill', action: 'create', name: 'Go', remoteId: null, reason: null } as const;
      await store.journal.addOperations(id, [{ ...row, status: 'held', rule: held }]);
    }
    if (applies) await store.apply(id, lease, { commit: { sha: commit, committedAt: '' } });
    await store.end(id, status, startedAtMs + 60_000);
  }
  const history = (digest: string, applied: string | null, nowHours = 10) =>
    store.journal.rolloutHistory('acme', digest, applied, {
      canaries: ['canary'],
      nowMs: T0 + nowHours * HOUR_MS,
    });
  return { ran, history };
}

const atMs = (hours: number) => T0 + hours * HOUR_MS + 60_000;

it('an account whose file is as it was when it was last applied has nothing to wait for', async () => {
  const { ran, history } = await stage();
  await ran('acme', 'c1', 'd1', 0);
  expect(await history('d1', 'c1')).toBeNull();
  expect(await history('d2', 'c1')).not.toBeNull();
  expect(await history('d1', null)).not.toBeNull();
});

it('the commit is the first one on which a daemon ran the account with its present file', async () => {
  const { ran, history } = await stage();
  await ran('acme', 'c0', 'd2', 0);
  await ran('acme', 'c1', 'd1', 1);
  await ran('acme', 'branch', 'd2', 2, { isCommand: true, applies: false });
  await ran('acme', 'c2', 'd2', 3, { applies: false, held: 'rollout', status: 'held' });
  await ran('acme', 'c3', 'd2', 4, { applies: false, held: 'rollout', status: 'held' });
  expect(await history('d2', 'c1')).toMatchObject({ commit: 'c2' });
  expect(await history('d3', 'c1')).toMatchObject({ commit: null });
});

it('the runs of a canary count that ended well, by the first one on each commit, and not those that waited', async () => {
  const { ran, history } = await stage();
  await ran('acme', 'c1', 'd1', 0);
  await ran('canary', 'c2', 'd2', 1, { status: 'partial' });
  await ran('canary', 'c2', 'd2', 2, { status: 'held', held: 'rollout', applies: false });
  await ran('canary', 'c2', 'd2', 3, { status: 'held', held: 'in_use' });
  await ran('canary', 'c2', 'd2', 4);
  await ran('canary', 'c3', 'd2', 5);
  await ran('canary', 'c3', 'd2', 6, { status: 'failed', applies: false });
  await ran('canary', 'c3', 'd2', 7, { status: 'interrupted', applies: false });
  expect(await history('d2', 'c1')).toEqual({
    commit: null,
    canaries: [
      {
        account: 'canary',
        appliedCommit: 'c3',
        latest: 'failed',
        good: [
          { commit: 'c2', endedAtMs: atMs(3) },
          { commit: 'c3', endedAtMs: atMs(5) },
        ],
      },
    ],
  });
  expect(await history('d2', null)).toMatchObject({ canaries: [{ account: 'canary' }] });
});

it('runs of the future, before the clock was set back, neither count for a canary nor hide the others', async () => {
  const { ran, history } = await stage();
  await ran('acme', 'c1', 'd1', 100);
  await ran('canary', 'c2', 'd2', 101);
  await ran('canary', 'c2', 'd2', 2);
  await ran('canary', 'c2', 'd2', 3, { status: 'failed', applies: false });
  expect((await history('d2', 'c1'))?.canaries).toMatchObject([
    { latest: 'failed', good: [{ commit: 'c2', endedAtMs: atMs(2) }] },
  ]);
  expect((await history('d2', 'c1', 102))?.canaries).toMatchObject([{ latest: 'converged' }]);
});

it('a canary that never ran has no history', async () => {
  const { history } = await stage();
  const canaries = [{ account: 'canary', appliedCommit: null, latest: null, good: [] }];
  expect(await history('d1', null)).toEqual({ commit: null, canaries });
});
