// The deletes of a plan: the lists before them, the recheck, and answers.
import { describe, expect, it } from 'vitest';
import type { NumberedOperation } from '../../../src/run/apply-context.ts';
import { conclude } from '../../../src/run/apply-context.ts';
import { applyDeletes } from '../../../src/run/apply-deletes.ts';
import type { AllowedDelete, DesiredEntry, ObservedCatalog } from '../../../src/core/catalog.ts';
import { ServiceError } from '../../../src/core/errors.ts';
import type { ServiceWriter, DeleteOutcome, MayStart } from '../../../src/core/ports/service.ts';
import type { ApiSettings } from '../../../src/core/settings.ts';
import { entry, observed, person, wanted } from '../core/builders.ts';
import type { BareParts } from './bare-context.ts';
import { bareContext, bareRequest, creating, deleting, readerOf, unused } from './bare-context.ts';
import { API } from './api.ts';
import { QuickClock } from './quick-clock.ts';

const DELETED: DeleteOutcome = { type: 'deleted', httpStatus: 200, attempts: 1 };

function refused(httpStatus?: number, attempts = 1, maybeDone = false): DeleteOutcome {
  return { type: 'failed', error: new ServiceError('rejected', 'no', { httpStatus }), attempts, maybeDone };
}

const LOST = refused(502, 2, true);
const BUSY = new ServiceError('throttled', 'busy', { httpStatus: 429 });

const ABC = ['A', 'B', 'C'].map((name, index) => deleting(index + 1, name));

interface Setup {
  readonly lists?: Partial<ObservedCatalog>;
  readonly api?: Partial<ApiSettings>;
  readonly operations?: readonly NumberedOperation[];
  readonly planned?: Partial<ObservedCatalog>;
  readonly desired?: readonly DesiredEntry[];
  readonly approved?: readonly AllowedDelete[];
  readonly history?: BareParts['history'];
}

/** A service with lists that deletes from them; `answer` can decide otherwise. */
function setUp(of: Setup = {}) {
  const clock = new QuickClock();
  const request = {
    ...bareRequest({ skill: of.desired ?? wanted('Kept'), allowedDeletes: of.approved ?? [] }),
    api: { ...API, concurrency: 1, ...of.api },
  };
  const start = of.lists ?? { skill: ['A', 'B', 'C'].map((name) => entry(name)) };
  const on = {
    clock,
    request,
    lists: observed(start) as ObservedCatalog | Error,
    sent: [] as string[],
    answer: (_id: string): DeleteOutcome | null => null,
    /** The freeze window that is open. */
    window: null as string | null,
    /** Called with each list; an error that it returns is thrown in its place. */
    onRead: (): Error | undefined => undefined,
  };
  const remove = (id: string): void => {
    if (on.lists instanceof Error) return;
    on.lists = { ...on.lists, skill: on.lists.skill.filter((each) => each.id !== id) };
  };
  const writer: ServiceWriter = {
    ...unused<ServiceWriter>('writer'),
    delete: async (kind, id, isFresh) => {
      if (!(await isFresh())) return { type: 'outdated', error: null, attempts: 0, maybeDone: false };
      on.sent.push(`${kind} ${id}`);
      const outcome = on.answer(id);
      if (outcome === null || outcome.type === 'deleted') remove(id);
      return outcome ?? DELETED;
    },
  };
  const reader = readerOf(() => on.onRead() ?? on.lists);
  const frozen = () => on.window;
  const parts: BareParts = {
    clock,
    request,
    writer,
    reader,
    frozen,
    planned: of.planned ?? start,
    history: of.history ?? {},
  };
  const context = bareContext({ ...parts, operations: of.operations ?? ABC });
  return Object.assign(on, { context, reader, remove });
}

/** Name, status and rule of each operation. */
function outcomes({ context }: ReturnType<typeof setUp>, operations: readonly NumberedOperation[]) {
  return operations.map(({ seq, name }) => {
    const result = context.statuses.get(seq);
    return [name, result?.status, ...[result?.rule ?? []].flat()].join(' ');
  });
}

