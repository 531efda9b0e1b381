// What holds for the notices of every history of runs, whatever a target listens to.
import fc from 'fast-check';
import '../support/seed.ts';
import { describe, expect, it } from 'vitest';
import type { DueNotice, NoticeType, RunNews, AccountHealth, NotifiedState } from '../../src/core/notice.ts';
import { decideNotices } from '../../src/core/notice.ts';

const TYPES: readonly NoticeType[] = ['drift', 'applied', 'held', 'failed', 'recovered'];
const REMIND_MS = 50;

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

const history: fc.Arbitrary<Run[]> = fc
  .array(fc.record({ health, applied: fc.boolean(), gapMs: fc.integer({ min: 1, max: 60 }) }), {
    maxLength: 25,
  })
  .map((runs) => {
    let nowMs = 1000;
    return runs.map(({ health: each, applied, gapMs }) => {
      nowMs += gapMs;
      return { health: each, applied, startedAtMs: nowMs, nowMs };
    });
  });

function heard(runs: readonly Run[], events: readonly NoticeType[]): (readonly DueNotice[])[] {
  let notified: NotifiedState | null = null;
  return runs.map((run) => {
    const judged = decideNotices(run, notified, { events, remindEveryMs: REMIND_MS }, run.nowMs);
    notified = judged.notified;
    return judged.due;
  });
}

describe('every history of runs', () => {
  it('tells what was done once for each run that did something, before anything else', () => {
    fc.assert(
      fc.property(history, (runs) => {
        const due = heard(runs, TYPES);
        expect(due.map((each) => each[0]?.type === 'applied')).toEqual(runs.map(({ applied }) => applied));
        expect(due.flat().filter(({ type }) => type === 'applied').length).toBe(
          runs.filter(({ applied }) => applied).length,
        );
      }),
    );
  });

  it('leaves whoever listens with the state that is, and tells it again only as a reminder', () => {
    fc.assert(
      fc.property(history, (runs) => {
        let known: AccountHealth = { state: 'ok', fingerprint: '' };
        let notifiedAtMs = 0;
        for (const [index, due] of heard(runs, TYPES).entries()) {
          const run = runs[index];
          const { state, fingerprint } = run?.health ?? known;
          const now: AccountHealth = { state, fingerprint: fingerprint ?? '' };
          const news = due.filter(({ type }) => type !== 'applied' && type !== 'recovered');
          const isSame = now.state === known.state && now.fingerprint === known.fingerprint;
          if (run === undefined || run.health === null || now.state === 'ok') expect(news).toEqual([]);
          else if (isSame) {
            const isDue = run.nowMs - notifiedAtMs >= REMIND_MS;
            expect(news).toEqual(isDue ? [{ type: now.state, reminder: true }] : []);
          } else expect(news).toEqual([{ type: now.state, reminder: false }]);
          if (news.length > 0) notifiedAtMs = run?.nowMs ?? 0;
          known = now;
        }
      }),
    );
  });

  it('tells a recovery only of what was bad, and never leaves a failure without one', () => {
    fc.assert(
      fc.property(history, (runs) => {
        let before: AccountHealth['state'] = 'ok';
        for (const [index, due] of heard(runs, TYPES).entries()) {
          const now: AccountHealth['state'] = runs[index]?.health?.state ?? before;
          const recovered = due.some(({ type }) => type === 'recovered');
          if (recovered) expect(before !== 'ok' && before !== now).toBe(true);
          if (before === 'failed' && now !== 'failed') expect(recovered).toBe(true);
          before = now;
        }
      }),
    );
  });

  it('lets a target that lists fewer types hear a part of the same, in the same order', () => {
    fc.assert(
      fc.property(history, fc.subarray([...TYPES]), (runs, events) => {
        const all = heard(runs, TYPES).map((due) => due.filter(({ type }) => events.includes(type)));
        expect(heard(runs, events)).toEqual(all);
      }),
    );
  });
});
