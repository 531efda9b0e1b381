// The creates of a plan: answers, repeated requests, and the account id.
import { describe, expect, it } from 'vitest';
import type { NumberedOperation } from '../../../src/run/apply-context.ts';
import { applyCreates, type DuplicateHint } from '../../../src/run/apply-creates.ts';
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
  readonly nearDuplicate?: DuplicateHint;
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
    lists: (): Partial<ObservedCatalog> | Error => ({}),
    sent: [] as string[],
    claimed: [] as string[],
    /** Receives the name and how often it has been sent, counted from 1. */
    answer: (_name: string, _times: number): CreateOutcome | null => null,
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
      const prepared = on.answer(name, on.sent.filter((each) => each === name).length);
      return (
        prepared ?? {
          type: 'created',
          entry: answered(name, `${kind}-${String(ids)}`),
          httpStatus: 201,
          attempts: 1,
        }
      );
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
    await applyCreates(context, creates, of.nearDuplicate ?? (() => ''));
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
    await applyCreates(context, [creating(1, 'A'), creating(2, 'B')], () => '');
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
    const on = setUp({ planned: { skill: [entry('Theirs', '7')] }, api: { retries: 1 } });
    on.answer = () => created('Theirs', '7');
    expect([await on.apply('A'), on.sent]).toEqual([['A unknown'], ['A', 'A']]);
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

  it('is not sent again when the list shows an older entry of its name', async () => {
    const on = setUp({ known: ['skill:7'], api: { retries: 2 } });
    on.answer = () => LOST;
    on.lists = () => ({ skill: [entry('A', '7')] });
    expect([await on.apply('A'), on.sent]).toEqual([['A unknown'], ['A']]);
  });

  it('is not sent again while the list shows a new entry that no create explains', async () => {
    const on = setUp({ api: { retries: 2 } });
    on.answer = (name) => (name === 'C' ? null : LOST);
    on.lists = () => ({ skill: [entry('Trunca', '7'), entry('B', '8'), entry('C', 'skill-3')] });
    expect(await on.apply('Truncated', 'B', 'C')).toEqual(['Truncated unknown', 'B done', 'C done']);
    expect(on.sent).toEqual(['Truncated', 'B', 'C']);
    expect(on.context.statuses.get(1)?.reason).toContain('“Trunca” (7)');
  });

  it('is sent again while the only new entry is near the name of another create in doubt', async () => {
    const on = setUp({ api: { retries: 1 } });
    on.answer = (name, times) => {
      on.clock.pass(name === 'A' && times === 1 ? 10_000 : 0);
      return times === 1 ? LOST : null;
    };
    on.lists = () => ({ skill: [entry('b', '7')] });
    expect(await on.apply('A', 'B')).toEqual(['A done', 'B done']);
    expect(on.sent).toEqual(['A', 'B', 'A']);
  });

  it('is sent once in a run when an earlier run left a create of its name in doubt', async () => {
    const on = setUp({ api: { retries: 2 } });
    on.answer = () => LOST;
    const doubt = { known: new Set<EntryKey>(), untilMs: on.clock.nowMs() };
    Object.assign(on.context, {
      history: { ...on.context.history, doubtfulCreates: new Map([['skill:A', doubt]]) },
    });
    expect([await on.apply('A'), on.sent]).toEqual([['A unknown'], ['A']]);
  });

  it('prevents further creates while three are in doubt, and the remaining ones wait for the next run', async () => {
    const on = setUp({ api: { retries: 1 } });
    on.answer = (name) => (name === 'A' ? null : LOST);
    expect(await on.apply('A', 'B', 'C', 'D', 'E', 'F')).toEqual([
      'A done',
      'B unknown',
      'C unknown',
      'D unknown',
      'E skipped',
      'F skipped',
    ]);
    expect(on.sent).toEqual(['A', 'B', 'C', 'D', 'B', 'C', 'D']);
    expect(on.context.statuses.get(6)?.reason).toContain('3 creates of this run is unknown');
  });

  it('allows further creates when a list shows one of three in doubt', async () => {
    const on = setUp({ api: { retries: 0 } });
    on.answer = (name) => (name === 'E' ? null : LOST);
    on.lists = () => ({ skill: on.sent.length < 3 ? [] : [entry('C', '7')] });
    expect(await on.apply('A', 'B', 'C', 'D', 'E')).toEqual([
      'A unknown',
      'B unknown',
      'C done',
      'D unknown',
      'E skipped',
    ]);
  });

  it('is not matched to an entry of another create', async () => {
    const on = setUp({ api: { retries: 0 } });
    on.answer = (name) => (name === 'a' ? LOST : created('A', '7'));
    on.lists = () => ({ skill: [entry('a', '7')] });
    expect(await on.apply('A', 'a')).toEqual(['A done', 'a unknown']);
  });

  it('is sent again only after `settle`, and at most `retries` times', async () => {
    const on = setUp({ api: { retries: 2 } });
    const startMs = on.clock.nowMs();
    const sentAt: number[] = [];
    on.answer = () => {
      sentAt.push(on.clock.nowMs() - startMs);
      return LOST;
    };
    expect(await on.apply('A')).toEqual(['A unknown']);
    expect(sentAt).toHaveLength(3);
    expect(sentAt.map((at, index) => at - (sentAt[index - 1] ?? at) >= 35_000)).toEqual([false, true, true]);
    expect(on.context.statuses.get(1)).toMatchObject({ attempts: 3, reason: 'lost' });
  });

  it('is not sent again when no list could be read', async () => {
    const on = setUp();
    on.answer = () => LOST;
    on.lists = () => new ServiceError('unavailable', 'no answer');
    expect([await on.apply('A'), on.sent.length]).toEqual([['A unknown'], 1]);
  });

  it('is not sent again when the run is stopped during the search', async () => {
    const on = setUp();
    on.answer = () => LOST;
    const startMs = on.clock.nowMs();
    on.lists = () => {
      if (on.clock.nowMs() - startMs >= 35_000) on.request.stop();
      return {};
    };
    expect([await on.apply('A'), on.sent.length]).toEqual([['A unknown'], 1]);
  });

  it('is done when sending it again returns 409 and a list then shows its entry', async () => {
    const on = setUp({ api: { retries: 1 } });
    on.answer = (_, times) => (times === 1 ? LOST : refused(409));
    on.lists = () => (on.sent.length < 2 ? {} : { skill: [entry('A', '7')] });
    expect(await on.apply('A')).toEqual(['A done']);
    expect(on.context.statuses.get(1)).toMatchObject({
      attempts: 2,
      httpStatus: 409,
      entry: { remoteId: '7' },
    });
  });

  it('fails when sending it again returns another error', async () => {
    const on = setUp({ api: { retries: 1 } });
    on.answer = (_, times) => (times === 1 ? LOST : refused(422));
    expect(await on.apply('A')).toEqual(['A failed']);
    expect(on.context.statuses.get(1)).toMatchObject({ attempts: 2, httpStatus: 422 });
  });

  it('is settled after the other creates, by its own `settle`, and does not delay them', async () => {
    const on = setUp({ api: { concurrency: 2 } });
    const names = Array.from({ length: 20 }, (_, index) => `S${String(index)}`);
    const startMs = on.clock.steadyMs();
    const sentAt: Record<string, number[]> = {};
    on.answer = (name, times) => {
      on.clock.pass(5000);
      (sentAt[name] ??= []).push(on.clock.steadyMs() - startMs);
      return times === 1 && (name === 'S0' || name === 'S6') ? LOST : null;
    };
    expect(await on.apply(...names)).toEqual(names.map((name) => `${name} done`));
    const [s0 = [], s6 = [], last = []] = [sentAt['S0'], sentAt['S6'], sentAt['S19']];
    expect([s0.length, s6.length]).toEqual([2, 2]);
    expect((s0[1] ?? 0) - (s0[0] ?? 0)).toBeGreaterThanOrEqual(35_000);
    expect((s6[1] ?? 0) - (s6[0] ?? 0)).toBeGreaterThanOrEqual(35_000);
    expect(Math.max(s0[1] ?? 0, s6[1] ?? 0)).toBeLessThan((last[0] ?? 0) + 35_000);
  });

  it('is not matched to the entry of a create that was in flight, whose name the service changes', async () => {
    const on = setUp({ api: { concurrency: 2, retries: 0 }, desired: ['JavaScript', 'JS'] });
    const { writer } = on.context;
    const context = {
      ...on.context,
      writer: {
        ...writer,
        create: async (...args: Parameters<ServiceWriter['create']>) => {
          if (args[1] === 'JavaScript') return await writer.create(...args);
          await new Promise((resolve) => setImmediate(resolve));
          return created('JavaScript', '7');
        },
      },
    };
    on.answer = () => LOST;
    on.lists = () => ({ skill: [entry('JavaScript', '7')] });
    await applyCreates(context, [creating(1, 'JavaScript'), creating(2, 'JS')], () => '');
    expect([context.statuses.get(1)?.status, context.statuses.get(2)]).toMatchObject([
      'unknown',
      { status: 'done', entry: { remoteId: '7', existed: false } },
    ]);
  });
});

