// The write-ahead journal of a run: a row is on disk before its request, and rows that are queued together are one commit.
import { describe, expect, it } from 'vitest';
import { createOperationLog } from '../../../src/run/operation-log.ts';
import { StoreError } from '../../../src/core/errors.ts';
import type { SentCommit } from '../../../src/core/ports/locks.ts';
import type { Journal, OperationResult } from '../../../src/core/ports/journal.ts';
import { unused } from './bare-context.ts';

function result(seq: number): OperationResult {
  return { seq, status: 'done', attempts: 1, httpStatus: 200, reason: null, rule: null, atMs: 0 };
}

/** A log over a slow journal whose n-th commit ends as given; `commits` are those that began. */
function logOver(ends: readonly (SentCommit | Error)[] = []) {
  const commits: { sent: number[]; results: number[]; statuses: string[]; ended: boolean }[] = [];
  const journal: Journal = {
    ...unused<Journal>('journal'),
    commitOperations: async (runId, lease, sent, results) => {
      expect([runId, lease.account]).toEqual(['run', 'acme']);
      expect(commits.filter(({ ended }) => !ended)).toEqual([]);
      const commit = {
        sent: sent.map(({ seq }) => seq),
        results: results.map(({ seq }) => seq),
        statuses: results.map(({ status }) => status),
        ended: false,
      };
      commits.push(commit);
      await new Promise((resolve) => setTimeout(resolve, 2));
      commit.ended = true;
      const end = ends[commits.length - 1] ?? 'committed';
      if (end instanceof Error) throw end;
      return end;
    },
  };
  return {
    log: createOperationLog(journal, 'run', {
      account: 'acme',
      runId: 'run',
      takenAtMs: 0,
    }),
    commits,
  };
}

const FULL = new StoreError('store_full', 'the disk is full');

describe('an operation to send', () => {
  it('is sent only after its commit', async () => {
    const { log, commits } = logOver();
    expect(await log.sent(1, 0)).toBe('committed');
    expect(commits).toMatchObject([{ sent: [1], results: [], ended: true }]);
  });

  it('is committed together with others of one turn and with known results', async () => {
    const { log, commits } = logOver();
    log.result(result(9));
    await Promise.all([log.sent(1, 0), log.sent(2, 0)]);
    expect(commits).toMatchObject([{ sent: [1, 2], results: [9] }]);
  });

  it('is not sent when the lock is lost', async () => {
    const { log } = logOver(['committed', 'lock_lost']);
    expect(await log.sent(1, 0)).toBe('committed');
    expect(await log.sent(2, 0)).toBe('lock_lost');
  });

  it('fails when its commit or an earlier one fails', async () => {
    const { log, commits } = logOver([FULL]);
    await expect(log.sent(1, 0)).rejects.toBe(FULL);
    await expect(log.sent(2, 0)).rejects.toBe(FULL);
    expect(commits).toHaveLength(1);
  });
});

it('the last of several results of an operation is committed', async () => {
  const { log, commits } = logOver();
  log.result({ ...result(1), status: 'unknown' });
  log.result(result(2));
  log.result(result(1));
  await log.flush();
  expect(commits).toMatchObject([{ results: [1, 2], statuses: ['done', 'done'] }]);
});

describe('flush', () => {
  it('rejects with a failed commit that nobody waited for', async () => {
    const { log } = logOver([FULL]);
    log.result(result(1));
    await expect(log.flush()).rejects.toBe(FULL);
  });
});
