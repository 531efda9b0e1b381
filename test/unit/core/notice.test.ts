// The health of an account after a run, and the notices that follow. What holds for every history of states is in
// property/notices.test.ts.
import { describe, expect, it } from 'vitest';
import type { NoticeType, NotifiedState } from '../../../src/core/notice.ts';
import {
  awaitedDigest,
  decideNotices,
  newsOf,
  undoneOperations,
  waitingChanges,
} from '../../../src/core/notice.ts';
import { sha256 } from './builders.ts';
import type { RunSketch } from './run-details.ts';
import { runDetail, T0 } from './run-details.ts';

const ALL: readonly NoticeType[] = ['drift', 'applied', 'held', 'failed', 'recovered'];
const MINUTE = 60_000;

const FAILED: RunSketch = { status: 'failed', plan: null, errorCode: 'unavailable', error: 'no answer' };
const HELD: RunSketch = { status: 'held', held: ['Perl'] };
const DRIFT: RunSketch = { status: 'planned', mode: 'plan', toCreate: ['Rust'] };
const OK: RunSketch = { status: 'converged' };
const APPLIED: RunSketch = { status: 'converged', created: 1 };

interface Step {
  readonly run: RunSketch;
  readonly pending?: string;
  /** Minutes after T0; by default the index of the step. */
  readonly at?: number;
}

/** The news of run `n`, which started n minutes after T0. */
function newsAt(n: number, run: RunSketch, pending: string | null = null) {
  return { ...newsOf(runDetail(n, run), pending, sha256), startedAtMs: T0 + n * MINUTE };
}

/** The types of the notices that follow these runs, one list for each run. */
function noticesFor(steps: readonly (RunSketch | Step)[]): string[][] {
  let notified: NotifiedState | null = null;
  let nowMs = 0;
  return steps.map((step, index) => {
    const { run, pending, at = index }: Step = 'run' in step ? step : { run: step };
    nowMs = Math.max(nowMs, T0 + at * MINUTE + 1000);
    const news = newsAt(at, run, pending);
    const decided = decideNotices(news, notified, { events: ALL }, nowMs);
    notified = decided.notified;
    return [...decided.due];
  });
}

describe('a change of state', () => {
  it('from failed to anything else is a recovery, notified before the new state', () => {
    expect(noticesFor([FAILED, OK])[1]).toEqual(['recovered']);
    expect(noticesFor([FAILED, HELD])[1]).toEqual(['recovered', 'held']);
    expect(noticesFor([FAILED, DRIFT])[1]).toEqual(['recovered', 'drift']);
    expect(noticesFor([FAILED, APPLIED])[1]).toEqual(['applied', 'recovered']);
  });

  it('from held or drift to ok is a recovery only when the run changed nothing', () => {
    expect(noticesFor([HELD, OK])[1]).toEqual(['recovered']);
    expect(noticesFor([DRIFT, OK])[1]).toEqual(['recovered']);
    expect(noticesFor([HELD, APPLIED])[1]).toEqual(['applied']);
    expect(noticesFor([DRIFT, APPLIED])[1]).toEqual(['applied']);
  });

  it('between held and drift is notified as the new state alone', () => {
    expect(noticesFor([HELD, DRIFT, HELD])).toEqual([['held'], ['drift'], ['held']]);
  });

  it('is not caused by an interrupted or running run', () => {
    expect(noticesFor([FAILED, { status: 'interrupted' }, { status: 'running' }, FAILED])).toEqual([
      ['failed'],
      [],
      [],
      [],
    ]);
  });
});

describe('an applied change', () => {
  it('is notified for each run that changed something, before everything else', () => {
    const partly: RunSketch = { status: 'partial', deleted: 1, operations: [{ status: 'failed' }] };
    expect(noticesFor([APPLIED, APPLIED, partly, { ...HELD, created: 2 }])).toEqual([
      ['applied'],
      ['applied'],
      ['applied', 'failed'],
      ['applied', 'recovered', 'held'],
    ]);
  });

  it('by a run that was interrupted is notified as well', () => {
    expect(noticesFor([{ status: 'interrupted', created: 3 }])).toEqual([['applied']]);
    expect(noticesFor([{ status: 'running', created: 3 }])).toEqual([[]]);
  });
});

describe('a plan that waits for approval', () => {
  it.each<[NonNullable<RunSketch['status']>, boolean]>([
    ['planned', true],
    ['blocked', true],
    ['converged', false],
    ['failed', false],
    ['held', false],
  ])('is the plan of the run when the run is %s: %s', (status, waits) => {
    const detail = runDetail(1, { status, toCreate: ['Rust'] });
    const digest = detail.plan?.digest ?? '';
    expect(awaitedDigest(detail, digest)).toBe(waits ? digest : null);
    expect(awaitedDigest(detail, 'sha256:another')).toBeNull();
  });
});

describe('an operation that was not done', () => {
  it('is neither done nor held', () => {
    const statuses = ['done', 'held', 'failed', 'unknown', 'skipped', 'pending', 'sent'] as const;
    const { operations } = runDetail(1, { operations: statuses.map((status) => ({ status })) });
    expect(undoneOperations(operations).map(({ status }) => status)).toEqual(statuses.slice(2));
  });
});

