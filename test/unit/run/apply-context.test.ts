// Results, failures and reasons to halt, as every step of an apply handles them.
import { describe, expect, it } from 'vitest';
import {
  conclude,
  forEachOperation,
  haltIfStopped,
  noteFailure,
  skip,
} from '../../../src/run/apply-context.ts';
import { ServiceError } from '../../../src/core/errors.ts';
import { bareContext, bareRequest, creating } from './bare-context.ts';
import { API } from './api.ts';

describe('the result of an operation', () => {
  it('is known immediately, journaled with its time, and counted as progress', () => {
    const progress: unknown[] = [];
    const request = { ...bareRequest(), progress: (activity: unknown) => void progress.push(activity) };
    const context = bareContext({ request });
    conclude(context, 7, 'unknown');
    conclude(context, 7, 'failed', { attempts: 2, httpStatus: 422, reason: 'no' });
    const result = {
      seq: 7,
      status: 'failed',
      attempts: 2,
      httpStatus: 422,
      reason: 'no',
      rule: null,
      atMs: context.deps.clock.nowMs(),
    };
    expect([context.statuses.get(7), context.results.at(-1)]).toEqual([result, result]);
    expect(progress).toMatchObject([
      { type: 'apply', done: 0, failed: 0, doubtful: 1 },
      { type: 'apply', done: 1, failed: 1, doubtful: 0 },
    ]);
  });

  it('has no attempts, status or reason unless they are given', () => {
    const context = bareContext();
    conclude(context, 1, 'done');
    expect(context.results).toMatchObject([{ attempts: 0, httpStatus: null, reason: null, rule: null }]);
  });

  it('is set to skipped only for operations without a result', () => {
    const context = bareContext();
    conclude(context, 1, 'done');
    skip(context, [creating(1, 'A'), creating(2, 'B')], 'why not');
    expect([context.statuses.get(1)?.status, context.statuses.get(2)]).toMatchObject([
      'done',
      { status: 'skipped', reason: 'why not' },
    ]);
  });
});

describe('the reason for a halt', () => {
  it('can be a signal', () => {
    const request = bareRequest();
    const context = bareContext({ request });
    expect([haltIfStopped(context), context.halt]).toEqual([false, null]);
    request.stop();
    expect([haltIfStopped(context), context.halt?.code]).toEqual([true, 'interrupted']);
  });

  it('remains the first one', () => {
    const request = bareRequest();
    const context = bareContext({ request });
    context.halt = { code: 'lock_lost', message: 'm' };
    request.stop();
    expect([haltIfStopped(context), context.halt.code]).toEqual([true, 'lock_lost']);
    noteFailure(context, new ServiceError('auth', 'm'));
    expect(context.halt.code).toBe('lock_lost');
  });

  it.each<[ServiceError, string | null]>([
    [new ServiceError('auth', 'm'), 'unauthorized'],
    [new ServiceError('throttled', 'm', { retryAfterMs: 120_001 }), 'throttled'],
    [new ServiceError('throttled', 'm', { retryAfterMs: 120_000 }), null],
    [new ServiceError('throttled', 'm'), null],
    [new ServiceError('unavailable', 'm', { retryAfterMs: 600_000 }), null],
    [new ServiceError('rejected', 'm', { httpStatus: 422 }), null],
  ])('is a rejected token or a long Retry-After, and no other error: %j', (error, code) => {
    const context = bareContext();
    noteFailure(context, error);
    expect([context.halt?.code ?? null, context.halt?.message]).toEqual([
      code,
      code === null ? undefined : error.message,
    ]);
  });
});

describe('the work on operations', () => {
  const operations = Array.from({ length: 7 }, (_, index) => creating(index + 1, `S${String(index)}`));
  const turn = () => new Promise((resolve) => setImmediate(resolve));

  it.each([
    [1, 7, 1],
    [3, 7, 3],
    [8, 2, 2],
  ])(
    'with a concurrency of %d and %d operations runs at most %d at once',
    async (concurrency, count, most) => {
      const request = { ...bareRequest(), api: { ...API, concurrency } };
      let running = 0;
      let peak = 0;
      const worked: number[] = [];
      await forEachOperation(bareContext({ request }), operations.slice(0, count), async ({ seq }) => {
        running += 1;
        peak = Math.max(peak, running);
        await turn();
        running -= 1;
        worked.push(seq);
      });
      expect([worked.length, peak]).toEqual([count, most]);
      expect(worked.toSorted((a, b) => a - b)).toEqual(operations.slice(0, count).map(({ seq }) => seq));
    },
  );

  it('starts no further operation after a halt', async () => {
    const context = bareContext({ request: { ...bareRequest(), api: { ...API, concurrency: 1 } } });
    const worked: number[] = [];
    await forEachOperation(context, operations, async ({ seq }) => {
      worked.push(seq);
      if (seq === 3) context.halt = { code: 'throttled', message: 'm' };
    });
    expect(worked).toEqual([1, 2, 3]);
  });

  it('starts no further operation after a failure, waits for the running ones and throws the first error', async () => {
    const context = bareContext({ request: { ...bareRequest(), api: { ...API, concurrency: 3 } } });
    const ended: number[] = [];
    const working = forEachOperation(context, operations, async ({ seq }) => {
      if (seq === 1) throw new Error('first');
      await turn();
      ended.push(seq);
      if (seq === 2) throw new Error('second');
    });
    await expect(working).rejects.toThrow('first');
    expect([ended, context.halt?.code]).toEqual([[2, 3], 'store_failed']);
  });
});
