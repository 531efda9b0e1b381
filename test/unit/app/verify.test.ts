// The verification after writing: what the lists must show, and the warnings when they do not.
import { describe, expect, it } from 'vitest';
import type { NumberedOperation } from '../../../src/app/apply-context.ts';
import { verify } from '../../../src/app/verify.ts';
import type { ObservedCatalog, Policy } from '../../../src/core/catalog.ts';
import { ServiceError } from '../../../src/core/errors.ts';
import type { History } from '../../../src/core/history.ts';
import type { OperationResult } from '../../../src/core/ports.ts';
import { entry, POLICY, wanted } from '../core/builders.ts';
import { bareContext, bareRequest, creating, deleting, readerOf } from './bare-context.ts';
import { QuickClock } from './quick-clock.ts';

interface Check {
  readonly operations?: readonly NumberedOperation[];
  /** By name: what the service answered to a create, where that is not an entry whose id is the name. */
  readonly answered?: Readonly<Record<string, { remoteId: string; name: string } | undefined>>;
  readonly status?: OperationResult['status'];
  /** How long before the verification everything was done. */
  readonly agoMs?: number;
  readonly skills?: readonly string[];
  readonly roles?: readonly string[];
  readonly planned?: Partial<ObservedCatalog>;
  readonly policy?: Partial<Policy>;
  readonly history?: Partial<History>;
  readonly handled?: readonly string[];
  readonly stopped?: boolean;
}

/** Verifies against what `lists` shows so long after the start. */
async function verified(of: Check, lists: (passedMs: number) => Partial<ObservedCatalog> | Error) {
  const clock = new QuickClock();
  const startMs = clock.nowMs();
  const reader = readerOf(() => lists(clock.nowMs() - startMs));
  const request = bareRequest();
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
      attempts: 1,
      httpStatus: 200,
      reason: null,
      rule: null,
      atMs: startMs - (of.agoMs ?? 0),
      ...(action === 'create' && entry !== undefined ? { entry } : {}),
    });
  }
  const { observed, warnings } = await verify(context, operations, {
    desired: {
      ...(of.skills === undefined ? {} : { skill: wanted(...of.skills) }),
      ...(of.roles === undefined ? {} : { role: wanted(...of.roles) }),
      approvedDeletes: [],
    },
    policy: { ...POLICY, ...of.policy },
    handled: new Set(of.handled ?? operations.map(({ kind, name }) => `${kind}:${name}`)),
  });
  return {
    observed,
    said: warnings.map(({ code, name }) => (name === undefined ? code : `${code} ${name}`)),
    warnings,
    readings: reader.readings,
    halt: context.halt,
    passedMs: clock.nowMs() - startMs,
  };
}

const skills = (...names: string[]) => ({ skill: names.map((name) => entry(name)) });

