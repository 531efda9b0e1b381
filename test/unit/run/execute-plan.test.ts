// The order of an applied plan, its journal rows, and the status of the run.
import { describe, expect, it } from 'vitest';
import type { Policy } from '../../../src/core/catalog.ts';
import { ServiceError } from '../../../src/core/errors.ts';
import type { CreateOutcome } from '../../../src/core/ports/service.ts';
import { entry, observed, person, wanted } from '../core/builders.ts';
import { operation } from '../store/fixture.ts';
import { bareRequest } from './bare-context.ts';
import type { BareRun } from './bare-run.ts';
import { bareRun, endCodes } from './bare-run.ts';
import { API } from './api.ts';

const skills = (...names: string[]) => names.map((name) => entry(name));
const listed = (name: string, accountId = '42') => ({ ...entry(name), accountId });

/** A request for these skills, one operation at a time, deletes unlimited. */
function requestFor(names: readonly string[], policy: Partial<Policy> = {}, roles?: readonly string[]) {
  const desired = {
    skill: wanted(...names),
    ...(roles === undefined ? {} : { role: wanted(...roles) }),
  };
  return {
    ...bareRequest(desired, { maxDeletePercent: 100, ...policy }),
    api: { ...API, concurrency: 1 },
  };
}

function refused(httpStatus: number): CreateOutcome {
  return { type: 'failed', error: new ServiceError('rejected', 'refused', { httpStatus }), attempts: 1 };
}

const statuses = ({ recorded }: BareRun) =>
  recorded.results.map(({ seq, status }) => `${String(seq)} ${status}`);

describe('a plan that is applied', () => {
  it('is journaled before the first request, with the held changes', async () => {
    const run = bareRun({ skill: [...skills('Old'), entry('Used')], resources: [person('p', ['Used'])] });
    run.answer = () => {
      expect(run.recorded.log).toEqual(['begin', 'before', 'plan', 'remember', 'operations']);
      return null;
    };
    const request = requestFor(['New'], {}, []);
    await run.apply(request);
    expect(run.recorded.rows).toMatchObject([
      operation(),
      operation({ action: 'delete', name: 'Old', remoteId: 'Old' }),
      { kind: 'skill', action: 'delete', name: 'Used', remoteId: 'Used', status: 'held', rule: 'in_use' },
    ]);
    expect(run.recorded.rows[2]?.reason).toContain('1 person has it');
  });

  it('sends creates, then deletes, and is converged', async () => {
    const run = bareRun({ skill: skills('Old'), role: skills('Clerk') });
    const progress: string[] = [];
    const result = await run.apply({
      ...requestFor(['New'], {}, ['Boss']),
      progress(activity) {
        if (activity.type !== 'apply') return;
        progress.push(`${activity.action} ${activity.done}/${activity.total}`);
      },
    });
    expect(run.sent).toEqual(['POST skill New', 'POST role Boss', 'DELETE skill Old', 'DELETE role Clerk']);
    expect(result).toMatchObject({ runId: 'run', status: 'converged', failure: null });
    expect(progress).toEqual(['create 0/4', 'create 1/4', 'create 2/4', 'delete 3/4', 'delete 4/4']);
    expect(run.recorded.ends).toMatchObject([
      { status: 'converged', counts: { created: 2, deleted: 2 }, pending: null },
    ]);
    expect(run.recorded.log).toEqual([
      'begin',
      'before',
      'plan',
      'remember',
      'operations',
      'after',
      'end',
      'release',
    ]);
  });

  it.each<[string, readonly string[], string]>([
    ['converged', ['Used'], 'converged'],
    ['held when a change is held', [], 'held'],
  ])('without operations sends nothing, and is %s', async (_, names, status) => {
    const run = bareRun({ skill: skills('Used'), resources: [person('p', ['Used'])] });
    expect(await run.apply(requestFor(names))).toMatchObject({ status });
    expect([run.sent, run.recorded.observations.length]).toEqual([[], 1]);
    expect(run.recorded.ends).toMatchObject([{ pending: null }]);
  });

  it('without operations is interrupted when the run is stopped', async () => {
    const run = bareRun({});
    const request = requestFor([]);
    run.onRead = () => request.stop();
    expect(await run.apply(request)).toMatchObject({ status: 'interrupted' });
  });
});

