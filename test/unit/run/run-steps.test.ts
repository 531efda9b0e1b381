// The steps of a run around its writes: the lock, earlier operations, approvals, adoption.
import { describe, expect, it } from 'vitest';
import { ServiceError } from '../../../src/core/errors.ts';
import type { AccountRequest } from '../../../src/run/request.ts';
import type { ObservedCatalog } from '../../../src/core/catalog.ts';
import type { Trigger } from '../../../src/core/journal.ts';
import type { Activity } from '../../../src/core/ports/progress.ts';
import type { ConfigCommit } from '../../../src/core/settings.ts';
import { entry, observed, person, wanted } from '../core/builders.ts';
import { bareRequest } from './bare-context.ts';
import { bareRun, type Before, endCodes } from './bare-run.ts';

const skills = (...names: string[]) => names.map((name) => entry(name));
const COMMIT: ConfigCommit = {
  sha: 'a',
  dirty: false,
  committedAt: '2026-03-10T12:00:00Z',
  authoredAt: '',
  author: null,
  subject: '',
};
const requestFor = (...names: string[]) =>
  bareRequest({ skill: wanted(...names) }, { maxDeletePercent: 100 });
const LEASE = { lease: { account: 'acme', runId: 'run', takenAtMs: 0 } };

describe('a dry run', () => {
  it('journals the plan and the lists, and writes nothing', async () => {
    const run = bareRun({ skill: skills('Old') });
    const result = await run.plan({ ...requestFor('New'), commit: COMMIT });
    expect(result).toMatchObject({
      runId: 'run',
      status: 'planned',
      plan: { summary: { create: 1, delete: 1 } },
    });
    expect([run.sent, run.recorded.log]).toEqual([[], ['begin', 'before', 'plan', 'end']]);
    expect(run.recorded.begun).toMatchObject([
      {
        id: 'run',
        account: 'acme',
        trigger: 'cli',
        mode: 'plan',
        startedAtMs: run.clock.nowMs(),
        configCommit: COMMIT,
      },
    ]);
    expect(run.recorded.applied).toEqual([]);
  });

  it.each<[Trigger, boolean]>([
    ['cli', false],
    ['schedule', true],
    ['manual', true],
  ])('started by %s clears the plan that waits for approval: %s', async (trigger, clears) => {
    const run = bareRun({});
    await run.plan({ ...requestFor('New'), trigger });
    expect(run.recorded.ends.map((end) => [end.pending, 'pending' in end])).toEqual([
      [clears ? null : undefined, clears],
    ]);
  });

  it('fails when it cannot observe', async () => {
    const run = bareRun({});
    run.lists = new ServiceError('unavailable', 'no answer');
    expect(await run.plan(requestFor())).toMatchObject({
      status: 'failed',
      failure: { code: 'unavailable' },
    });
    expect(run.recorded.ends).toMatchObject([{ status: 'failed', traffic: { requests: 0, retries: 0 } }]);
  });

  it('fails when the account cannot be opened', async () => {
    const run = bareRun({});
    const service = { ...run.deps.service, reader: () => Promise.reject(new ServiceError('auth', 'no')) };
    Object.assign(run.deps, { service });
    expect(await run.plan(requestFor())).toMatchObject({
      status: 'failed',
      failure: { code: 'unauthorized' },
    });
    expect(await run.apply(requestFor())).toMatchObject({
      status: 'failed',
      failure: { code: 'unauthorized' },
    });
    expect(run.recorded.ends.map(({ traffic }) => traffic)).toEqual([
      { requests: 0, retries: 0 },
      { requests: 0, retries: 0 },
    ]);
  });
});

describe('the lock', () => {
  it('prevents a run while another process holds it', async () => {
    const run = bareRun({});
    run.locks = [{ heldBy: 'pid 7' }];
    expect(await run.apply(requestFor('New'))).toEqual({ heldBy: 'pid 7' });
    expect(run.recorded.log).toEqual([]);
  });

  it('is released by a failed run too', async () => {
    const run = bareRun({});
    run.lists = new ServiceError('unavailable', 'no answer');
    expect(await run.apply(requestFor())).toMatchObject({
      status: 'failed',
      failure: { code: 'unavailable' },
    });
    expect(run.recorded.log).toEqual(['begin', 'end', 'release']);
  });

  it('does not make the run read the files again without a wait', async () => {
    const run = bareRun({});
    await run.apply(requestFor('New'), { reread: async () => requestFor('Other') });
    run.locks = [{ heldBy: 'pid 7' }, LEASE];
    await run.apply(requestFor('New', 'More'), { lockTimeoutMs: 1000 });
    expect(run.sent).toEqual(['POST skill New', 'POST skill More']);
  });
});

