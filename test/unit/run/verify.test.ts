// The verification after writing: what the lists must show, and the warnings when they do not.
import { describe, expect, it } from 'vitest';
import type { NumberedOperation } from '../../../src/run/apply-context.ts';
import { verify } from '../../../src/run/verify.ts';
import type { ObservedCatalog, Policy } from '../../../src/core/catalog.ts';
import { ServiceError } from '../../../src/core/errors.ts';
import type { History } from '../../../src/core/history.ts';
import type { OperationResult } from '../../../src/core/ports/journal.ts';
import { entry, wanted } from '../core/builders.ts';
import { bareContext, bareRequest, creating, deleting, readerOf } from './bare-context.ts';
import { QuickClock } from './quick-clock.ts';

interface Check {
  readonly operations?: readonly NumberedOperation[];
  /** By name: the entry that the service returned for a create, where its id is not its name. */
  readonly answered?: Readonly<Record<string, { remoteId: string; name: string } | undefined>>;
  readonly status?: OperationResult['status'];
  readonly attempts?: number;
  readonly httpStatus?: number;
  /** How long before the verification all operations ended. */
  readonly agoMs?: number;
  readonly skills?: readonly string[];
  readonly roles?: readonly string[];
  readonly planned?: Partial<ObservedCatalog>;
  readonly policy?: Partial<Policy>;
  readonly history?: Partial<History>;
  readonly handled?: readonly string[];
  readonly stopped?: boolean;
}

/** Verifies against what `lists` returns at each time. */
async function verified(of: Check, lists: (passedMs: number) => Partial<ObservedCatalog> | Error) {
  const clock = new QuickClock();
  const startMs = clock.nowMs();
  const reader = readerOf(() => lists(clock.nowMs() - startMs));
  const desired = {
    ...(of.skills === undefined ? {} : { skill: wanted(...of.skills) }),
    ...(of.roles === undefined ? {} : { role: wanted(...of.roles) }),
  };
  const request = bareRequest(desired, of.policy);
  if (of.stopped === true) request.stop();
  const operations = of.operations ?? [];
  const answers = new Map(Object.entries(of.answered ?? {}));
  const { planned = {}, history = {} } = of;
  const context = bareContext({ clock, reader, request, operations, planned, history });
  for (const { seq, action, name } of operations) {
    const entry = answers.has(name) ? answers.get(name) : { remoteId: name, name };
    context.statuses.set(seq, {
      seq,
      status: of.status ?? 'done',
      attempts: of.attempts ?? 1,
      httpStatus: of.httpStatus ?? 200,
      reason: null,
      rule: null,
      atMs: startMs - (of.agoMs ?? 0),
      ...(action === 'create' && entry !== undefined ? { entry } : {}),
    });
  }
  const handled = of.handled ?? operations.map(({ kind, name }) => `${kind}:${name}`);
  const { observed, warnings } = await verify(context, new Set(handled));
  return {
    observed,
    reported: warnings.map(({ code, name }) => (name === undefined ? code : `${code} ${name}`)),
    warnings,
    readings: reader.readings,
    halt: context.halt,
    statuses: operations.flatMap(({ seq }) => context.statuses.get(seq)?.status ?? []),
    passedMs: clock.nowMs() - startMs,
  };
}

const skills = (...names: string[]) => ({ skill: names.map((name) => entry(name)) });