describe('a create that is refused because of a near name', () => {
  const roles = { role: [entry('clerk')] };

  it('is sent after the delete of that entry when the delete is approved', async () => {
    const run = bareRun({ skill: [listed('typescript'), listed('Old')], ...roles });
    const request = requestFor(['TypeScript']);
    const allowedDeletes = [{ kind: 'skill' as const, name: 'typescript', expires: '2999-12-31' }];
    const desired = { ...request.settings.desired, allowedDeletes };
    await run.apply({ ...request, settings: { ...request.settings, desired } });
    expect(run.sent).toEqual(['DELETE skill typescript', 'POST skill TypeScript', 'DELETE skill Old']);
    expect(run.recorded.results.map(({ seq, status, attempts }) => [seq, status, attempts])).toEqual([
      [1, 'done', 1],
      [2, 'done', 1],
      [3, 'done', 1],
    ]);
  });

  it('is sent before the delete while the account is not confirmed', async () => {
    const run = bareRun({ skill: skills('typescript') });
    const request = requestFor(['TypeScript']);
    const allowedDeletes = [{ kind: 'skill' as const, name: 'typescript', expires: '2999-12-31' }];
    const desired = { ...request.settings.desired, allowedDeletes };
    await run.apply({ ...request, settings: { ...request.settings, desired } });
    expect(run.sent).toEqual(['POST skill TypeScript', 'DELETE skill typescript']);
  });
});

describe('a run that is halted', () => {
  it('by a signal sends and reads nothing more, and reports the remaining operations as skipped', async () => {
    const run = bareRun({ skill: skills('Old') });
    const request = requestFor(['A', 'B']);
    run.answer = () => {
      request.stop();
      return null;
    };
    expect(await run.apply(request)).toMatchObject({
      status: 'interrupted',
      failure: { code: 'interrupted' },
    });
    expect(statuses(run)).toEqual(['1 done', '2 skipped', '3 skipped']);
    expect(run.recorded.observations.map(({ phase }) => phase)).toEqual(['before']);
    expect(run.recorded.results[2]?.reason).toBe(run.recorded.results[1]?.reason);
  });

  it('by a signal after its last operation is interrupted too', async () => {
    const run = bareRun({});
    const request = requestFor(['A']);
    let reads = 0;
    run.onRead = () => {
      reads += 1;
      if (run.sent.length > 0) request.stop();
    };
    expect(await run.apply(request)).toMatchObject({
      status: 'interrupted',
      failure: { code: 'interrupted' },
    });
    expect(reads).toBeGreaterThan(3);
  });

  it('by another process that took the lock is interrupted', async () => {
    const run = bareRun({});
    const { journal } = run.deps;
    const losing = { ...journal, commitOperations: async () => 'lock_lost' as const };
    Object.assign(run.deps, { journal: losing });
    expect(await run.apply(requestFor(['A']))).toMatchObject({
      status: 'interrupted',
      failure: { code: 'lock_lost' },
    });
    expect(run.sent).toEqual([]);
  });

  it.each([
    ['throttled', 'throttled', 600_000],
    ['auth', 'unauthorized', null],
  ] as const)(
    'by an error remembers the pause of a long Retry-After only: %s',
    async (kind, code, waitMs) => {
      const run = bareRun({});
      const error = new ServiceError(kind, 'later', { retryAfterMs: 600_000 });
      run.answer = () => ({ type: 'failed', error, attempts: 1 });
      expect(await run.apply(requestFor(['A', 'B']))).toMatchObject({
        status: 'partial',
        failure: { code, message: 'later' },
      });
      expect(run.recorded.throttled).toEqual(waitMs === null ? [] : [['acme', run.clock.nowMs() + waitMs]]);
      expect(run.recorded.ends[0]?.warnings).toEqual([]);
    },
  );
});

describe('a list of another account during a run', () => {
  it.each<[string, readonly string[], readonly string[]]>([
    ['before the first delete', ['Kept'], []],
    ['at its end', ['Kept', 'Old', 'New'], ['POST skill New']],
  ])('stops the run and fails it: %s', async (_, names, sent) => {
    const run = bareRun({ skill: [listed('Kept'), listed('Old')] });
    run.onRead = (reading) => {
      if (reading > 1) run.lists = { skill: [listed('Kept', '43')], role: [], resources: [], warnings: [] };
    };
    expect(await run.apply(requestFor(names))).toMatchObject({
      status: 'failed',
      failure: { code: 'identity_mismatch', message: expect.stringMatching(/43.*42/) },
    });
    expect([run.sent, run.recorded.observations.length]).toEqual([sent, 1]);
  });
});

