// The status of a run, from the results of its operations.
import { describe, expect, it } from 'vitest';
import type { OperationStatus } from '../../../src/core/journal.ts';
import { runStatus } from '../../../src/run/run-result.ts';

describe('the status of a run', () => {
  it.each<[readonly OperationStatus[], string]>([
    [[], 'converged'],
    [['done', 'done'], 'converged'],
    [['done', 'held'], 'held'],
    [['held'], 'held'],
    [['done', 'failed'], 'partial'],
    [['unknown'], 'partial'],
    [['skipped'], 'partial'],
    [['pending'], 'partial'],
    [['sent'], 'partial'],
    [['held', 'failed'], 'partial'],
    [['failed', 'held', 'done'], 'partial'],
  ])('of %j is %s', (statuses, expected) => {
    expect(runStatus({ statuses, interrupted: false, unverified: false })).toBe(expected);
  });

  it('is never converged or held when the lists do not show the changes', () => {
    expect(runStatus({ statuses: ['done'], interrupted: false, unverified: true })).toBe('partial');
    expect(runStatus({ statuses: ['held'], interrupted: false, unverified: true })).toBe('partial');
  });

  it('is interrupted whatever else happened', () => {
    expect(runStatus({ statuses: ['failed', 'held'], interrupted: true, unverified: true })).toBe(
      'interrupted',
    );
  });
});
