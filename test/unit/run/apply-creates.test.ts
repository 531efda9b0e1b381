// The creates of a plan: answers, repeated requests, and the account id.
import { describe, expect, it } from 'vitest';
import { applyCreates } from '../../../src/run/apply-creates.ts';
import type { Entry, Kind, ObservedCatalog } from '../../../src/core/catalog.ts';
import { ServiceError } from '../../../src/core/errors.ts';
import type { Journal } from '../../../src/core/ports/journal.ts';
import type { ServiceWriter, CreateOutcome, MayStart } from '../../../src/core/ports/service.ts';
import type { ApiSettings } from '../../../src/core/settings.ts';
import type { EntryKey } from '../../../src/core/usage.ts';
import { entry, wanted } from '../core/builders.ts';
import { bareContext, bareRequest, creating, readerOf, unused } from './bare-context.ts';
import { API } from './api.ts';
import { QuickClock } from './quick-clock.ts';

interface Setup {
  readonly api?: Partial<ApiSettings>;
  readonly planned?: Partial<ObservedCatalog>;
  /** Ids that the journal contains. */
  readonly known?: readonly EntryKey[];
  /** Desired names of the file. */
  readonly desired?: readonly string[];
  readonly identified?: boolean;
  /** The error that claiming an account id returns. */
  readonly wrong?: string;
}

/** A service that answers creates as given; any other create gets an id of its own. */
function setUp(of: Setup = {}) {
  const clock = new QuickClock();
  const request = {
    ...bareRequest({ skill: wanted(...(of.desired ?? [])) }),
    api: { ...API, concurrency: 1, retries: 4, ...of.api },
  };
  const on = {
    clock,
    request,
    made: [] as Entry[],
    /** What was created, unless a test replaces it. */
    lists: (): Partial<ObservedCatalog> | Error => ({ skill: on.made }),
    sent: [] as string[],
    claimed: [] as string[],
    answer: (_name: string): CreateOutcome | null => null,
    /** The freeze window that is open. */
    window: null as string | null,
  };
  let ids = 0;
  const writer: ServiceWriter = {
    ...unused<ServiceWriter>('writer'),
    create: async (kind: Kind, name: string, mayStart: MayStart) => {
      if (!(await mayStart())) return { type: 'outdated', error: null, attempts: 0 };
      on.sent.push(name);
      ids += 1;
      const outcome: CreateOutcome = on.answer(name) ?? {
        type: 'created',
        entry: answered(name, `${kind}-${String(ids)}`),
        httpStatus: 201,
        attempts: 1,
      };
      if (outcome.type === 'created') on.made.push(outcome.entry);
      return outcome;
    },
  };
  const journal: Journal = {
    ...unused<Journal>('journal'),
    knownIds: async (account, remoteAccountId, upToRun) => {
      expect([account, remoteAccountId]).toEqual(['acme', '42']);
      expect(upToRun).toBeNull();
      return new Set(of.known ?? []);
    },
  };
  const reader = readerOf(() => on.lists());
  const frozen = () => on.window;
  const bare = bareContext({ clock, request, writer, reader, frozen, planned: of.planned ?? PRESENT });
  const context = {
    ...bare,
    deps: { ...bare.deps, journal },
    identified: of.identified ?? true,
    claimAccountId: async (accountId: string) => {
      on.claimed.push(accountId);
      return of.wrong ?? null;
    },
  };
  const apply = async (...names: string[]) => {
    const creates = names.map((name, index) => creating(index + 1, name));
    Object.assign(context, { operations: creates });
    await applyCreates(context, creates);
    return creates.map(({ seq, name }) => `${name} ${context.statuses.get(seq)?.status ?? 'nothing'}`);
  };
  return Object.assign(on, { context, apply, reader });
}

function answered(name: string, id: string, accountId?: string): Entry {
  return { ...entry(name, id), ...(accountId === undefined ? {} : { accountId }) };
}

function created(name: string, id: string, accountId?: string): CreateOutcome {
  return { type: 'created', entry: answered(name, id, accountId), httpStatus: 200, attempts: 1 };
}

function refused(httpStatus: number, attempts = 1): CreateOutcome {
  return { type: 'failed', error: new ServiceError('rejected', 'refused', { httpStatus }), attempts };
}

/** No list is empty, so that no create is a probe. */
const PRESENT = { skill: [entry('Present')], role: [entry('Present')] };