describe('a change that no list shows yet', () => {
  it.each<[string, readonly string[]]>([
    ['without operations', ['Late']],
    ['with operations', ['Late', 'New']],
  ])('makes every run partial that depends on it: %s', async (_, names) => {
    const run = bareRun({});
    const { journal } = run.deps;
    const accountHistory: typeof journal.accountHistory = async (...args) => ({
      ...(await journal.accountHistory(...args)),
      recent: [
        {
          runId: 'earlier',
          action: 'create',
          kind: 'skill',
          name: 'Late',
          remoteId: '7',
          status: 'done',
          attempts: 1,
          finishedAtMs: run.clock.nowMs(),
          listed: false,
        },
      ],
    });
    Object.assign(run.deps, { journal: { ...journal, accountHistory } });
    expect(await run.apply(requestFor(names))).toMatchObject({ status: 'partial' });
    expect(run.sent).toEqual(names.slice(1).map((name) => `POST skill ${name}`));
  });
});

describe('an answer for another account', () => {
  const answering = (run: BareRun, accountId: string) => {
    run.answer = (action, name) =>
      action === 'POST'
        ? { type: 'created', entry: listed(name, accountId), httpStatus: 200, attempts: 1 }
        : null;
  };

  it('fails the run and stops it, deletes included', async () => {
    const run = bareRun({ skill: [listed('Old')] });
    answering(run, '43');
    expect(await run.apply(requestFor(['A', 'B']))).toMatchObject({
      status: 'failed',
      failure: { code: 'identity_mismatch', message: expect.stringMatching(/43.*42/) },
    });
    expect(run.sent).toEqual(['POST skill A']);
  });

  it('prevents all deletes when the account was unknown', async () => {
    const run = bareRun({ skill: skills('Old') });
    answering(run, '43');
    const request = requestFor(['A']);
    const result = await run.apply({ ...request, settings: { ...request.settings, accountId: '42' } });
    expect(result).toMatchObject({ failure: { code: 'identity_mismatch' } });
    const [, left] = run.recorded.results;
    expect([left?.status, left?.reason]).toEqual(['skipped', 'failure' in result && result.failure?.message]);
  });

  it('becomes the account of the run when none was expected', async () => {
    const run = bareRun({});
    answering(run, '43');
    run.onRead = () => {
      run.lists = { skill: [], role: [], resources: [], warnings: [] };
      if (run.sent.length > 0) run.lists = { ...run.lists, skill: [listed('A', '43')] };
    };
    expect(await run.apply(requestFor(['A']))).toMatchObject({ status: 'converged' });
    expect(run.recorded.observations.map((each) => [each.phase, each.remoteAccountId])).toEqual([
      ['before', null],
      ['after', '43'],
    ]);
  });

  it('fails the run when another file manages that account', async () => {
    const run = bareRun({});
    answering(run, '43');
    const { journal } = run.deps;
    const claimRemoteAccount: typeof journal.claimRemoteAccount = async ({ remoteAccountId }) =>
      remoteAccountId === '43' ? 'other' : null;
    Object.assign(run.deps, { journal: { ...journal, claimRemoteAccount } });
    expect(await run.apply(requestFor(['A', 'B']))).toMatchObject({
      status: 'failed',
      failure: { code: 'identity_mismatch', message: expect.stringMatching(/43.*“other”/) },
    });
    expect(run.sent).toEqual(['POST skill A']);
  });
});

