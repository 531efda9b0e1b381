// What an account waits for before it takes a newer commit.
import { describe, expect, it } from 'vitest';
import type { CanaryHistory } from '../../../src/core/ports/journal.ts';
import { openRollout } from '../../../src/run/plan-account.ts';
import type { PlanningDeps } from '../../../src/run/request.ts';
import { bareRequest, unused } from './bare-context.ts';

const NOW_MS = Date.parse('2026-03-10T12:00:00.000Z');
const HOUR_MS = 3_600_000;

/** A canary that converged on commit c2 two hours ago. */
const DONE: CanaryHistory = {
  account: 'canary-1',
  appliedCommit: 'c2',
  latest: 'converged',
  good: [{ commit: 'c2', endedAtMs: NOW_MS - 2 * HOUR_MS }],
};

interface Setting {
  readonly canaries?: readonly Partial<CanaryHistory>[];
  /** The commit that changed the file. */
  readonly since?: string | null;
  readonly commit?: string | null;
  readonly applied?: string | null;
  readonly isCommand?: boolean;
  readonly isSame?: boolean;
  readonly isDirty?: boolean;
  readonly after?: readonly string[];
}

/** Commits are c1, c2, … in this order; those of another line are d1, d2, …. */
async function waits(of: Setting = {}) {
  const { commit = 'c2', applied = 'c1', since = commit, after = ['canary-*'] } = of;
  const bare = bareRequest();
  const canaries = (of.canaries ?? [{}]).map((each) => ({ ...DONE, ...each }));
  const seen: string[][] = [];
  const deps: PlanningDeps = {
    ...unused<PlanningDeps>('deps'),
    journal: {
      ...unused<PlanningDeps['journal']>('journal'),
      rolloutHistory: async (_account, _digest, _applied, { canaries: names }) => {
        seen.push([...names]);
        return of.isSame === true ? null : { commit: since, canaries };
      },
    },
    compareCommits: async (a, b) => (a[0] !== b[0] ? 'diverged' : a < b ? 'ancestor' : 'descendant'),
  };
  const request = {
    ...bare,
    settings: { ...bare.settings, rollout: { after, waitMs: HOUR_MS } },
    configured: new Set(['acme', 'canary-1', 'canary-2']),
    commit:
      commit === null
        ? null
        : {
            sha: commit,
            dirty: of.isDirty === true,
            committedAt: '',
            authoredAt: '',
            author: null,
            subject: '',
          },
    ...(of.isCommand === true ? {} : { lease: { account: 'acme', runId: 'run', takenAtMs: 0 } }),
  };
  const lastAppliedCommit = applied === null ? null : { sha: applied, committedAt: '' };
  return { open: await openRollout(request, deps, { lastAppliedCommit }, NOW_MS), seen };
}

describe('an account takes a newer commit', () => {
  it.each<[string, Setting]>([
    ['when its canary has converged on it long enough ago', {}],
    ['when its canary has converged on a later one', { since: 'c2', commit: 'c3' }],
    ['that changes nothing in its file', { isSame: true }],
    ['that it has applied already', { applied: 'c2', canaries: [{ good: [] }] }],
    ['by a command', { isCommand: true, canaries: [{ good: [] }] }],
    [
      'while its files have local changes, which another rule holds',
      { isDirty: true, canaries: [{ good: [] }] },
    ],
    ['without git', { commit: null, canaries: [{ good: [] }] }],
    [
      'when a later commit did not change it, and the canary converged on the first one',
      { commit: 'c9', since: 'c2' },
    ],
    [
      'when the commit that changed its file is in no branch any more, and the canary converged on the present one',
      { since: 'd1' },
    ],
    ['when the canary was interrupted after it had converged', { canaries: [{ latest: 'converged' }] }],
    ['when every canary has', { canaries: [{}, { account: 'canary-2' }] }],
  ])('%s', async (_, of) => {
    expect((await waits(of)).open).toBeNull();
  });
});

describe('an account waits', () => {
  const since = (ms: number) => [{ commit: 'c2', endedAtMs: NOW_MS - ms }];
  it.each<[string, Setting, string | null, number | null]>([
    [
      'while its canary has not run it',
      { canaries: [{ good: [], appliedCommit: 'c1' }] },
      'has not converged on it yet',
      null,
    ],
    [
      'while its canary converged on it only because it waits itself',
      { canaries: [{ appliedCommit: 'c1' }] },
      'has not converged on it yet',
      null,
    ],
    [
      'while its canary has run only an earlier commit',
      { canaries: [{ good: [{ commit: 'c1', endedAtMs: 0 }], appliedCommit: 'c1' }] },
      'has not converged on it yet',
      null,
    ],
    [
      'for the time that is left',
      { canaries: [{ good: since(HOUR_MS / 2) }] },
      'has converged on it, and the wait is not over',
      NOW_MS + HOUR_MS / 2,
    ],
    ['while its canary fails', { canaries: [{ latest: 'failed' }] }, 'ended its latest run as failed', null],
    [
      'while its canary is partial',
      { canaries: [{ latest: 'partial' }] },
      'ended its latest run as partial',
      null,
    ],
    [
      'while its canary is blocked',
      { canaries: [{ latest: 'blocked' }] },
      'ended its latest run as blocked',
      null,
    ],
    ['when it is new', { applied: null, canaries: [{ good: [] }] }, 'has not converged on it yet', null],
  ])('%s', async (_, of, reason, untilMs) => {
    expect((await waits(of)).open).toEqual({
      commit: 'c2',
      waitsFor: `canary-1 ${reason}`,
      untilMs,
    });
  });

  it('for all canaries, and names each that is not ready', async () => {
    const late = { account: 'canary-2', good: since(0) };
    const { open, seen } = await waits({ canaries: [{}, late] });
    expect(open).toMatchObject({ waitsFor: 'canary-2 has converged on it, and the wait is not over' });
    expect(seen).toEqual([['canary-1', 'canary-2']]);
    const failed = { latest: 'failed' } as const;
    expect((await waits({ canaries: [failed, late] })).open).toEqual({
      commit: 'c2',
      waitsFor:
        'canary-1 ended its latest run as failed, canary-2 has converged on it, and the wait is not over',
      untilMs: null,
    });
  });
});