const BUSY = new ServiceError('throttled', 'busy', { httpStatus: 429 });
const LOST: CreateOutcome = { type: 'doubtful', reason: 'lost', httpStatus: 502, attempts: 1 };

describe('creates', () => {
  it('are sent once each, in their order, and are done with the returned entry', async () => {
    const on = setUp();
    expect(await on.apply('A', 'B')).toEqual(['A done', 'B done']);
    expect(on.sent).toEqual(['A', 'B']);
    expect(on.context.results).toMatchObject([
      {
        seq: 1,
        attempts: 1,
        httpStatus: 201,
        reason: null,
        entry: { remoteId: 'skill-1', name: 'A', existed: false },
      },
      {
        seq: 2,
        attempts: 1,
        httpStatus: 201,
        reason: null,
        entry: { remoteId: 'skill-2', name: 'B', existed: false },
      },
    ]);
  });

  it('continue after a refused one, whose reason is journaled', async () => {
    const on = setUp();
    on.answer = (name) => (name === 'A' ? refused(422) : null);
    expect(await on.apply('A', 'B')).toEqual(['A failed', 'B done']);
    expect(on.context.statuses.get(1)).toMatchObject({ attempts: 1, httpStatus: 422, reason: 'refused' });
  });

  it('that were never sent are skipped', async () => {
    const on = setUp();
    on.answer = () => ({ type: 'failed', error: new ServiceError('unavailable', 'no way'), attempts: 0 });
    expect(await on.apply('A')).toEqual(['A skipped']);
    expect(on.context.statuses.get(1)).toMatchObject({ httpStatus: null, reason: 'no way' });
  });

  it('end when the lock is lost, before the request is sent', async () => {
    const on = setUp();
    const log = { ...on.context.log, sent: () => Promise.resolve('lock_lost' as const) };
    const context = { ...on.context, log };
    await applyCreates(context, [creating(1, 'A'), creating(2, 'B')]);
    expect([on.sent, context.halt?.code]).toEqual([[], 'lock_lost']);
    expect(on.context.results.map(({ status, reason }) => [status, reason])).toEqual([
      ['skipped', context.halt?.message],
      ['skipped', context.halt?.message],
    ]);
  });
});

describe('an answer with an older entry', () => {
  it.each<[string, Setup]>([
    ['listed', { planned: { skill: [entry('A', '7')] } }],
    ['known to the journal', { known: ['skill:7'] }],
  ])('reports that the entry already existed: %s', async (_, of) => {
    const on = setUp(of);
    on.answer = (name) => created(name, '7');
    expect(await on.apply('A')).toEqual(['A done']);
    expect(on.context.statuses.get(1)).toMatchObject({ entry: { remoteId: '7', existed: true } });
    expect(on.context.statuses.get(1)?.reason).toContain('already');
  });

  it('under an unrelated name leaves the create in doubt', async () => {
    const on = setUp({ planned: { skill: [entry('Theirs', '7')] } });
    on.answer = () => created('Theirs', '7');
    expect([await on.apply('A'), on.sent]).toEqual([['A unknown'], ['A']]);
    expect(on.context.statuses.get(1)?.reason).toContain('“Theirs”');
  });

  it('under an unrelated name still confirms the account', async () => {
    const on = setUp({
      planned: { skill: [entry('Theirs', '7')] },
      identified: false,
      wrong: 'not the account that is meant',
    });
    on.answer = () => created('Theirs', '7', '666');
    expect(await on.apply('A', 'B')).toEqual(['A unknown', 'B skipped']);
    expect(on.context.halt?.code).toBe('identity_mismatch');
  });

  it('is a new entry when only a role has that id', async () => {
    const on = setUp({ planned: { role: [entry('A', '7')] }, known: ['role:8'] });
    Object.assign(on.context, { operations: [creating(1, 'A'), creating(2, 'B')] });
    on.answer = (name) => created(name, name === 'A' ? '7' : '8');
    on.lists = () => ({ skill: [entry('A', '7')] });
    await on.apply('A', 'B');
    expect(on.context.results.map((result) => result.entry?.existed)).toEqual([false, false]);
  });

  it('is reported for the second of two creates that the service answers with one entry', async () => {
    const on = setUp();
    on.answer = () => created('A', '7');
    await on.apply('A', 'a');
    expect(on.context.results.map((result) => result.entry?.existed)).toEqual([false, true]);
  });
});