describe('a create that the service refuses', () => {
  const withDuplicate = {
    nearDuplicate: ({ name }: NumberedOperation, status?: number) =>
      status === 409 ? `; ${name.toLowerCase()} exists` : '',
  };

  it('with 409 names the near duplicate in the error', async () => {
    const on = setUp(withDuplicate);
    on.answer = () => refused(409);
    expect(await on.apply('A')).toEqual(['A failed']);
    expect(on.context.statuses.get(1)?.reason).toBe('refused; a exists');
    expect(on.reader.readings).toBe(0);
  });

  it.each<[string, Setup, number]>([
    ['without a near duplicate', {}, 409],
    ['with another status', withDuplicate, 422],
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

  it('allows a first create whose answer is lost to be sent again as often as retries allow', async () => {
    const on = setUp({ identified: false, api: { retries: 2 } });
    on.answer = () => LOST;
    expect([await on.apply('A', 'B'), on.sent]).toEqual([
      ['A unknown', 'B skipped'],
      ['A', 'A', 'A'],
    ]);
  });

  it('is known when a list shows the first create whose answer was lost', async () => {
    const on = setUp({ identified: false });
    on.answer = (name) => (name === 'A' ? LOST : null);
    on.lists = () => ({ skill: [answered('A', '7', '42')] });
    expect(await on.apply('A', 'B', 'C')).toEqual(['A done', 'B done', 'C done']);
  });

  it('stays unknown when a list shows that create without an id, and nothing more is sent', async () => {
    const on = setUp({ identified: false });
    on.answer = () => LOST;
    on.lists = () => ({ skill: [entry('A', '7')] });
    expect([await on.apply('A', 'B', 'C'), on.sent]).toEqual([['A done', 'B skipped', 'C skipped'], ['A']]);
    expect(on.context.statuses.get(2)?.reason).toContain(
      'rolecall cannot confirm that this is the intended account',
    );
  });

  it('stops a create whose row is being committed when another answer halts the run', async () => {
    const on = setUp();
    const sent = (): Promise<'committed'> => {
      context.halt = { code: 'identity_mismatch', message: 'not that one' };
      return Promise.resolve('committed');
    };
    const context: typeof on.context = { ...on.context, log: { ...on.context.log, sent } };
    await applyCreates(context, [creating(1, 'A')], () => '');
    expect([on.sent, on.context.results.map(({ status }) => status)]).toEqual([[], ['skipped']]);
  });

  it('of another account leaves a create in doubt unknown instead of sending it again', async () => {
    const on = setUp({ wrong: 'not that one' });
    const startMs = on.clock.nowMs();
    on.answer = () => {
      on.clock.pass(10_000);
      return LOST;
    };
    // The list that shows that the first is absent also shows the second, in another account.
    on.lists = () => (on.clock.nowMs() - startMs < 45_000 ? {} : { skill: [answered('B', '7', '43')] });
    expect(await on.apply('A', 'B')).toEqual(['A unknown', 'B done']);
    expect([on.sent, on.context.halt?.code]).toEqual([['A', 'B'], 'identity_mismatch']);
    expect(on.context.statuses.get(1)).toMatchObject({ attempts: 1 });
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
    await applyCreates({ ...on.context, log }, [creating(1, 'A')], () => '');
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
      await applyCreates(context, [creating(1, 'A')], () => '');
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

  it('holds a create that is in doubt once it certainly had no effect', async () => {
    const on = setUp();
    on.answer = () => opened(on, LOST);
    expect(await on.apply('A')).toEqual(['A held']);
    expect([on.sent, on.context.statuses.get(1)?.attempts]).toEqual([['A'], 1]);
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

describe('a list that is read for a create whose answer was lost', () => {
  it('ends the run when it belongs to another account, and nothing more is sent', async () => {
    const on = setUp({ api: { retries: 2 } });
    on.answer = () => LOST;
    on.lists = () => new ServiceError('identity', 'another account');
    expect(await on.apply('A', 'B')).toEqual(['A unknown', 'B unknown']);
    expect([on.sent, on.context.halt?.code]).toEqual([['A', 'B'], 'identity_mismatch']);
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