describe('operations that earlier runs left open', () => {
  const EARLIER = { runId: 'earlier', seq: 3, kind: 'skill', attempts: 1 } as const;
  const create = { ...EARLIER, action: 'create', name: 'New', remoteId: null, sinceMs: 0 } as const;
  const deleted = {
    ...EARLIER,
    action: 'delete',
    name: 'Old',
    remoteId: 'Old',
    sinceMs: Date.now(),
  } as const;
  const both = { skill: skills('Kept', 'Old') };

  it('are found in the list, and then not created again', async () => {
    const run = bareRun({}, { unsettled: [create] });
    run.lists = observed({ skill: [entry('New', '7')] });
    expect(await run.apply(requestFor('New'))).toMatchObject({ status: 'converged' });
    expect([run.sent, run.recorded.settled]).toEqual([[], [{ name: 'New', hasHappened: true, found: '7' }]]);
  });

  it.each<[string, Partial<ObservedCatalog>, Before]>([
    ['no list shows them', {}, {}],
    [
      'the list shows an entry that was known before them',
      { skill: [entry('New', '7')] },
      { known: ['skill:7'] },
    ],
  ])('have not happened when %s', async (_, lists, before) => {
    const run = bareRun(lists, { unsettled: [create], ...before });
    await run.apply(requestFor('New'));
    expect(run.recorded.settled).toEqual([{ name: 'New', hasHappened: false }]);
    expect(run.sent).toEqual(lists.skill === undefined ? ['POST skill New'] : []);
  });

  it('stay open when the lists are implausible, and nothing is sent', async () => {
    const run = bareRun({ resources: [person('p', ['A'])] }, { noLastGood: true, unsettled: [create] });
    expect(await run.apply(requestFor('New'))).toMatchObject({ status: 'blocked' });
    expect([run.recorded.settled, run.sent]).toEqual([[], []]);
  });

  it('are deletes that the list confirms without a wait', async () => {
    const run = bareRun({ skill: skills('Kept') }, { unsettled: [deleted] });
    const startMs = run.clock.nowMs();
    expect(await run.apply(requestFor('Kept'))).toMatchObject({ status: 'converged' });
    expect([run.recorded.settled, run.sent]).toEqual([[{ name: 'Old', hasHappened: true }], []]);
    expect(run.clock.nowMs() - startMs).toBeLessThan(3000);
  });

  it('delay the run at most for `settle`, reported, also when the clock is set back', async () => {
    const run = bareRun(both, { unsettled: [{ ...deleted, sinceMs: Date.now() }] });
    const waits: Activity[] = [];
    const startMs = run.clock.steadyMs();
    run.onRead = (reading) => {
      if (reading === 1) run.clock.setBy(-3_600_000);
    };
    await run.apply({ ...requestFor('Kept'), progress: (activity) => void waits.push(activity) });
    expect(run.clock.steadyMs() - startMs).toBeGreaterThanOrEqual(34_000);
    expect(run.clock.steadyMs() - startMs).toBeLessThan(40_000);
    expect(run.sent).toEqual(['DELETE skill Old']);
    expect(waits.find(({ type }) => type === 'earlier')).toMatchObject({ operations: 1 });
  });

  it.each([
    ['is of another account', new ServiceError('identity', 'not ours'), 'identity_mismatch'],
    ['cannot be read because of a bug', new TypeError('a bug'), 'internal'],
  ])('fail the run when a list %s', async (_, error, code) => {
    const run = bareRun(both, { unsettled: [deleted] });
    run.onRead = (reading) => {
      if (reading > 1) run.lists = error;
    };
    expect(await run.apply(requestFor('Kept'))).toMatchObject({ status: 'failed', failure: { code } });
  });

  it('are left open by a run that is stopped', async () => {
    const run = bareRun(both, { unsettled: [{ ...deleted, sinceMs: Date.now() }] });
    const request = requestFor('Kept');
    run.onRead = (reading) => {
      if (reading === 1) request.stop();
    };
    expect(await run.apply(request)).toMatchObject({ status: 'interrupted' });
    expect([run.recorded.settled, run.sent]).toEqual([[], []]);
  });
});