describe('deletes that are allowed', () => {
  it('are sent in their order, after one reading', async () => {
    const on = setUp({
      lists: { skill: ['A', 'B', 'C'].map((name) => entry(name)), resources: [person('p')] },
    });
    await applyDeletes(on.context, ABC);
    expect([on.sent, on.reader.readings]).toEqual([['skill A', 'skill B', 'skill C'], 1]);
    expect(on.context.results).toMatchObject(
      [1, 2, 3].map((seq) => ({ seq, status: 'done', attempts: 1, httpStatus: 200, reason: null })),
    );
  });

  it('read the lists again every 60 seconds', async () => {
    const on = setUp();
    on.answer = (id) => {
      on.clock.pass(id === 'A' ? 59_999 : 1);
      return null;
    };
    await applyDeletes(on.context, ABC);
    expect([on.sent.length, on.reader.readings]).toEqual([3, 2]);
  });

  it('are skipped when reading the lists takes too long', async () => {
    const on = setUp();
    on.onRead = () => {
      on.clock.pass(21_000);
      return undefined;
    };
    await applyDeletes(on.context, ABC);
    expect([on.sent, on.reader.readings]).toEqual([[], 1]);
    expect(on.context.results).toMatchObject(
      [1, 2, 3].map((seq) => ({
        seq,
        status: 'skipped',
        reason: expect.stringContaining('a minute') as string,
      })),
    );
  });

  it('are not sent when their lists are too old, and are rechecked', async () => {
    const on = setUp({ api: { retries: 1 } });
    const fresh: boolean[] = [];
    const { writer } = on.context;
    const inner = writer.delete.bind(writer);
    const context = {
      ...on.context,
      writer: {
        ...unused<ServiceWriter>('writer'),
        delete: async (kind: 'skill' | 'role', id: string, isFresh: MayStart): Promise<DeleteOutcome> => {
          if (fresh.length > 0) return await inner(kind, id, isFresh);
          fresh.push(await isFresh());
          on.clock.pass(60_000);
          fresh.push(await isFresh());
          on.lists = observed({
            skill: ['A', 'B', 'C'].map((name) => entry(name)),
            resources: [person('p', ['A'])],
          });
          return { type: 'outdated', error: BUSY, attempts: 1, maybeDone: false };
        },
      },
    };
    await applyDeletes(context, ABC.slice(0, 1));
    expect([fresh, on.sent, on.reader.readings]).toEqual([[true, false], [], 2]);
    expect(on.context.statuses.get(1)).toMatchObject({ status: 'held', rule: 'in_use', attempts: 1 });
  });

  it.each([
    ['failed when each was refused', [false, false], 'failed'],
    ['unknown when an answer was lost', [false, true], 'unknown'],
    ['unknown when an answer was lost before it was refused', [true, false], 'unknown'],
  ])('whose lists are too old at every attempt are %s', async (_, lost, status) => {
    const on = setUp({ api: { retries: 1 } });
    const answers = [...lost];
    on.answer = () => ({ type: 'outdated', error: BUSY, attempts: 1, maybeDone: answers.shift() === true });
    await applyDeletes(on.context, ABC.slice(0, 1));
    expect(on.sent).toHaveLength(2);
    expect(on.context.statuses.get(1)).toMatchObject({
      status,
      attempts: 2,
      httpStatus: 429,
      reason: 'busy',
    });
  });

  it('are unknown when they became outdated after a lost answer and were then refused', async () => {
    const on = setUp({ api: { retries: 1 } });
    const answers: DeleteOutcome[] = [
      { type: 'outdated', error: new ServiceError('unavailable', 'lost'), attempts: 1, maybeDone: true },
      refused(403),
    ];
    on.answer = () => answers.shift() ?? null;
    await applyDeletes(on.context, ABC.slice(0, 1));
    expect(on.context.statuses.get(1)).toMatchObject({ status: 'unknown', attempts: 2, httpStatus: 403 });
  });
});

describe('the account id', () => {
  it('must be confirmed before a delete when one is expected', async () => {
    const on = setUp();
    on.context.identified = false;
    await applyDeletes(on.context, ABC);
    expect([on.sent, on.reader.readings, outcomes(on, ABC)]).toEqual([
      [],
      0,
      ['A skipped', 'B skipped', 'C skipped'],
    ]);
    expect(on.context.results[0]?.reason).toContain('account id');
  });

  it('need not be confirmed before a delete when none is expected', async () => {
    const on = setUp();
    on.context.identified = false;
    on.context.remoteAccountId = null;
    await applyDeletes(on.context, ABC);
    expect(on.sent).toHaveLength(3);
  });
});