describe('a create whose answer was lost', () => {
  it('is unknown until a list shows its entry, and then done without a second request', async () => {
    const on = setUp();
    on.answer = () => LOST;
    on.lists = () => ({ skill: [entry('A', '7')] });
    expect(await on.apply('A')).toEqual(['A done']);
    expect(on.sent).toEqual(['A']);
    expect(on.context.results).toMatchObject([
      { status: 'unknown', attempts: 1, httpStatus: 502, reason: 'lost' },
      { status: 'done', attempts: 1, httpStatus: 502, entry: { remoteId: '7', existed: false } },
    ]);
    expect(on.context.results[1]?.reason).toContain('list');
  });

  it.each<[string, Setup, () => Partial<ObservedCatalog> | Error]>([
    ['no list shows an entry of its name', {}, () => ({})],
    [
      'the list shows an older entry of its name',
      { known: ['skill:7'] },
      () => ({ skill: [entry('A', '7')] }),
    ],
    ['no list can be read', {}, () => new ServiceError('unavailable', 'no answer')],
  ])('is sent once, and stays unknown after `settle`, when %s', async (_, of, lists) => {
    const on = setUp(of);
    on.answer = () => LOST;
    on.lists = lists;
    const startMs = on.clock.steadyMs();
    expect([await on.apply('A'), on.sent]).toEqual([['A unknown'], ['A']]);
    const passedMs = on.clock.steadyMs() - startMs;
    expect([passedMs >= 35_000, passedMs < 38_000]).toEqual([true, true]);
  });

  it('delays no other create, and the lists show all of them after the last one', async () => {
    const on = setUp({ api: { concurrency: 2 } });
    const names = Array.from({ length: 20 }, (_, index) => `S${String(index)}`);
    on.answer = (name) => {
      on.clock.pass(5000);
      return name === 'S0' || name === 'S6' ? LOST : null;
    };
    on.lists = () => ({ skill: on.sent.length < 20 ? [] : [entry('S0', '7'), entry('S6', '8')] });
    expect(await on.apply(...names)).toEqual(names.map((name) => `${name} done`));
    expect([on.sent, on.reader.readings]).toEqual([names, 1]);
  });

  it('is one of ten after which the others wait for the next run', async () => {
    const on = setUp();
    on.answer = () => LOST;
    const names = Array.from({ length: 12 }, (_, index) => `S${String(index)}`);
    const outcomes = await on.apply(...names);
    expect(outcomes.slice(9)).toEqual(['S9 unknown', 'S10 skipped', 'S11 skipped']);
    expect(on.context.statuses.get(12)?.reason).toContain('10 creates was unknown');
  });

  it('is not matched to an entry of another create', async () => {
    const on = setUp();
    on.answer = (name) => (name === 'a' ? LOST : created('A', '7'));
    on.lists = () => ({ skill: [entry('a', '7')] });
    expect(await on.apply('A', 'a')).toEqual(['A done', 'a unknown']);
  });

  it('stays unknown when the run is stopped while the lists are read', async () => {
    const on = setUp();
    on.answer = () => LOST;
    on.lists = () => {
      on.request.stop();
      return {};
    };
    expect([await on.apply('A'), on.reader.readings]).toEqual([['A unknown'], 1]);
  });

  it('ends the run when a list belongs to another account, and nothing more is sent', async () => {
    const on = setUp();
    on.answer = () => LOST;
    on.lists = () => new ServiceError('identity', 'another account');
    expect(await on.apply('A', 'B')).toEqual(['A unknown', 'B unknown']);
    expect([on.sent, on.context.halt?.code]).toEqual([['A', 'B'], 'identity_mismatch']);
  });
});

