// The end of a run: its counts, its journal row, and its failure for the caller.
import { describe, expect, it } from 'vitest';
import { describeFailure, endRun, failRun } from '../../../src/run/run-result.ts';
import type { DryRunDeps } from '../../../src/run/request.ts';
import { ConfigError, SecretError, ServiceError, StoreError } from '../../../src/core/errors.ts';
import type { Action } from '../../../src/core/catalog.ts';
import type { Journal, NewOperation, OperationResult, RunEnd } from '../../../src/core/ports/journal.ts';
import { entry, person, plan } from '../core/builders.ts';
import { bareRequest, begunRun, unused } from './bare-context.ts';
import { QuickClock } from './quick-clock.ts';

const TRAFFIC = { requests: 7, retries: 2 };

/** Dependencies whose journal records what it receives; ending a run fails with `failure`. */
function recording(failure?: Error, isOurs = true) {
  const ends: RunEnd[] = [];
  const throttles: [string, number][] = [];
  const journal: Journal = {
    ...unused<Journal>('journal'),
    endRun: async (_, end) => {
      ends.push(end);
      if (failure !== undefined) throw failure;
      return isOurs;
    },
    rememberThrottle: async (account, untilMs) => void throttles.push([account, untilMs]),
  };
  const clock = new QuickClock();
  const deps: DryRunDeps = { ...unused<DryRunDeps>('deps'), journal, clock };
  return { deps, ends, throttles, nowMs: clock.nowMs() };
}

const BEGUN = begunRun('run');

/** The operations of a run and their results, by `seq`. */
function operationsWith(...results: readonly (readonly [Action, Partial<OperationResult>])[]) {
  const done = { attempts: 1, httpStatus: 200, reason: null, rule: null, atMs: 0, status: 'done' } as const;
  return {
    operations: results.map(([action], index): NewOperation => ({
      kind: 'skill',
      action,
      name: `n${index}`,
      remoteId: null,
      status: 'pending',
      rule: null,
      reason: null,
    })),
    results: new Map(results.map(([, more], index) => [index + 1, { ...done, seq: index + 1, ...more }])),
  };
}

const made = plan({
  skills: ['Kept', 'New'],
  observed: { skill: [entry('Kept'), entry('Old')], resources: [person('p', ['Old'])] },
});

describe('the end of a run', () => {
  it('counts what this run did, and what was held by the plan or during the run', async () => {
    const { deps, ends, nowMs } = recording();
    const done = operationsWith(
      ['create', {}],
      ['create', {}],
      ['create', { entry: { remoteId: '1', name: 'x', existed: true } }],
      ['create', { entry: { remoteId: '2', name: 'y', existed: false } }],
      ['create', { attempts: 0 }],
      ['create', { status: 'failed' }],
      ['create', { status: 'skipped', attempts: 0 }],
      ['delete', {}],
      ['delete', { attempts: 0 }],
      ['delete', { status: 'unknown' }],
      ['delete', { status: 'held', attempts: 0 }],
    );
    const warnings = [{ code: 'vanished', message: 'm' }];
    const ended = await endRun(
      { begun: BEGUN, request: bareRequest(), deps },
      { status: 'partial', plan: made, traffic: TRAFFIC, ...done, warnings },
    );
    expect(ends).toEqual([
      {
        status: 'partial',
        finishedAtMs: nowMs,
        counts: { created: 3, deleted: 1, held: 2, kept: 1, failed: 2 },
        traffic: TRAFFIC,
        planDigest: made.digest,
        errorCode: null,
        error: null,
        warnings: [...made.warnings, ...warnings],
      },
    ]);
    expect(ended).toMatchObject({ runId: 'run', status: 'partial', plan: made, failure: null });
    expect(ended.ended.run).toMatchObject({
      created: 3,
      deleted: 1,
      held: 2,
      kept: 1,
      failed: 2,
      ...TRAFFIC,
    });
    expect(ended.ended.operations[3]).toMatchObject({ seq: 4, status: 'done', remoteId: '2' });
  });

  it('without a plan leaves the counts to the journal', async () => {
    const { deps, ends } = recording();
    const error = { code: 'unavailable', message: 'm' };
    const ended = await endRun(
      { begun: BEGUN, request: bareRequest(), deps },
      { status: 'failed', plan: null, traffic: TRAFFIC, error },
    );
    expect(ends).toMatchObject([
      {
        counts: null,
        planDigest: null,
        errorCode: 'unavailable',
        error: 'm',
        warnings: [],
      },
    ]);
    expect(ended.failure).toEqual(error);
  });
});