describe('a list that is read before a delete', () => {
  it('makes the delete done without a request when the entry is gone', async () => {
    const on = setUp({ lists: { skill: [entry('B'), entry('C')] }, planned: {} });
    await applyDeletes(on.context, ABC);
    expect([on.sent, outcomes(on, ABC)]).toEqual([
      ['skill B', 'skill C'],
      ['A done', 'B done', 'C done'],
    ]);
    expect(on.context.statuses.get(1)).toMatchObject({ attempts: 0, httpStatus: null });
  });

  it.each([
    ['the list cannot be read', new ServiceError('unavailable', 'no answer')],
    ['the token is rejected', new ServiceError('auth', 'no answer')],
  ])('allows no delete when %s', async (_, failure) => {
    const on = setUp();
    on.lists = failure;
    await applyDeletes(on.context, ABC);
    expect([on.sent, outcomes(on, ABC)]).toEqual([[], ['A skipped', 'B skipped', 'C skipped']]);
    expect(on.context.halt?.code).toBe(failure.kind === 'auth' ? 'unauthorized' : undefined);
    expect(on.context.results[0]?.reason).toContain(failure.message);
  });
});

describe('a new name that the journal contains', () => {
  const old = deleting(1, 'Old');
  const desired = [{ name: 'Kept', formerly: ['Old'] }];
  const awaited = [{ kind: 'skill', name: 'Kept', remoteId: '9' }] as const;
  const requestedNames = new Map([['skill:9', 'Kept']] as const);

  it.each<[string, BareParts['history'], Partial<ObservedCatalog>, boolean]>([
    ['created and not listed yet', { awaited }, { skill: [entry('Old')] }, true],
    [
      'stored under another name by the service',
      { requestedNames },
      { skill: [entry('kept', '9'), entry('Old')] },
      true,
    ],
    ['renamed since', { requestedNames }, { skill: [entry('Mine', '9'), entry('Old')] }, false],
  ])('is accepted only while an entry has it: %s', async (_, history, lists, isAllowed) => {
    const planned = { skill: [entry('kept', '9'), entry('Old')] };
    const on = setUp({ lists, desired, operations: [old], planned, history });
    await applyDeletes(on.context, [old]);
    expect(outcomes(on, [old])).toEqual([isAllowed ? 'Old done' : 'Old held rename']);
  });
});

describe('a freeze window that opens during a run', () => {
  it('holds the deletes that have not been sent', async () => {
    const on = setUp();
    on.answer = (id) => {
      if (id === 'B') on.window = '2026-12-24 to 2026-12-26';
      return null;
    };
    await applyDeletes(on.context, ABC);
    expect([on.sent.length, outcomes(on, ABC)]).toEqual([2, ['A done', 'B done', 'C held freeze']]);
    expect(on.context.statuses.get(3)?.reason).toContain('2026-12-24 to 2026-12-26');
  });

  it.each([
    ['held when it was only throttled', false, 'A held freeze'],
    ['unknown when an answer was lost', true, 'A unknown'],
  ])('leaves a delete that was sent %s', async (_, maybeDone, outcome) => {
    const on = setUp({ api: { retries: 4 } });
    on.answer = () => {
      on.window = 'now';
      return { type: 'outdated', error: BUSY, attempts: 2, maybeDone };
    };
    await applyDeletes(on.context, ABC.slice(0, 1));
    expect([on.sent.length, outcomes(on, ABC.slice(0, 1))]).toEqual([1, [outcome]]);
    expect(on.context.statuses.get(1)?.attempts).toBe(2);
  });
});