describe('several creates into an empty list', () => {
  const EMPTY = { planned: {} };
  const listed = (...names: string[]) => ({ skill: names.map((name, at) => entry(name, `skill-${at + 1}`)) });

  it('begin with one alone, and the others follow when a list shows its entry', async () => {
    const on = setUp(EMPTY);
    let shownAt = 0;
    on.lists = () => {
      shownAt = on.sent.length;
      return on.reader.readings < 3 ? {} : listed('A');
    };
    expect(await on.apply('A', 'B', 'C')).toEqual(['A done', 'B done', 'C done']);
    expect([shownAt, on.reader.readings]).toEqual([1, 3]);
  });

  it('need no reading when there is only one', async () => {
    const on = setUp(EMPTY);
    expect([await on.apply('A'), on.reader.readings]).toEqual([['A done'], 0]);
  });

  it('go on with the next one alone when one was refused', async () => {
    const on = setUp(EMPTY);
    on.answer = (name) => (name === 'A' ? refused(422) : null);
    on.lists = () => ({ skill: [entry('B', 'skill-2')] });
    expect(await on.apply('A', 'B', 'C')).toEqual(['A failed', 'B done', 'C done']);
    expect(on.reader.readings).toBe(1);
  });

  it.each<[string, () => Partial<ObservedCatalog> | Error, string, string]>([
    ['never shows it', () => ({}), 'suspicious_list', 'shows the first entry'],
    [
      'shows others',
      () => ({ skill: [entry('A', 'skill-1'), entry('X')] }),
      'suspicious_list',
      'shows other entries',
    ],
    ['cannot be read', () => new ServiceError('unavailable', 'busy'), 'suspicious_list', 'failed: busy'],
    ['is refused', () => new ServiceError('auth', 'who?'), 'unauthorized', 'who?'],
  ])('halt the run when the list %s', async (_, lists, code, text) => {
    const on = setUp(EMPTY);
    on.lists = lists;
    expect([await on.apply('A', 'B'), on.sent]).toEqual([['A done', 'B skipped'], ['A']]);
    expect(on.context.halt?.code).toBe(code);
    expect(on.context.halt?.message).toContain(text);
  });

  it('wait for the next run when no list shows the first one, whose answer was lost', async () => {
    const on = setUp(EMPTY);
    on.answer = () => LOST;
    expect([await on.apply('A', 'B'), on.sent]).toEqual([['A unknown', 'B skipped'], ['A']]);
    expect(on.context.halt).toBeNull();
  });

  it('leave out a name that the list shows by now', async () => {
    const on = setUp({ identified: false });
    on.lists = () => ({ skill: [entry('A', 'skill-1'), entry('B', '9')] });
    expect([await on.apply('A', 'B', 'C'), on.sent]).toEqual([
      ['A done', 'B skipped', 'C done'],
      ['A', 'C'],
    ]);
  });
});

describe('a create that the service refuses', () => {
  it('with 409 names the near duplicate in the error', async () => {
    const on = setUp({ planned: { skill: [entry('a')] } });
    on.answer = () => refused(409);
    expect(await on.apply('A')).toEqual(['A failed']);
    expect(on.context.statuses.get(1)?.reason).toContain('refused; “a” exists');
    expect(on.reader.readings).toBe(0);
  });

  it.each<[string, Setup, number]>([
    ['without a near duplicate', {}, 409],
    ['with another status', { planned: { skill: [entry('a')] } }, 503],
  ])('is reported with only the message of the service: %s', async (_, of, status) => {
    const on = setUp(of);
    on.answer = () => refused(status);
    await on.apply('A');
    expect(on.context.statuses.get(1)?.reason).toBe('refused');
  });
});

describe('the account id', () => {
  it('is claimed once, by the first answer that carries it', async () => {
    const on = setUp({ identified: false });
    on.answer = (name) => created(name, name, name === 'A' ? undefined : '42');
    expect(await on.apply('A', 'B', 'C')).toEqual(['A done', 'B done', 'C done']);
    expect([on.claimed, on.context.identified, on.context.remoteAccountId]).toEqual([['42'], true, '42']);
  });

  it('is claimed again when an answer carries another one', async () => {
    const on = setUp({ wrong: 'not that one' });
    on.answer = (name) => created(name, name, name === 'A' ? '42' : '43');
    expect(await on.apply('A', 'B', 'C')).toEqual(['A done', 'B done', 'C skipped']);
    expect([on.claimed, on.context.halt]).toEqual([
      ['43'],
      { code: 'identity_mismatch', message: 'not that one' },
    ]);
    expect(on.context.remoteAccountId).toBe('42');
  });

  it.each([['42'], [undefined]])(
    'is confirmed by the list that shows the first create, whose answer was lost: %s',
    async (id) => {
      const on = setUp({ identified: false });
      on.answer = (name) => (name === 'A' ? LOST : null);
      on.lists = () => ({ skill: [answered('A', '7', id)] });
      expect(await on.apply('A', 'B', 'C')).toEqual(['A done', 'B done', 'C done']);
    },
  );

  it('stops a create whose row is being committed when another answer halts the run', async () => {
    const on = setUp();
    const sent = (): Promise<'committed'> => {
      context.halt = { code: 'identity_mismatch', message: 'not that one' };
      return Promise.resolve('committed');
    };
    const context: typeof on.context = { ...on.context, log: { ...on.context.log, sent } };
    await applyCreates(context, [creating(1, 'A')]);
    expect([on.sent, on.context.results.map(({ status }) => status)]).toEqual([[], ['skipped']]);
  });

  it('stops all creates when the first answer carries another one', async () => {
    const on = setUp({ identified: false, wrong: 'not that one' });
    on.answer = (name) => created(name, name, '43');
    expect([await on.apply('A', 'B'), on.sent]).toEqual([['A done', 'B skipped'], ['A']]);
    expect(on.context.statuses.get(2)?.reason).toBe('not that one');
    expect(on.context.identified).toBe(false);
  });
});