describe('a done operation', () => {
  it.each<[string, readonly NumberedOperation[], Partial<ObservedCatalog>]>([
    ['a create that is listed', [creating(1, 'New')], skills('New')],
    ['a delete whose entry is no longer listed', [deleting(1, 'Old')], skills('Other')],
  ])('is verified by one reading: %s', async (_, operations, lists) => {
    const { observed, reported, readings } = await verified(
      { operations, planned: skills('Other', 'Old') },
      () => lists,
    );
    expect([reported, readings]).toEqual([[], 1]);
    expect(observed?.skill).toEqual(lists.skill);
  });

  it('causes further readings while the lists lack it', async () => {
    const operations = [creating(1, 'New'), deleting(2, 'Old')];
    const late = await verified({ operations, planned: skills('Old') }, (passedMs) =>
      passedMs < 20_000 ? skills('Old') : skills('New'),
    );
    expect([late.reported, late.passedMs >= 20_000, late.passedMs < 25_000]).toEqual([[], true, true]);
  });

  it('is reported when no list shows it within settle', async () => {
    const operations = [creating(1, 'New'), deleting(2, 'Old')];
    const never = await verified({ operations, planned: skills('Old'), agoMs: 10_000 }, () => skills('Old'));
    expect(never.warnings).toMatchObject([
      { code: 'not_shown_yet', kind: 'skill', name: 'New', remoteId: 'New' },
      { code: 'not_shown_yet', kind: 'skill', name: 'Old', remoteId: 'Old' },
    ]);
    expect([never.passedMs >= 25_000, never.passedMs < 28_000]).toEqual([true, true]);
    expect(never.warnings.map(({ message }) => /create|delete/.exec(message)?.[0])).toEqual([
      'create',
      'delete',
    ]);
  });

  it('is reported as listed again when its delete was never sent', async () => {
    const of = { operations: [deleting(1, 'Old')], planned: skills('Old'), agoMs: 35_000 };
    const message = async (attempts: number) =>
      (await verified({ ...of, attempts }, () => skills('Old'))).warnings[0]?.message;
    expect(await message(0)).toContain('no delete was sent, but the list shows it again');
    expect(await message(1)).toContain(
      'confirmed the delete of the skill “Old”, but the list still shows it',
    );
  });
});

describe('an operation whose outcome is unknown', () => {
  const create: Check = { operations: [creating(1, 'New')], status: 'unknown', answered: { New: undefined } };
  const remove: Check = {
    operations: [deleting(1, 'Old')],
    planned: skills('Old', 'Kept'),
    status: 'unknown',
  };

  it('is done when a list shows a new entry of the name of the create', async () => {
    const { statuses, passedMs } = await verified(create, (ms) => (ms < 20_000 ? {} : skills('New')));
    expect([statuses, passedMs < 25_000]).toEqual([['done'], true]);
  });

  it('is done when two readings in a row lack the entry of the delete', async () => {
    const gone = await verified(remove, (ms) => (ms < 20_000 ? skills('Old', 'Kept') : skills('Kept')));
    expect([gone.statuses, gone.reported]).toEqual([['done'], []]);
    expect([gone.passedMs >= 22_000, gone.passedMs < 26_000]).toEqual([true, true]);
    const emptyOnce = await verified(remove, (ms) => (ms === 0 ? {} : skills('Old', 'Kept')));
    expect(emptyOnce.statuses).toEqual(['unknown']);
  });

  it('stays unknown when no list shows it within settle', async () => {
    const lost = await verified(create, () => ({}));
    expect([lost.statuses, lost.passedMs >= 35_000, lost.passedMs < 38_000]).toEqual([
      ['unknown'],
      true,
      true,
    ]);
    expect((await verified({ ...create, agoMs: 35_000 }, () => ({}))).readings).toBe(1);
    expect((await verified(create, () => new ServiceError('unavailable', 'no'))).statuses).toEqual([
      'unknown',
    ]);
  });

  it.each([
    [409, 'failed', 0],
    [404, 'failed', 35_000],
  ])(
    'is that of a refused delete, which one list decides unless the entry is gone: %d',
    async (httpStatus, status, waitMs) => {
      const refused = { ...remove, status: 'failed', httpStatus } as const;
      const listed = await verified(refused, () => skills('Old', 'Kept'));
      expect([listed.statuses, listed.passedMs >= waitMs, listed.passedMs < waitMs + 3000]).toEqual([
        [status],
        true,
        true,
      ]);
      const gone = await verified(refused, () => skills('Kept'));
      expect([gone.statuses, gone.passedMs >= 2000, gone.passedMs < 4000]).toEqual([['done'], true, true]);
    },
  );
});