describe('wrong lists before a delete', () => {
  const skills = ['A', 'K1', 'K2', 'K3', 'K4', 'K5'].map((name) => entry(name));
  const [first] = ABC;
  const one = first === undefined ? [] : [first];

  it('prevent every delete when they are empty twice', async () => {
    const on = setUp({
      lists: {},
      planned: { skill: skills },
      operations: skills.map(({ name }, i) => deleting(i + 1, name)),
    });
    const startMs = on.clock.nowMs();
    await applyDeletes(on.context, one);
    expect([outcomes(on, one), on.reader.readings, on.clock.nowMs() - startMs]).toEqual([
      ['A skipped'],
      2,
      2000,
    ]);
    expect(on.context.results[0]?.reason).toContain('more than a quarter');
  });

  it('prevent every delete when they lack what people have, twice', async () => {
    const planned = {
      skill: ['A', 'B', 'C'].map((name) => entry(name)),
      resources: [person('p', ['B', 'C'])],
    };
    const on = setUp({ lists: { skill: [entry('A')], resources: planned.resources }, planned });
    await applyDeletes(on.context, one);
    expect([on.sent, outcomes(on, one), on.reader.readings]).toEqual([[], ['A skipped'], 2]);
    expect(on.context.results[0]?.reason).toContain('lack entries that people have');
  });

  it('prevent no delete when they lacked what people have already when the run was planned', async () => {
    const planned = { skill: ['A', 'B'].map((name) => entry(name)), resources: [person('p', ['X'])] };
    const on = setUp({ lists: { skill: [entry('A')], resources: planned.resources }, planned });
    await applyDeletes(on.context, one);
    expect([on.sent, on.reader.readings]).toEqual([['skill A'], 2]);
  });

  it('may lack what this run deleted, to which people may still refer', async () => {
    const [A, B] = ABC;
    const operations = A === undefined || B === undefined ? [] : [B, A];
    const resources = [person('p', ['B'])];
    const planned = { skill: ['A', 'B', 'K'].map((name) => entry(name)), resources };
    const on = setUp({ lists: { skill: [entry('A')], resources }, planned, operations });
    conclude(on.context, 2, 'done', { attempts: 1 });
    await applyDeletes(on.context, one);
    expect([on.sent, on.reader.readings]).toEqual([['skill A'], 2]);
  });

  it('are read again when they are empty once', async () => {
    const on = setUp({ lists: { skill: skills } });
    const complete = on.lists;
    on.onRead = () => {
      on.lists = on.reader.readings === 1 ? observed() : complete;
      return undefined;
    };
    await applyDeletes(on.context, one);
    expect([on.sent, on.reader.readings]).toEqual([['skill A'], 2]);
  });

  it('are read again, and the entry counts as gone only when both readings lack it', async () => {
    const on = setUp({ lists: { skill: [entry('A'), entry('B'), entry('C')] } });
    const startMs = on.clock.nowMs();
    on.onRead = () => {
      const names = on.reader.readings === 1 ? ['C'] : ['B', 'C'];
      if (on.sent.length === 0) on.lists = observed({ skill: names.map((name) => entry(name)) });
      return undefined;
    };
    await applyDeletes(on.context, ABC);
    expect([on.sent, on.reader.readings, on.clock.nowMs() - startMs]).toEqual([
      ['skill B', 'skill C'],
      2,
      2000,
    ]);
    expect(on.context.statuses.get(1)).toMatchObject({ status: 'done', attempts: 0 });
  });

  it('do not count the deletes of this run as missing entries', async () => {
    const names = Array.from({ length: 30 }, (_, index) => `S${String(index)}`);
    const operations = names.map((name, index) => deleting(index + 1, name));
    const on = setUp({ lists: { skill: names.map((name) => entry(name)) }, operations });
    on.answer = () => {
      on.clock.pass(3000);
      return null;
    };
    await applyDeletes(on.context, operations);
    expect([on.sent.length, on.reader.readings]).toEqual([30, 2]);
    expect(new Set(outcomes(on, operations).map((each) => each.split(' ')[1]))).toEqual(new Set(['done']));
  });

  it('are read again when a person is missing, and the assignments of both readings count', async () => {
    const on = setUp({
      lists: { skill: [entry('A')], resources: [person('q', [])] },
      planned: { skill: [entry('A')], resources: [person('p', []), person('q', [])] },
    });
    const startMs = on.clock.nowMs();
    on.onRead = () => {
      const people = on.reader.readings === 1 ? [person('q', ['A'])] : [person('p', [])];
      on.lists = observed({ skill: [entry('A')], resources: people });
      return undefined;
    };
    await applyDeletes(on.context, one);
    expect([on.sent, outcomes(on, one)]).toEqual([[], ['A held in_use']]);
    expect([on.reader.readings, on.clock.nowMs() - startMs]).toEqual([2, 2000]);
  });
});

