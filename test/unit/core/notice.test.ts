// The health of an account after a run, and the notices that follow. What holds for every history of states is in
// property/notices.test.ts.
import { describe, expect, it } from 'vitest';
import {
  type NoticeType,
  type NotifiedState,
  awaitedDigest,
  decideNotices,
  newsOf,
  undoneOperations,
  waitingChanges,
} from '../../../src/core/notice.ts';
import type { HoldRule } from '../../../src/core/journal.ts';
import { sha256 } from './builders.ts';
import { type RunSketch, runDetail, T0 } from './run-details.ts';

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

const DRIFT_AND_HELD: RunSketch = { ...DRIFT, held: ['Perl'] };
/** The plan of the first run on a store. */
const FIRST = { warnings: [{ code: 'no_history', message: '' }] };
const NO_HISTORY = {
  name: 'Flash',
  remoteId: 'id-Flash',
  usedBy: ['person-2'],
  rules: ['no_evidence'] as const,
};
const PARTIAL: RunSketch = { status: 'partial', held: ['Perl'], operations: [{ status: 'failed' }] };

const rollout = (...rules: HoldRule[]) => ({ ...HELD, held: [{ rules: ['rollout', ...rules] as const }] });

it('a rollout changes no state: neither what it alone holds, nor that it holds what another rule holds too', () => {
  expect(noticesFor([OK, rollout(), OK])).toEqual([[], [], []]);
  const inUse: RunSketch = { ...HELD, held: [{ rules: ['in_use'] }] };
  expect(noticesFor([inUse, rollout('in_use'), inUse, rollout()])).toEqual([['held'], [], [], ['recovered']]);
});

describe('a change of state', () => {
  it.each<[string, readonly (RunSketch | Step)[], string[][]]>([
    ['is each state that begins', [DRIFT_AND_HELD, PARTIAL], [['drift', 'held'], ['failed']]],
    ['is the end of all states alone', [DRIFT_AND_HELD, HELD, OK], [['drift', 'held'], [], ['recovered']]],
    [
      'is the end of a failure, whatever remains, and no other end while another state begins',
      [FAILED, HELD, DRIFT, OK],
      [['failed'], ['recovered', 'held'], ['drift'], ['recovered']],
    ],
    ['is their end also where changes were applied', [DRIFT, APPLIED], [['drift'], ['applied', 'recovered']]],
    [
      'is not what a failed run cannot see',
      [DRIFT_AND_HELD, FAILED, DRIFT_AND_HELD],
      [['drift', 'held'], ['failed'], ['recovered']],
    ],
    [
      'is not the end of the first run beside drift',
      [
        { ...DRIFT, held: [NO_HISTORY], plan: FIRST },
        { ...DRIFT, toDelete: ['Flash'], plan: {} },
      ],
      [['drift', 'held'], []],
    ],
    [
      'is not the end of the first run where nothing else differs',
      [
        { ...DRIFT, toCreate: [], held: [NO_HISTORY], plan: FIRST },
        { ...DRIFT, toCreate: [], toDelete: ['Flash'] },
        OK,
      ],
      [['held'], [], ['recovered']],
    ],
    [
      'is not the end of the first run beside other rules',
      [
        { ...HELD, held: [{ rules: ['in_use', 'no_evidence'] }, NO_HISTORY], plan: FIRST },
        { ...HELD, held: [{ rules: ['in_use'] }] },
      ],
      [['held'], []],
    ],
    [
      'is the drift that waits for approval when the first run has ended',
      [
        { ...DRIFT, toCreate: [], held: [NO_HISTORY], plan: FIRST },
        { run: { ...DRIFT, toCreate: [], toDelete: ['Flash'] }, pending: 'sha256:delete-Flash' },
      ],
      [['held'], ['drift']],
    ],
    [
      'is a plan of deletes that waits after failed creates',
      [
        {
          run: { ...PARTIAL, toDelete: ['Flash'], operations: [{ seq: 2, status: 'failed' }] },
          pending: 'sha256:delete-Flash',
        },
      ],
      [['failed', 'drift', 'held']],
    ],
  ])('%s', (_, steps, notices) => {
    expect(noticesFor(steps)).toEqual(notices);
  });

  it('is judged by the states that the target lists', () => {
    const listed = (events: readonly NoticeType[], ...runs: readonly RunSketch[]) => {
      let notified: NotifiedState | null = null;
      return runs.map((run, n) => {
        const decided = decideNotices(newsAt(n, run), notified, { events }, T0 + n * MINUTE);
        notified = decided.notified;
        return decided.due;
      });
    };
    expect(listed(['failed', 'recovered'], DRIFT, FAILED, DRIFT)).toEqual([[], ['failed'], ['recovered']]);
    expect(listed(['recovered'], DRIFT, OK)).toEqual([[], ['recovered']]);
    expect(listed(['held', 'recovered'], HELD, FAILED, HELD)).toEqual([['held'], [], []]);
    const passing: RunSketch = { ...DRIFT, toCreate: [], held: [NO_HISTORY], plan: FIRST };
    const next: RunSketch = { ...DRIFT, toCreate: [], toDelete: ['Flash'] };
    expect(listed(['drift'], passing, next)).toEqual([[], ['drift']]);
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
    ['partial', true],
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
    expect(noticesFor([DRIFT, DRIFT_AND_HELD, wider])).toEqual([['drift'], ['held'], ['drift']]);
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