describe('an agreed plan', () => {
  it('is applied when the plan is the same, and refused when it is not', async () => {
    const run = bareRun({});
    const { plan } = { plan: null, ...(await run.plan(requestFor('New'))) };
    const agreed = { digest: plan?.digest ?? '', firstObserved: null };
    const stale = await run.apply(requestFor('Other'), { agreed });
    expect(stale).toMatchObject({ status: 'failed', failure: { code: 'plan_stale' } });
    expect([run.sent, run.recorded.adopted, run.recorded.log.includes('operations')]).toEqual([
      [],
      [],
      false,
    ]);
    const shown: (string | undefined)[] = [];
    const done = await run.apply(requestFor('New'), {
      agreed,
      onPlan: ({ digest }, runId) => void shown.push(digest, runId),
    });
    expect([done, shown]).toMatchObject([{ status: 'converged' }, [plan?.digest, 'run']]);
  });
});

describe('a run that continues the plan of another one', () => {
  it('applies what that plan contains, and nothing else', async () => {
    const lists = { skill: skills('Kept', 'Old', 'Older'), resources: [person('p', [])] };
    const first = await bareRun({ ...lists, skill: skills('Kept', 'Old') }).plan(
      requestFor('Kept', 'New', 'More'),
    );
    const continued = 'plan' in first ? first.plan : null;
    const run = bareRun(lists);
    const result = await run.apply(requestFor('Kept', 'New', 'Newer'), { continued });
    expect(result).toMatchObject({ status: 'partial' });
    expect(run.sent).toEqual(['POST skill New', 'DELETE skill Old']);
    expect(run.recorded.results.filter(({ status }) => status === 'skipped')).toHaveLength(2);
  });
});

describe('an agreed plan that was made before the store contained lists of the account', () => {
  const list = { skill: skills('Kept', 'Old') };

  /** The digests of the first plan of an account, whose delete of Old is held. */
  async function firstPlan() {
    const first = bareRun(list, { noLastGood: true });
    const { plan } = { plan: null, ...(await first.plan(requestFor('Kept', 'New'))) };
    return { digest: plan?.digest ?? '', firstObserved: plan?.observedDigest ?? '' };
  }

  it.each([
    ['the lists changed', { skill: skills('Kept', 'Old', 'Older') }, ['Kept', 'New']],
    ['the file changed', list, ['Kept', 'Newer']],
  ])('is refused when %s', async (_, lists, names) => {
    const agreed = await firstPlan();
    const run = bareRun(lists);
    expect(await run.apply(requestFor(...names), { agreed })).toMatchObject({
      status: 'failed',
      failure: { code: 'plan_stale' },
    });
    expect(run.sent).toEqual([]);
  });

  it('is refused when it was made with earlier lists', async () => {
    const { digest } = await firstPlan();
    const run = bareRun(list);
    const agreed = { digest, firstObserved: null };
    expect(await run.apply(requestFor('Kept', 'New'), { agreed })).toMatchObject({ status: 'failed' });
    expect(run.sent).toEqual([]);
  });
});

describe('a run', () => {
  it('fails before it reads the lists when a running account uses the same token', async () => {
    const run = bareRun({}, { tokenUsedBy: 'other' });
    const read: number[] = [];
    run.onRead = (reading) => void read.push(reading);
    const result = await run.apply(requestFor('New'));
    expect(result).toMatchObject({ status: 'failed', failure: { code: 'identity_mismatch' } });
    expect([run.sent, read, run.recorded.ends]).toMatchObject([[], [], [{ status: 'failed' }]]);
  });
});

it('a plan without operations needs no approval, and a lapsed one is reported', async () => {
  const run = bareRun({}, { approval: { type: 'lapsed', digest: 'sha256:1', reason: 'changed' } });
  expect(await run.apply(requestFor(), { mode: 'approve', approvals: true })).toMatchObject({
    status: 'converged',
  });
  expect(endCodes(run)).toEqual(['approval_lapsed']);
});

it('a plan that a guard blocked ends no plan that waits, and adopts nothing', async () => {
  const run = bareRun({ resources: [person('p', ['A'])] }, { noLastGood: true });
  expect(await run.apply(requestFor('A'))).toMatchObject({ status: 'blocked' });
  expect([run.sent, run.recorded.adopted]).toEqual([[], []]);
  expect(run.recorded.ends.map((end) => 'pending' in end)).toEqual([false]);
});