describe('a run without a plan', () => {
  it('and with the status planned does not change the health', () => {
    expect(noticesFor([FAILED, { status: 'planned', plan: null }, FAILED])).toEqual([['failed'], [], []]);
  });

  it('includes what was held during the run, without a rule if none is known', () => {
    const operations = [{ name: 'Perl', action: 'delete', status: 'held', rule: null }] as const;
    const detail = runDetail(1, { status: 'held', plan: null, operations });
    expect(waitingChanges(detail)).toEqual([{ action: 'delete', kind: 'skill', name: 'Perl', rules: [] }]);
  });
});

describe('a different state of the same type', () => {
  it('starts when another operation failed, even if their number is the same', () => {
    const partial = (name: string, kind: 'skill' | 'role' = 'skill'): RunSketch => ({
      status: 'partial',
      operations: [{ name, kind, status: 'failed' }],
    });
    expect(noticesFor([partial('A'), partial('B'), partial('B', 'role')])).toEqual([
      ['failed'],
      ['failed'],
      ['failed'],
    ]);
  });

  it('starts with another error code or other undone operations', () => {
    const partial = (...names: string[]): RunSketch => ({
      status: 'partial',
      operations: names.map((name) => ({ name, status: 'failed' })),
    });
    const other: RunSketch = { ...FAILED, errorCode: 'unauthorized' };
    const sameCode: RunSketch = { ...FAILED, error: 'no answer from there either' };
    expect(noticesFor([FAILED, sameCode, other, { status: 'blocked' }])).toEqual([
      ['failed'],
      [],
      ['failed'],
      ['failed'],
    ]);
    expect(noticesFor([partial('A', 'B'), partial('B', 'A'), partial('A')])).toEqual([
      ['failed'],
      [],
      ['failed'],
    ]);
  });

  it('does not depend on which of the same operations failed first', () => {
    const stopped = (...statuses: ('failed' | 'skipped' | 'unknown')[]): RunSketch => ({
      status: 'partial',
      errorCode: 'unauthorized',
      operations: statuses.map((status) => ({ status })),
    });
    expect(noticesFor([stopped('failed', 'skipped'), stopped('unknown', 'failed')])).toEqual([
      ['failed'],
      [],
    ]);
  });

  it('starts with other held names or rules, whatever their order and their people', () => {
    const held = (...changes: NonNullable<RunSketch['held']>): RunSketch => ({
      status: 'held',
      held: changes,
    });
    expect(
      noticesFor([
        held('Perl', 'Cobol'),
        held('Cobol', 'Perl'),
        held('Cobol', { name: 'Perl', remoteId: 'id-Perl', usedBy: ['a', 'b'], reason: '2 people have it' }),
        held('Cobol', { name: 'Perl', remoteId: 'id-Perl', rules: ['in_use', 'freeze'] }),
        held('Cobol'),
      ]),
    ).toEqual([['held'], [], [], ['held'], ['held']]);
  });

  it('starts with another plan, or when the same plan starts to wait for approval', () => {
    const wider: RunSketch = { ...DRIFT, toCreate: ['Rust', 'Go'] };
    expect(noticesFor([DRIFT, { ...DRIFT, held: ['Perl'] }, wider])).toEqual([['drift'], [], ['drift']]);
    const ownPending: Step = { run: DRIFT, pending: runDetail(0, DRIFT).plan?.digest ?? '' };
    const otherPending: Step = { run: DRIFT, pending: 'sha256:x' };
    expect(noticesFor([DRIFT, otherPending, ownPending, ownPending])).toEqual([['drift'], [], ['drift'], []]);
  });
});

describe('a held change', () => {
  it('is derived from a dry run without operations too', () => {
    expect(noticesFor([{ status: 'planned', mode: 'plan', held: ['Perl'] }, HELD])).toEqual([['held'], []]);
    expect(noticesFor([{ status: 'planned', mode: 'plan' }])).toEqual([[]]);
  });

  it('includes changes that were held during the run, each once', () => {
    const detail = runDetail(1, {
      status: 'held',
      held: ['Perl'],
      operations: [
        { action: 'delete', name: 'Perl', remoteId: 'id-Perl', status: 'held', rule: 'in_use' },
        { action: 'delete', name: 'Cobol', remoteId: 'c', status: 'held', rule: 'in_use' },
        { action: 'create', name: 'Rust', status: 'done' },
      ],
    });
    expect(waitingChanges(detail).map(({ name, rules }) => [name, rules])).toEqual([
      ['Perl', ['in_use']],
      ['Cobol', ['in_use']],
    ]);
  });
});

describe('a run that began before the known one', () => {
  it('changes no state, and its applied changes are notified', () => {
    expect(
      noticesFor([
        { run: OK, at: 10 },
        { run: { ...FAILED, created: 1 }, at: 9 },
        { run: OK, at: 11 },
      ]),
    ).toEqual([[], ['applied'], []]);
  });

  it('counts as older also when the clock shows the start of the known one', () => {
    const listener = { events: ALL };
    const { notified } = decideNotices(newsAt(5, OK), null, listener, T0 + 5 * MINUTE);
    expect(decideNotices(newsAt(4, FAILED), notified, listener, T0 + 5 * MINUTE)).toEqual({
      notified,
      due: [],
    });
  });

  it('does not count as older when the clock was set back', () => {
    const known = decideNotices(newsAt(600, OK), null, { events: ALL }, T0 + 600 * MINUTE).notified;
    const news = newsAt(1, FAILED);
    expect(decideNotices(news, known, { events: ALL }, T0 + MINUTE).due).toHaveLength(1);
  });
});