describe('a freeze window that opens during a run', () => {
  const opened = (on: ReturnType<typeof setUp>, outcome: CreateOutcome | null): CreateOutcome | null => {
    on.window = 'cron * * * * *';
    return outcome;
  };

  it('holds the creates that have not been sent', async () => {
    const on = setUp();
    on.answer = (name) => (name === 'B' ? opened(on, null) : null);
    expect(await on.apply('A', 'B', 'C')).toEqual(['A done', 'B done', 'C held']);
    expect(on.sent).toEqual(['A', 'B']);
    expect(on.context.statuses.get(3)).toMatchObject({
      rule: 'freeze',
      attempts: 0,
      reason: expect.stringContaining('(cron * * * * *) opened') as string,
    });
  });

  it('leaves no row of a held operation as `sent`', async () => {
    const on = setUp();
    on.window = 'now';
    const log = { ...on.context.log, sent: () => Promise.reject(new Error('a row was sent')) };
    await applyCreates({ ...on.context, log }, [creating(1, 'A')]);
    expect(on.context.statuses.get(1)?.rule).toBe('freeze');
  });

  it.each(['freeze', 'stop'])(
    'is checked again after the row is committed, as is a stop: %s',
    async (what) => {
      const on = setUp();
      const sent = () => {
        if (what === 'freeze') on.window = 'now';
        else on.request.stop();
        return Promise.resolve('committed' as const);
      };
      const context = { ...on.context, log: { ...on.context.log, sent } };
      await applyCreates(context, [creating(1, 'A')]);
      expect(on.sent).toEqual([]);
      expect(on.context.statuses.get(1)?.status).toBe(what === 'freeze' ? 'held' : 'skipped');
    },
  );

  it('holds a throttled create instead of sending it again', async () => {
    const on = setUp();
    on.answer = () => opened(on, { type: 'outdated', error: BUSY, attempts: 2 });
    expect(await on.apply('A')).toEqual(['A held']);
    expect(on.context.statuses.get(1)).toMatchObject({ rule: 'freeze', attempts: 2 });
  });
});

describe('a freeze window that opens before the account is known', () => {
  it('holds all creates', async () => {
    const on = setUp({ identified: false });
    on.window = 'now';
    expect(await on.apply('A', 'B')).toEqual(['A held', 'B held']);
    expect(on.context.results.map(({ rule }) => rule)).toEqual(['freeze', 'freeze']);
  });
});

describe('the account id of a returned entry', () => {
  it.each<[string, Setup, string | undefined, string | undefined]>([
    ['is kept when it belongs to another account', { wrong: 'not that one' }, '43', '43'],
    ['is not kept when it is the known one', {}, '42', undefined],
    ['is not kept when the run did not have it before', { identified: false }, '43', undefined],
    ['is absent when the entry has none', {}, undefined, undefined],
  ])('%s', async (_, of, answeredId, kept) => {
    const on = setUp(of);
    on.answer = (name) => created(name, '7', answeredId);
    await on.apply('A');
    expect(on.context.statuses.get(1)?.entry).toEqual({
      remoteId: '7',
      name: 'A',
      existed: false,
      ...(kept === undefined ? {} : { accountId: kept }),
    });
  });
});

describe('a create that failed when the run was stopped', () => {
  it.each([
    [1, 'A failed', 'no way'],
    [0, 'A skipped', 'interrupted'],
  ])('and was sent %d times is reported as: %s', async (attempts, outcome, reason) => {
    const on = setUp();
    on.answer = () => {
      on.request.stop();
      return { type: 'failed', error: new ServiceError('unavailable', 'no way'), attempts };
    };
    expect(await on.apply('A')).toEqual([outcome]);
    expect(on.context.statuses.get(1)?.reason).toContain(reason);
  });
});