describe('a run that another process took over', () => {
  it.each<[string, readonly string[]]>([
    ['with operations', ['New']],
    ['without operations', []],
  ])('writes nothing more and is interrupted: %s', async (_, names) => {
    const run = bareRun({}, { lostLock: true });
    expect(await run.apply(requestFor(...names))).toMatchObject({
      status: 'interrupted',
      failure: { code: 'lock_lost' },
    });
    expect(run.sent).toEqual([]);
    if (names.length > 0) expect(run.recorded.log).not.toContain('operations');
  });
});

describe('an applied run', () => {
  const request = (more: Partial<AccountRequest> = {}) => ({ ...requestFor('Kept', 'New'), ...more });

  it('adopts the entries that the file names, before anything is sent', async () => {
    const run = bareRun({ skill: skills('Kept', 'Old'), resources: [person('p', ['Old'])] });
    run.answer = () => {
      expect(run.recorded.adopted).toEqual(['skill:Kept']);
      return null;
    };
    await run.apply(request());
    expect([run.sent, run.recorded.applied]).toEqual([['POST skill New'], [null]]);
  });

  it('remembers its commit', async () => {
    const run = bareRun({});
    await run.apply(request({ commit: COMMIT }));
    expect(run.recorded.applied).toEqual([{ sha: 'a', committedAt: COMMIT.committedAt }]);
  });

  it.each<[boolean, number]>([
    [false, 0],
    [true, 1],
  ])('remembers an older commit only when it was accepted: %s', async (olderSource, count) => {
    const lastApplied = { sha: 'b', committedAt: '2026-03-11T12:00:00Z' };
    const run = bareRun({}, { lastApplied, relation: 'ancestor' });
    await run.apply({ ...request({ commit: COMMIT }), accept: new Set(olderSource ? ['source'] : []) });
    expect(run.recorded.applied).toHaveLength(count);
  });

  it.each([
    ['keeps the remembered commit and the entry', false, [], []],
    [
      'clears the remembered commit and deletes the entry, if that was accepted,',
      true,
      [null],
      ['DELETE skill Old'],
    ],
  ])('%s when its own commit is unknown', async (_, olderSource, remembered, sent) => {
    const lastApplied = { sha: 'b', committedAt: '2026-03-11T12:00:00Z' };
    const run = bareRun({ skill: skills('Old') }, { lastApplied });
    await run.apply({
      ...requestFor(),
      accept: new Set(olderSource ? ['no_evidence', 'source'] : ['no_evidence']),
    });
    expect([run.recorded.applied, run.sent]).toEqual([remembered, sent]);
  });
});

describe('an account', () => {
  it.each<[Trigger, boolean]>([
    ['schedule', false],
    ['start', false],
    ['catch_up', false],
    ['manual', true],
    ['cli', true],
  ])('that was renamed during a pause writes in a run by %s: %s', async (trigger, writes) => {
    const run = bareRun({}, { formerName: 'old', paused: true });
    const result = await run.apply({ ...requestFor('New'), trigger });
    expect(result).toMatchObject({ status: writes ? 'converged' : 'planned' });
    expect(run.sent).toHaveLength(writes ? 1 : 0);
    const codes = run.recorded.ends.flatMap(({ warnings }) => warnings.map(({ code }) => code));
    expect(codes).toEqual(writes ? ['renamed_account'] : ['renamed_account', 'paused']);
  });

  it('that was renamed during a pause writes nothing after settling operations of an earlier run', async () => {
    const doubt = { runId: 'r', seq: 1, action: 'create', kind: 'skill', name: 'Other' } as const;
    const unsettled = [{ ...doubt, remoteId: null, attempts: 1, sinceMs: 0 }];
    const run = bareRun({}, { formerName: 'old', paused: true, unsettled });
    const result = await run.apply({ ...requestFor('New'), trigger: 'schedule' });
    expect([result, run.sent]).toMatchObject([{ status: 'planned' }, []]);
    expect(endCodes(run)).toEqual(['renamed_account', 'paused']);
  });

  it.each([
    ['renamed and not paused is changed', { formerName: 'old' }, 'converged', 1],
    ['paused since the run began, and not renamed, is not changed', { paused: true }, 'partial', 0],
  ])('that was %s', async (_, before, status, writes) => {
    const run = bareRun({}, before);
    const result = await run.apply({ ...requestFor('New'), trigger: 'schedule' });
    expect([result, run.sent]).toMatchObject([{ status }, { length: writes }]);
  });
});