describe('an entry that the service returned for a create of this run', () => {
  const create = creating(9, 'New');

  it('does not hold a delete when its create failed or is pending', async () => {
    const on = setUp({ operations: [create, creating(8, 'Newer'), ...ABC] });
    conclude(on.context, 9, 'failed');
    await applyDeletes(on.context, ABC);
    expect(on.sent).toHaveLength(3);
  });

  it.each<[string, NumberedOperation, string]>([
    ['is not deleted', deleting(1, 'A'), 'A held rename'],
    ['does not hold a delete of the other kind', { ...deleting(1, 'A'), kind: 'role' }, 'A done'],
    ['does not hold a delete of another id', { ...deleting(1, 'A'), remoteId: 'other' }, 'A done'],
  ])('%s', async (_, operation, outcome) => {
    const lists = { skill: [entry('A'), entry('A', 'other')], role: [entry('A')] };
    const on = setUp({ lists, planned: {}, operations: [create, operation] });
    conclude(on.context, 9, 'done', { entry: { remoteId: 'A', name: 'A' } });
    await applyDeletes(on.context, [operation]);
    expect(outcomes(on, [operation])).toEqual([outcome]);
  });
});

describe('a halt', () => {
  it('before a delete prevents its request', async () => {
    const on = setUp();
    on.onRead = () => {
      on.request.stop();
      return undefined;
    };
    await applyDeletes(on.context, ABC);
    expect([on.sent, outcomes(on, ABC)]).toEqual([[], ['A skipped', 'B skipped', 'C skipped']]);
    expect(on.context.results[0]?.reason).toBe(on.context.halt?.message);
  });

  it('by a lost lock prevents the request', async () => {
    const on = setUp();
    const log = { ...on.context.log, sent: () => Promise.resolve('lock_lost' as const) };
    const context = { ...on.context, log };
    await applyDeletes(context, ABC);
    expect([on.sent, context.halt?.code, outcomes(on, ABC)]).toEqual([
      [],
      'lock_lost',
      ['A skipped', 'B skipped', 'C skipped'],
    ]);
  });
});

describe('a delete whose answer is no success', () => {
  const one = ABC.slice(0, 1);

  it.each<[string, DeleteOutcome, string]>([
    ['failed when it was refused', refused(409), 'failed'],
    ['failed when the service answers that the entry is gone', refused(404), 'failed'],
    ['is unknown when it was refused after a lost answer', refused(404, 2, true), 'unknown'],
    ['is unknown when its answer was lost', LOST, 'unknown'],
  ])('%s, until the lists at the end decide', async (_, outcome, status) => {
    const on = setUp();
    on.answer = () => outcome;
    await applyDeletes(on.context, one);
    const { attempts } = outcome;
    expect(on.context.statuses.get(1)).toMatchObject({ status, attempts });
    expect(on.reader.readings).toBe(1);
  });

  it('does not make the lists suspicious when there are many', async () => {
    const names = Array.from({ length: 12 }, (_, index) => `S${String(index)}`);
    const operations = names.map((name, index) => deleting(index + 1, name));
    const on = setUp({ lists: { skill: names.map((name) => entry(name)) }, operations });
    on.answer = (id) => {
      on.clock.pass(10_000);
      on.remove(id);
      return LOST;
    };
    await applyDeletes(on.context, operations);
    expect(on.sent).toHaveLength(12);
  });

  it('halts the run when the token is rejected', async () => {
    const on = setUp();
    on.answer = () => ({
      type: 'failed',
      error: new ServiceError('auth', 'no', { httpStatus: 401 }),
      attempts: 1,
      maybeDone: false,
    });
    await applyDeletes(on.context, ABC);
    expect(outcomes(on, ABC)).toEqual(['A failed', 'B skipped', 'C skipped']);
  });
});