describe('the lists at the end of a run', () => {
  it('become the good ones when they show every change', async () => {
    const run = bareRun({});
    await run.apply(requestFor(['A']));
    const [, after] = run.recorded.observations;
    expect(after).toMatchObject({ phase: 'after', good: true, account: 'acme', runId: 'run' });
    expect(after?.observed.skill.map(({ name }) => name)).toEqual(['A']);
  });

  it('do not become the good ones when they lack a change, and the run is partial', async () => {
    const run = bareRun({});
    run.answer = (_, name) => ({ type: 'created', entry: entry(name, '7'), httpStatus: 200, attempts: 1 });
    expect(await run.apply(requestFor(['A']))).toMatchObject({ status: 'partial' });
    expect(run.recorded.observations.map(({ good }) => good)).toEqual([true, false]);
    expect(endCodes(run)).toEqual(['not_shown_yet']);
  });

  it('do not become the good ones when they lack or rename an entry of the plan that the file does not name', async () => {
    for (const wrong of [[], [entry('?', 'Theirs')]]) {
      const run = bareRun({ skill: skills('Theirs') });
      run.onRead = () => {
        if (run.sent.length > 0) run.lists = observed({ skill: [...wrong, entry('A', 'new-1')] });
      };
      await run.apply(requestFor(['A'], { delete: 'never' }));
      expect(run.recorded.observations.map(({ good }) => good)).toEqual([true, false]);
    }
  });

  it('make the run partial when they cannot be read', async () => {
    const run = bareRun({});
    run.onRead = () => {
      if (run.sent.length > 0) run.lists = new ServiceError('malformed', 'no list');
    };
    expect(await run.apply(requestFor(['A']))).toMatchObject({ status: 'partial' });
    expect([run.recorded.observations.length, endCodes(run)]).toEqual([1, ['unverified']]);
  });

  it('cause no warning when they lack an entry whose create failed', async () => {
    const run = bareRun({});
    run.answer = () => refused(422);
    expect(await run.apply(requestFor(['A']))).toMatchObject({ status: 'partial' });
    expect(endCodes(run)).toEqual([]);
  });

  it('cause a warning when they lack a name of which this run deleted a duplicate', async () => {
    const run = bareRun({ skill: [entry('Kept', '1'), entry('Kept', '2')] });
    run.onRead = () => {
      if (run.sent.length > 0) run.lists = { skill: [], role: [], resources: [], warnings: [] };
    };
    expect(await run.apply(requestFor(['Kept'], { duplicates: 'remove-unused' }))).toMatchObject({
      status: 'partial',
    });
    expect([run.sent, endCodes(run)]).toEqual([
      ['DELETE skill 2'],
      ['unknown_holders', 'duplicate', 'vanished'],
    ]);
  });

  it('cause a warning when they lack an entry that the plan saw', async () => {
    const run = bareRun({ skill: skills('Kept') });
    run.onRead = () => {
      if (run.sent.length > 0) run.lists = { skill: skills('A'), role: [], resources: [], warnings: [] };
    };
    run.answer = (_, name) => ({ type: 'created', entry: entry(name), httpStatus: 200, attempts: 1 });
    expect(await run.apply(requestFor(['A', 'Kept']))).toMatchObject({ status: 'partial' });
    expect(endCodes(run)).toEqual(['vanished']);
  });

  it('cause a warning also when the delete of the duplicate was held', async () => {
    const duplicates = [entry('Kept', '1'), entry('Kept', '2')];
    const run = bareRun({ skill: duplicates });
    run.onRead = (reading) => {
      if (reading === 2) run.lists = observed({ skill: duplicates, resources: [person('p', ['2'])] });
      if (reading > 2) run.lists = observed();
    };
    expect(await run.apply(requestFor(['Kept'], { duplicates: 'remove-unused' }))).toMatchObject({
      status: 'partial',
    });
    expect([run.sent, endCodes(run)]).toEqual([[], ['unknown_holders', 'duplicate', 'vanished']]);
  });
});

describe('a name that the service changed', () => {
  it.each<[string, string, readonly string[]]>([
    ['Type Script ', 'Type Script', ['name_changed']],
    ['caf\u00e9', 'cafe\u0301', []],
  ])('is reported unless only its Unicode form changed: %j as %j', async (requested, shown, codes) => {
    const run = bareRun({});
    run.answer = () => {
      run.lists = { skill: [entry(shown, '7')], role: [], resources: [], warnings: [] };
      return { type: 'created', entry: entry(shown, '7'), httpStatus: 200, attempts: 1 };
    };
    expect(await run.apply(requestFor([requested]))).toMatchObject({ status: 'converged' });
    expect(endCodes(run)).toEqual(codes);
    const named = run.recorded.ends[0]?.warnings.find(({ code }) => code === 'name_changed');
    if (codes.length > 0) expect(named).toMatchObject({ kind: 'skill', name: requested, remoteId: '7' });
  });
});