describe('lists that cannot be read', () => {
  const done = { operations: [creating(1, 'New')] };

  it.each(['unavailable', 'throttled', 'rejected'] as const)(
    'are read again until `settle` has passed: %s',
    async (kind) => {
      const { observed, warnings, passedMs } = await verified(
        done,
        () => new ServiceError(kind, 'no answer'),
      );
      expect([observed, passedMs >= 35_000, passedMs < 38_000]).toEqual([null, true, true]);
      expect(warnings).toMatchObject([{ code: 'unverified', message: expect.stringContaining('no answer') }]);
    },
  );

  it.each(['auth', 'malformed'] as const)(
    'are not read again after an error that persists: %s',
    async (kind) => {
      expect(await verified(done, () => new ServiceError(kind, 'no'))).toMatchObject({
        observed: null,
        reported: ['unverified'],
        readings: 1,
      });
    },
  );

  it('make the run unverified even when an earlier reading succeeded', async () => {
    const { observed, reported } = await verified(done, (passedMs) =>
      passedMs < 1000 ? {} : new ServiceError('unavailable', 'no answer'),
    );
    expect([observed, reported]).toEqual([null, ['unverified']]);
  });

  it('are not read again in a stopped run', async () => {
    expect(await verified({ ...done, stopped: true }, () => ({}))).toMatchObject({
      reported: ['not_shown_yet New'],
      readings: 1,
    });
  });
});

describe('a desired name without an operation', () => {
  it('is reported when it is still missing in a second reading', async () => {
    const { warnings, readings, passedMs } = await verified({ skills: ['Kept'] }, () => ({}));
    expect(warnings).toMatchObject([{ code: 'vanished', kind: 'skill', name: 'Kept' }]);
    expect([readings > 1, passedMs >= 2000, passedMs < 4000]).toEqual([true, true, true]);
  });

  it('is not reported when the second reading shows it', async () => {
    const { reported } = await verified({ skills: ['Kept'] }, (passedMs) =>
      passedMs < 1500 ? {} : skills('Kept'),
    );
    expect(reported).toEqual([]);
  });

  it('is not reported when the run has an operation for it, tried or held', async () => {
    expect(await verified({ skills: ['New'], handled: ['skill:New'] }, () => ({}))).toMatchObject({
      reported: [],
      readings: 1,
    });
  });

  it('is found by the name that the service returned in this run', async () => {
    const of: Check = {
      operations: [creating(1, 'New ')],
      answered: { 'New ': { remoteId: '7', name: 'New' } },
      skills: ['New '],
      handled: [],
    };
    expect((await verified(of, () => ({ skill: [entry('New', '7')] }))).reported).toEqual([]);
  });
});

describe('an entry that this run created', () => {
  const of: Check = {
    operations: [creating(1, 'New')],
    answered: { New: { remoteId: '7', name: 'new' } },
    skills: ['New'],
  };

  it.each([
    ['is found under the name that the service returned', 'new', []],
    ['is found under any other name that the first list shows', 'Mine', []],
  ])('%s', async (_, name, reported) => {
    expect((await verified(of, () => ({ skill: [entry(name, '7')] }))).reported).toEqual(reported);
  });

  it('is reported only as not shown yet when no list shows it', async () => {
    expect((await verified({ ...of, agoMs: 35_000 }, () => ({}))).reported).toEqual(['not_shown_yet New']);
  });
});

describe('an entry that somebody else created meanwhile', () => {
  const of: Check = { skills: ['Kept'], planned: skills('Kept') };
  const lists = skills('Kept', 'Stray');

  it('is reported with its id, because the next plan would delete it', async () => {
    const { warnings } = await verified(of, () => lists);
    expect(warnings).toMatchObject([{ code: 'appeared', kind: 'skill', name: 'Stray', remoteId: 'Stray' }]);
  });

  it.each<[string, Check]>([
    ['that the plan listed', { ...of, planned: lists }],
    ['that the run created', { ...of, operations: [creating(1, 'Stray')] }],
    ['of a kind that the file omits', { roles: [], planned: skills('Kept') }],
    ['that is protected', { ...of, policy: { protect: ['Str*'] } }],
    ['with ownership: managed', { ...of, policy: { ownership: 'managed' } }],
    ['with delete: never', { ...of, policy: { delete: 'never' } }],
    ['that is desired', { ...of, skills: ['Kept', 'Stray'] }],
  ])('is not reported: %s', async (_, check) => {
    expect((await verified(check, () => lists)).reported).toEqual([]);
  });

  it('is reported when it is a duplicate of a desired name', async () => {
    const twice = { skill: [entry('Kept', '1'), entry('Kept', '2')] };
    const { warnings } = await verified(
      { skills: ['Kept'], planned: { skill: [entry('Kept', '1')] } },
      () => twice,
    );
    expect(warnings).toMatchObject([{ code: 'appeared', remoteId: '2' }]);
  });
});