it('a run that another process has ended is interrupted, whatever its own result', async () => {
  const { deps } = recording(undefined, false);
  const ended = await endRun(
    { begun: BEGUN, request: bareRequest(), deps },
    { status: 'converged', plan: made, traffic: TRAFFIC },
  );
  expect(ended).toMatchObject({ status: 'interrupted', plan: made, failure: { code: 'lock_lost' } });
});

describe('a run that failed', () => {
  it('is journaled with the error’s code and message', async () => {
    const { deps, ends, throttles } = recording();
    const error = new ServiceError('unavailable', 'no answer', { retryAfterMs: 1000 });
    const ended = await failRun({ runId: 'run', begun: BEGUN, request: bareRequest(), deps }, error, TRAFFIC);
    expect(ended).toMatchObject({
      runId: 'run',
      status: 'failed',
      plan: null,
      failure: { code: 'unavailable', message: 'no answer' },
      ended: { run: { status: 'failed', errorCode: 'unavailable', error: 'no answer' } },
    });
    expect([ends.length, ends[0]?.traffic, throttles]).toEqual([1, TRAFFIC, []]);
  });

  it('remembers the pause that the service asked for', async () => {
    const { deps, throttles, nowMs } = recording();
    const error = new ServiceError('throttled', 'later', { retryAfterMs: 600_000 });
    await failRun({ runId: 'run', begun: BEGUN, request: bareRequest(), deps }, error, TRAFFIC);
    expect(throttles).toEqual([['acme', nowMs + 600_000]]);
  });

  it('because another process has taken its lock is interrupted, and is no failure of the store', async () => {
    const { deps, ends } = recording();
    const lost = new StoreError('lock_lost', 'another process has taken over');
    const ended = await failRun({ runId: 'run', begun: BEGUN, request: bareRequest(), deps }, lost, TRAFFIC);
    expect(ended).toMatchObject({ status: 'interrupted', failure: { code: 'lock_lost' } });
    expect(ends).toMatchObject([{ status: 'interrupted', errorCode: 'lock_lost' }]);
  });

  it('because the process could not renew its lock has that reason', async () => {
    const { deps, ends } = recording();
    const stop = new AbortController();
    stop.abort(new StoreError('lock_lost', 'not renewed'));
    const base = bareRequest();
    const request = { ...base, signals: { ...base.signals, stop: stop.signal } };
    const cut = new ServiceError('unavailable', 'cut');
    const ended = await failRun({ runId: 'run', begun: BEGUN, request, deps }, cut, TRAFFIC);
    expect(ended).toMatchObject({ status: 'interrupted', failure: { code: 'lock_lost' } });
    expect(ends).toMatchObject([{ status: 'interrupted', errorCode: 'lock_lost' }]);
  });

  it.each([undefined, new Error('full as well')])(
    'because of its store is ended if possible, and the caller receives the error: %s',
    async (second) => {
      const { deps, ends } = recording(second);
      const error = new StoreError('store_full', 'the disk is full');
      await expect(
        failRun({ runId: 'run', begun: BEGUN, request: bareRequest(), deps }, error, TRAFFIC),
      ).rejects.toBe(error);
      expect(ends).toMatchObject([{ status: 'failed', errorCode: 'store_full' }]);
    },
  );
});

describe('the description of a failure', () => {
  it.each<[Error, string]>([
    [new ServiceError('auth', 'm'), 'unauthorized'],
    [new SecretError('m'), 'secret_missing'],
    [new StoreError('store_newer', 'm'), 'store_newer'],
    [new ConfigError([]), 'config_invalid'],
  ])('has the code and the message of a known error: %s', (error, code) => {
    expect(describeFailure(error)).toEqual({ code, message: error.message });
  });

  it.each([new TypeError('x is no function'), 'x is no function'])(
    'reports any other error as a bug: %s',
    (error) => {
      expect(describeFailure(error)).toMatchObject({
        code: 'internal',
        message: expect.stringContaining('bug in rolecall: x is no function'),
      });
    },
  );
});
