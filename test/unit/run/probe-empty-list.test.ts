// The first create into an empty list, which the list must show before others follow.
import { describe, expect, it } from 'vitest';
import { conclude, type NumberedOperation } from '../../../src/run/apply-context.ts';
import { probeEmptyList } from '../../../src/run/probe-empty-list.ts';
import type { Kind, ObservedCatalog } from '../../../src/core/catalog.ts';
import { ServiceError } from '../../../src/core/errors.ts';
import type { OperationStatus } from '../../../src/core/journal.ts';
import type { Activity } from '../../../src/core/ports/progress.ts';
import { entry } from '../core/builders.ts';
import { API } from './api.ts';
import { bareContext, bareRequest, creating, readerOf } from './bare-context.ts';
import { QuickClock } from './quick-clock.ts';

const CREATES = [creating(1, 'A'), creating(2, 'B'), creating(3, 'C')];
const ROLE: NumberedOperation = { seq: 4, action: 'create', kind: 'role', name: 'R' };

/** What happens to an operation: a status, `nothing` (done, and the answer has no entry), or no result at all. */
type Fate = OperationStatus | null;

interface Setup {
  readonly planned?: Partial<ObservedCatalog>;
  readonly fates?: Readonly<Record<string, Fate>>;
  /** Whether somebody listens to the progress of the run. */
  readonly hasListener?: boolean;
}

/** A service whose list shows what was created, unless `lists` is replaced. The id of an entry is its name. */
function setUp({ planned = {}, fates = {}, hasListener = true }: Setup = {}) {
  const clock = new QuickClock();
  const waits: Activity[] = [];
  const progress = (activity: Activity) => void (activity.type === 'probe' && waits.push(activity));
  const request = { ...bareRequest(), ...(hasListener ? { progress } : {}) };
  const sent: string[] = [];
  const made: string[] = [];
  const on = {
    clock,
    request,
    waits,
    sent,
    startedAtMs: clock.steadyMs(),
    onRead: (_reading: number): void => undefined,
    lists: (): Partial<ObservedCatalog> | Error => ({ skill: made.map((name) => entry(name)) }),
  };
  const reader = readerOf(() => {
    on.onRead(reader.readings);
    return on.lists();
  });
  const operations = [...CREATES, ROLE];
  const context = bareContext({ clock, request, reader, operations, planned });
  const probe = async (creates: readonly NumberedOperation[] = CREATES, kind: Kind = 'skill') => {
    const remaining = await probeEmptyList(context, kind, creates, async ({ seq, name }) => {
      sent.push(name);
      const fate = fates[name] === undefined ? 'done' : fates[name];
      if (fate === null) return;
      if (fate === 'done') made.push(name);
      const details = fate === 'done' ? { entry: { remoteId: name, name } } : {};
      conclude(context, seq, fate, details);
    });
    return remaining.map(({ name }) => name);
  };
  /** An operation that this run has done before. */
  const doneBefore = ({ seq, kind, name }: NumberedOperation) => {
    conclude(context, seq, 'done', { entry: { remoteId: name, name } });
    if (kind === 'skill') made.push(name);
  };
  const passedMs = () => clock.steadyMs() - on.startedAtMs;
  return Object.assign(on, { context, reader, probe, doneBefore, passedMs });
}

describe('several creates into an empty list', () => {
  it('begin with one alone, and the others follow as soon as the list shows its entry', async () => {
    const on = setUp();
    expect(await on.probe([...CREATES, ROLE])).toEqual(['B', 'C', 'R']);
    expect([on.sent, on.reader.readings, on.waits, on.context.halt]).toEqual([['A'], 1, [], null]);
  });

  it('wait for a list that is late, and report how long at most', async () => {
    const on = setUp();
    const shown = on.lists;
    on.lists = () => (on.passedMs() < 300 ? {} : shown());
    expect(await on.probe()).toEqual(['B', 'C']);
    expect(on.waits).toEqual([
      { type: 'probe', kind: 'skill', forMs: 35_000 },
      { type: 'probe', kind: 'skill', forMs: 34_900 },
    ]);
    expect([on.reader.readings, on.passedMs()]).toEqual([3, 300]);
  });

  it('need no probe when the list of the plan was not empty', async () => {
    const on = setUp({ planned: { skill: [entry('X')] } });
    expect(await on.probe()).toEqual(['A', 'B', 'C']);
    expect([on.sent, on.reader.readings]).toEqual([[], 0]);
  });

  it('need no probe when there is only one, or none of the kind', async () => {
    for (const creates of [[], [ROLE], [creating(1, 'A')], [creating(1, 'A'), ROLE]]) {
      const on = setUp();
      expect(await on.probe(creates)).toEqual(creates.map(({ name }) => name));
      expect([on.sent, on.reader.readings]).toEqual([[], 0]);
    }
  });

  it('need no second probe when this run has created an entry of the kind, which the list must show', async () => {
    const on = setUp();
    on.doneBefore(creating(1, 'A'));
    expect(await on.probe(CREATES.slice(1))).toEqual(['B', 'C']);
    expect([on.sent, on.reader.readings]).toEqual([[], 1]);
  });
});