describe('a done operation', () => {
  it.each<[string, readonly NumberedOperation[], Partial<ObservedCatalog>]>([
    ['a create that is listed', [creating(1, 'New')], skills('New')],
    ['a delete that is listed no more', [deleting(1, 'Old')], skills('Other')],
  ])('is verified by one reading: %s', async (_, operations, lists) => {
    const { observed, said, readings } = await verified(
      { operations, planned: skills('Other', 'Old') },
      () => lists,
    );
    expect([said, readings]).toEqual([[], 1]);
    expect(observed?.skill).toEqual(lists.skill);
  });

  it('causes further readings while the lists lack it', async () => {
    const operations = [creating(1, 'New'), deleting(2, 'Old')];
    const late = await verified({ operations, planned: skills('Old') }, (passedMs) =>
      passedMs < 20_000 ? skills('Old') : skills('New'),
    );
    expect([late.said, late.passedMs >= 20_000, late.passedMs < 25_000]).toEqual([[], true, true]);
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

  it('is reported after one reading when settle has passed already', async () => {
    const of = { operations: [creating(1, 'New')], agoMs: 35_000 };
    expect(await verified(of, () => ({}))).toMatchObject({ said: ['not_shown_yet New'], readings: 1 });
  });

  it('differs from a failed one, which is not verified', async () => {
    const of = { operations: [creating(1, 'New'), deleting(2, 'Old')], status: 'failed' } as const;
    expect(await verified({ ...of, planned: skills('Old') }, () => skills('Old'))).toMatchObject({
      said: [],
      readings: 1,
    });
  });

  it('is found by its id, not by its name', async () => {
    const of = { operations: [creating(1, 'New')], planned: { skill: [entry('New', '1')] } };
    expect((await verified(of, () => ({ skill: [entry('New', '1')] }))).said).toEqual(['not_shown_yet New']);
  });

  it('is reported without an id when the answer had none', async () => {
    const of = { operations: [creating(1, 'New')], answered: { New: undefined }, agoMs: 35_000 };
    const { warnings } = await verified(of, () => skills('New'));
    expect(warnings.map((warning) => Object.keys(warning))).toEqual([['code', 'message', 'kind', 'name']]);
  });
});

describe('lists that cannot be read', () => {
  const done = { operations: [creating(1, 'New')] };

  it('are read again', async () => {
    const { said, observed } = await verified(done, (passedMs) =>
      passedMs < 5000 ? new ServiceError('unavailable', 'no answer') : skills('New'),
    );
    expect([said, observed?.skill.length]).toEqual([[], 1]);
  });

  it.each(['unavailable', 'throttled', 'rejected'] as const)('for as long as settle: %s', async (kind) => {
    const { observed, warnings, passedMs } = await verified(done, () => new ServiceError(kind, 'no answer'));
    expect([observed, passedMs >= 35_000, passedMs < 38_000]).toEqual([null, true, true]);
    expect(warnings).toMatchObject([{ code: 'unverified', message: expect.stringContaining('no answer') }]);
  });

  it.each(['auth', 'malformed'] as const)(
    'are not read again after an error that will not pass: %s',
    async (kind) => {
      expect(await verified(done, () => new ServiceError(kind, 'no'))).toMatchObject({
        observed: null,
        said: ['unverified'],
        readings: 1,
      });
    },
  );

  it('are unverified although an earlier reading showed something', async () => {
    const { observed, said } = await verified(done, (passedMs) =>
      passedMs < 1000 ? {} : new ServiceError('unavailable', 'no answer'),
    );
    expect([observed, said]).toEqual([null, ['unverified']]);
  });

  it('throw an error that is not the service’s, because it is a bug', async () => {
    await expect(verified(done, () => new TypeError('a bug'))).rejects.toThrow('a bug');
  });

  it('are not read again in a stopped run', async () => {
    expect(await verified({ ...done, stopped: true }, () => ({}))).toMatchObject({
      said: ['not_shown_yet New'],
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
    const { said } = await verified({ skills: ['Kept'] }, (passedMs) =>
      passedMs < 1500 ? {} : skills('Kept'),
    );
    expect(said).toEqual([]);
  });

  it('is not reported when the run has an operation for it, tried or held', async () => {
    expect(await verified({ skills: ['New'], handled: ['skill:New'] }, () => ({}))).toMatchObject({
      said: [],
      readings: 1,
    });
  });

  it('is found under the name that the service gave it, by the journal', async () => {
    const history = { requestedNames: new Map([['skill:7', 'Kept ']] as const) };
    const lists = { skill: [entry('Kept', '7')] };
    expect((await verified({ skills: ['Kept '], history, planned: lists }, () => lists)).said).toEqual([]);
  });

  it('is found under the name that the service gave it in this run', async () => {
    const of: Check = {
      operations: [creating(1, 'New ')],
      answered: { 'New ': { remoteId: '7', name: 'New' } },
      skills: ['New '],
      handled: [],
    };
    expect((await verified(of, () => ({ skill: [entry('New', '7')] }))).said).toEqual([]);
  });
});

describe('an entry that this run created', () => {
  const of: Check = {
    operations: [creating(1, 'New')],
    answered: { New: { remoteId: '7', name: 'new' } },
    skills: ['New'],
  };

  it.each([
    ['and that somebody renamed has vanished', 'Mine', ['vanished New']],
    ['is there under the name that the service gave it', 'new', []],
    ['is there under yet another name of the service', 'NEW', []],
  ])('%s', async (_, name, said) => {
    expect((await verified(of, () => ({ skill: [entry(name, '7')] }))).said).toEqual(said);
  });

  it('is reported only as not shown yet when no list shows it', async () => {
    expect((await verified({ ...of, agoMs: 35_000 }, () => ({}))).said).toEqual(['not_shown_yet New']);
  });

  it('is not mistaken for what the run deleted', async () => {
    const check = { operations: [deleting(1, 'Old')], skills: [], planned: skills('Old') };
    expect((await verified(check, () => ({}))).said).toEqual([]);
  });
});

describe('a reading that halts the run', () => {
  const done = { operations: [creating(1, 'New')] };

  it.each([
    ['identity', 'identity_mismatch'],
    ['auth', undefined],
  ] as const)('of kind %s halts the run as %s', async (kind, code) => {
    const { halt, readings, said } = await verified(done, () => new ServiceError(kind, 'no'));
    expect([halt?.code, readings, said]).toEqual([code, 1, ['unverified']]);
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
    ['that was there before', { ...of, planned: lists }],
    ['that the run made', { ...of, operations: [creating(1, 'Stray')] }],
    ['of a kind that the file leaves out', { roles: [], planned: skills('Kept') }],
    ['that is protected', { ...of, policy: { protect: ['Str*'] } }],
    ['where only what is rolecall’s goes', { ...of, policy: { ownership: 'managed' } }],
    ['where nothing is deleted', { ...of, policy: { delete: 'never' } }],
    ['that the file asks for', { ...of, skills: ['Kept', 'Stray'] }],
  ])('is not told of: %s', async (_, check) => {
    expect((await verified(check, () => lists)).said).toEqual([]);
  });

  it('is reported when it is a duplicate of a desired name', async () => {
    const twice = { skill: [entry('Kept', '1'), entry('Kept', '2')] };
    const { warnings } = await verified(
      { skills: ['Kept'], planned: { skill: [entry('Kept', '1')] } },
      () => twice,
    );
    expect(warnings).toMatchObject([{ code: 'appeared', remoteId: '2' }]);
  });

  it('is distinguished from a created entry of the other kind', async () => {
    const check = { ...of, roles: [], operations: [creating(1, 'X')] };
    const { warnings } = await verified(check, () => ({ ...skills('Kept', 'X'), role: [entry('X')] }));
    expect(warnings).toMatchObject([{ code: 'appeared', kind: 'role', name: 'X' }]);
  });
});
