// The totals of a run are the same whether the run counts them at its end or the store counts its operations.
import fc from 'fast-check';
import '../support/seed.ts';
import { times } from '../support/thorough.ts';
import { expect, it } from 'vitest';
import { endRun } from '../../src/run/run-result.ts';
import type { DryRunDeps } from '../../src/run/request.ts';
import type { OperationStatus } from '../../src/core/journal.ts';
import type { Plan } from '../../src/core/plan.ts';
import type { OperationResult } from '../../src/core/ports/journal.ts';
import { bareRequest, begunRun, unused } from '../unit/run/bare-context.ts';
import { QuickClock } from '../unit/run/quick-clock.ts';
import { entry, plan } from '../unit/core/builders.ts';
import { ENGINE, type Fixture, fixture, operation, runId, T0 } from '../unit/store/fixture.ts';

interface Outcome {
  readonly action: 'create' | 'delete';
  readonly status: Exclude<OperationStatus, 'pending' | 'sent'>;
  readonly attempts: number;
  /** Few ids, so that answers repeat each other and name entries of earlier runs. */
  readonly remoteId: string;
  readonly existed: boolean;
}

const outcome: fc.Arbitrary<Outcome> = fc.record({
  action: fc.constantFrom('create', 'delete'),
  status: fc.constantFrom('done', 'done', 'failed', 'unknown', 'held', 'skipped'),
  attempts: fc.integer({ min: 0, max: 3 }),
  remoteId: fc.constantFrom('a', 'b', 'c'),
  existed: fc.boolean(),
});

interface Run {
  readonly outcomes: readonly Outcome[];
  /** Deletes that the plan holds. */
  readonly held: number;
}

const run: fc.Arbitrary<Run> = fc.record({
  outcomes: fc.array(outcome, { maxLength: 8 }),
  held: fc.integer({ min: 0, max: 3 }),
});

type Result = OperationResult & { readonly action: Outcome['action'] };

function resultOf({ action, status, attempts, remoteId, existed }: Outcome, index: number): Result {
  const isAnswered = action === 'create' && status === 'done';
  return {
    seq: index + 1,
    action,
    status,
    attempts,
    httpStatus: null,
    reason: null,
    rule: null,
    atMs: T0,
    ...(isAnswered ? { entry: { remoteId, name: remoteId, existed } } : {}),
  };
}

function planOf(held: number): Plan {
  const names = Array.from({ length: held }, (_, index) => `Held ${index}`);
  const observed = { skill: [entry('Kept'), ...names.map((name) => entry(name))] };
  const made = plan({ skills: ['Kept'], observed, policy: { maxDeletes: 0 } });
  expect(made.summary).toMatchObject({ hold: held, keep: 1 });
  return made;
}

/** Journals a run and its operations; the results are those of the same operations. */
async function journaled(store: Fixture, n: number, { outcomes, held }: Run) {
  const lease = await store.take(runId(n), T0 + n * 60_000);
  const id = await store.begin(n, { atMs: T0 + n * 60_000 });
  const made = planOf(held);
  await store.record(id, {}, { plan: made });
  const operations = [
    ...outcomes.map(({ action, remoteId }, index) =>
      operation({ action, name: `Name ${index}`, ...(action === 'delete' ? { remoteId } : {}) }),
    ),
    ...made.held.map(({ name, remoteId }) =>
      operation({ action: 'delete', name, remoteId: remoteId ?? null, status: 'held', rule: 'too_many' }),
    ),
  ];
  await store.journal.addOperations(id, operations);
  const results = outcomes.map(resultOf);
  await store.journal.commitOperations(id, lease, [], results);
  await store.locks.release(lease);
  return { id, made, operations, results: new Map(results.map((each) => [each.seq, each])) };
}

const totalsOf = (store: Fixture, id: string) =>
  store.rows('select created, deleted, held, kept, failed from runs where id = ?', id)[0];

it('the totals that a run reports equal what the store counts from its operations', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(run, { minLength: 1, maxLength: 3 }), async (runs) => {
      const store = await fixture();
      const deps = { ...unused<DryRunDeps>('deps'), journal: store.journal, clock: new QuickClock() };
      for (const [index, each] of runs.entries()) {
        const { id, made, ...done } = await journaled(store, index + 1, each);
        const traffic = { requests: 3, retries: 0 };
        const begun = begunRun(id);
        const request = bareRequest();
        await endRun({ begun, request, deps }, { status: 'partial', plan: made, traffic, ...done });
        const counted = totalsOf(store, id);
        store.execute("update runs set status = 'running', created = -1, deleted = -1 where id = ?", id);
        await endRun({ begun, request, deps }, { status: 'failed', plan: null, traffic });
        expect(totalsOf(store, id)).toEqual(counted);
      }
      await store.close();
    }),
    { numRuns: times(ENGINE === 'sqlite' ? 15 : 5, 30) },
  );
});
