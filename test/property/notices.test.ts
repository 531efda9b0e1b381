// What holds for the notices of every history of runs, whatever types a target lists.
import fc from 'fast-check';
import '../support/seed.ts';
import { describe, expect, it } from 'vitest';
import type { NoticeType, RunNews, AccountHealth, NotifiedState } from '../../src/core/notice.ts';
import { decideNotices } from '../../src/core/notice.ts';

const TYPES: readonly NoticeType[] = ['drift', 'applied', 'held', 'failed', 'recovered'];

const health: fc.Arbitrary<AccountHealth | null> = fc.oneof(
  fc.constant({ state: 'ok' as const, fingerprint: '' }),
  fc.record({
    state: fc.constantFrom('failed' as const, 'held' as const, 'drift' as const),
    fingerprint: fc.constantFrom('a', 'b'),
  }),
  fc.constant(null),
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
      return { health: each, applied, startedAtMs: nowMs, nowMs };
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

  it('leads to one notice for each new state, and repeats none', () => {
    fc.assert(
      fc.property(history, (runs) => {
        let known: AccountHealth = { state: 'ok', fingerprint: '' };
        for (const [index, due] of noticesOf(runs, TYPES).entries()) {
          const run = runs[index];
          const { state, fingerprint } = run?.health ?? known;
          const now: AccountHealth = { state, fingerprint: fingerprint ?? '' };
          const news = due.filter((type) => type !== 'applied' && type !== 'recovered');
          const isSame = now.state === known.state && now.fingerprint === known.fingerprint;
          expect(news).toEqual(now.state === 'ok' || isSame ? [] : [now.state]);
          known = now;
        }
      }),
    );
  });

  it('leads to a `recovered` notice only after a problem, and always after a failure', () => {
    fc.assert(
      fc.property(history, (runs) => {
        let before: AccountHealth['state'] = 'ok';
        for (const [index, due] of noticesOf(runs, TYPES).entries()) {
          const now: AccountHealth['state'] = runs[index]?.health?.state ?? before;
          const recovered = due.includes('recovered');
          if (recovered) expect(before !== 'ok' && before !== now).toBe(true);
          if (before === 'failed' && now !== 'failed') expect(recovered).toBe(true);
          before = now;
        }
      }),
    );
  });

  it('sends a target that lists fewer types the same notices in the same order, without the other types', () => {
    fc.assert(
      fc.property(history, fc.subarray([...TYPES]), (runs, events) => {
        const all = noticesOf(runs, TYPES).map((due) => due.filter((type) => events.includes(type)));
        expect(noticesOf(runs, events)).toEqual(all);
      }),
    );
  });
});