describe('a create alone into an empty list', () => {
  it.each<Fate>(['failed', 'held'])('is followed by another one alone when it was %s', async (fate) => {
    const on = setUp({ fates: { A: fate } });
    expect(await on.probe()).toEqual(['C']);
    expect([on.sent, on.context.halt]).toEqual([['A', 'B'], null]);
  });

  it('is not needed for the last one, which cannot be repeated by others', async () => {
    const on = setUp({ fates: { A: 'failed', B: 'failed' } });
    expect(await on.probe([...CREATES, ROLE])).toEqual(['C', 'R']);
    expect([on.sent, on.reader.readings]).toEqual([['A', 'B'], 0]);
  });

  it.each<Fate>(['unknown', 'sent', 'skipped', null])(
    'stops the others of its kind when its outcome is %s, since it may exist',
    async (fate) => {
      const on = setUp({ fates: { A: fate } });
      expect(await on.probe([...CREATES, ROLE])).toEqual(['R']);
      expect(on.sent).toEqual(['A']);
      const skipped = on.context.results.filter(({ seq }) => seq !== 1);
      expect(skipped.map(({ seq, status, reason }) => [seq, status, reason])).toEqual([
        [2, 'skipped', 'the outcome of an earlier create into an empty list is unknown'],
        [3, 'skipped', 'the outcome of an earlier create into an empty list is unknown'],
      ]);
    },
  );

  it('stops the others for the reason that halted the run', async () => {
    const on = setUp({ fates: { A: 'unknown' } });
    on.context.halt = null;
    const remaining = probeEmptyList(on.context, 'skill', CREATES, async ({ seq }) => {
      conclude(on.context, seq, 'unknown');
      on.context.halt = { code: 'throttled', message: 'busy' };
    });
    expect(await remaining).toEqual([]);
    expect(on.context.statuses.get(3)?.reason).toBe('busy');
  });

  it('is not sent after the run was halted', async () => {
    const on = setUp();
    on.request.stop();
    expect(await on.probe()).toEqual(['A', 'B', 'C']);
    expect([on.sent, on.context.halt?.code]).toEqual([[], 'interrupted']);
  });
});

describe('a list that was empty', () => {
  it('halts the run when it does not show the created entry within the time for a list', async () => {
    const on = setUp();
    on.lists = () => ({});
    await on.probe();
    expect(on.context.halt?.code).toBe('suspicious_list');
    expect(on.context.halt?.message).toContain(
      'the list of skills was empty, and it does not show the entry that this run created; nothing more was written',
    );
    // One reading begins when the time has passed.
    expect(on.passedMs()).toBeGreaterThanOrEqual(API.settleMs);
    expect(on.passedMs()).toBeLessThan(API.settleMs + 2000);
    const forMs = on.waits.map((wait) => ('forMs' in wait ? wait.forMs : -1));
    expect(forMs.at(0)).toBe(API.settleMs);
    expect(forMs.at(-1)).toBeLessThan(2000);
    expect(Math.min(...forMs)).toBeGreaterThan(0);
  });

  it.each([
    ['beside the created entry', ['A', 'Other']],
    ['and not the created entry', ['Other']],
  ])('halts the run at once when it shows another entry %s', async (_, names) => {
    const on = setUp();
    on.lists = () => ({ skill: names.map((name) => entry(name)) });
    await on.probe();
    expect(on.context.halt?.code).toBe('suspicious_list');
    expect(on.context.halt?.message).toContain('shows other entries now');
    expect([on.reader.readings, on.waits]).toEqual([1, []]);
  });

  it('must show every entry that this run created', async () => {
    const on = setUp();
    on.doneBefore(creating(1, 'A'));
    on.doneBefore(creating(2, 'B'));
    on.lists = () => ({ skill: [entry(on.reader.readings === 1 ? 'A' : 'B')] });
    await on.probe([creating(3, 'C')]);
    expect(on.context.halt?.code).toBe('suspicious_list');
  });

  it('is read again after a failure, which the reason names only if it was the last one', async () => {
    const busy = new ServiceError('unavailable', 'busy');
    const on = setUp();
    const shown = on.lists;
    on.lists = () => (on.reader.readings === 1 ? busy : shown());
    expect(await on.probe()).toEqual(['B', 'C']);

    const never = setUp();
    never.lists = () => busy;
    await never.probe();
    expect(never.context.halt?.message).toContain(
      'that this run created (the last reading failed: busy); nothing',
    );

    const recovered = setUp();
    recovered.lists = () => (recovered.reader.readings === 1 ? busy : {});
    await recovered.probe();
    expect(recovered.context.halt?.message).toContain('that this run created; nothing');
  });

  it('halts the run for the reason that the service gives', async () => {
    const on = setUp();
    on.lists = () => new ServiceError('auth', 'who?');
    await on.probe();
    expect([on.context.halt, on.reader.readings]).toEqual([{ code: 'unauthorized', message: 'who?' }, 1]);
  });

  it('is no longer waited for when the run is stopped', async () => {
    const on = setUp();
    on.lists = () => {
      if (on.reader.readings === 2) on.request.stop();
      return {};
    };
    await on.probe();
    expect([on.context.halt?.code, on.reader.readings]).toEqual(['interrupted', 2]);
  });
});
