// What holds for the notices of every history of runs, whatever types a target lists.
import fc from 'fast-check';
import '../support/seed.ts';
import { describe, expect, it } from 'vitest';
import type { NoticeType, RunNews, AccountHealth, NotifiedState } from '../../src/core/notice.ts';
import { decideNotices } from '../../src/core/notice.ts';

const TYPES: readonly NoticeType[] = ['drift', 'applied', 'held', 'failed', 'recovered'];

const STATES = ['failed', 'drift', 'held'] as const;
const state = fc.constantFrom('a', 'b', null);

/** All states, that it failed, or nothing. */
const health: fc.Arbitrary<AccountHealth> = fc.oneof(
  fc.record({ failed: state, drift: state, held: state }),
  fc.record({ failed: fc.constantFrom('a', 'b') }),
  fc.constant({}),
);

interface Run extends RunNews {
  readonly startedAtMs: number;
  readonly nowMs: number;
}

const gapMs = fc.integer({ min: 1, max: 100_000_000 });

const history: fc.Arbitrary<Run[]> = fc
  .array(fc.record({ health, applied: fc.boolean(), gapMs }), {
    maxLength: 25,
  })
  .map((runs) => {
    let nowMs = 1000;
    return runs.map(({ health: each, applied, gapMs }) => {
      nowMs += gapMs;
      return { health: each, nextDrift: null, applied, startedAtMs: nowMs, nowMs };
    });
  });

function noticesOf(runs: readonly Run[], events: readonly NoticeType[]): (readonly NoticeType[])[] {
  let notified: NotifiedState | null = null;
  return runs.map((run) => {
    const decided = decideNotices(run, notified, { events }, run.nowMs);
    notified = decided.notified;
    return decided.due;
  });
}

describe('every history of runs', () => {
  it('leads to one `applied` notice for each run that changed something, before all other notices', () => {
    fc.assert(
      fc.property(history, (runs) => {
        const due = noticesOf(runs, TYPES);
        expect(due.map((each) => each[0] === 'applied')).toEqual(runs.map(({ applied }) => applied));
        expect(due.flat().filter((type) => type === 'applied').length).toBe(
          runs.filter(({ applied }) => applied).length,
        );
      }),
    );
  });

  it('leads to one notice for each state that begins, repeats none, and to a recovery when a failure or all have ended', () => {
    fc.assert(
      fc.property(history, (runs) => {
        let known: Record<string, string> = {};
        for (const [index, due] of noticesOf(runs, TYPES).entries()) {
          const shown = runs[index]?.health ?? {};
          const now = Object.fromEntries(
            STATES.flatMap((each) => {
              const fingerprint = shown[each] === undefined ? known[each] : shown[each];
              return fingerprint === undefined || fingerprint === null ? [] : [[each, fingerprint]];
            }),
          );
          const isOver = Object.keys(known).length > 0 && Object.keys(now).length === 0;
          const hasRecovered = isOver || ('failed' in known && !('failed' in now));
          const begun = STATES.filter((each) => now[each] !== undefined && now[each] !== known[each]);
          const changed = hasRecovered ? ['recovered', ...begun] : begun;
          expect(due.filter((type) => type !== 'applied')).toEqual(changed);
          known = now;
        }
      }),
    );
  });

  it('sends a target that lists fewer types the same notices in the same order, but its own recoveries', () => {
    fc.assert(
      fc.property(history, fc.subarray([...TYPES]), (runs, events) => {
        const own = (due: readonly NoticeType[]) =>
          due.filter((type) => type !== 'recovered' && events.includes(type));
        expect(noticesOf(runs, events).map(own)).toEqual(noticesOf(runs, TYPES).map(own));
      }),
    );
  });
});
