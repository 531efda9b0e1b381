// The summary of a run for the daemon, whose size does not depend on the run.
import { describe, expect, it } from 'vitest';
import type { RunStatus } from '../../../src/core/journal.ts';
import { outcomeOf } from '../../../src/core/run-outcome.ts';
import { sha256 } from './builders.ts';
import type { RunSketch } from './run-details.ts';
import { runDetail } from './run-details.ts';

const outcome = (sketch: RunSketch) => outcomeOf(runDetail(1, sketch), null, sha256);

describe('the outcome of a run', () => {
  it('counts undone operations by kind and action, and held ones by rule', () => {
    const { plan } = outcome({
      status: 'partial',
      toCreate: ['Go', 'Rust'],
      toDelete: ['Cobol'],
      held: ['Perl', { rules: ['in_use', 'rename'] }, { kind: 'role', rules: ['freeze'] }],
      operations: [
        { name: 'Go' },
        { name: 'Rust', status: 'failed' },
        { action: 'delete', status: 'skipped' },
      ],
    });
    expect(plan?.drift).toEqual([
      { kind: 'skill', action: 'create', count: 1 },
      { kind: 'skill', action: 'delete', count: 1 },
    ]);
    expect(plan?.held).toEqual([
      { kind: 'skill', rule: 'in_use', count: 2 },
      { kind: 'skill', rule: 'rename', count: 1 },
      { kind: 'role', rule: 'freeze', count: 1 },
    ]);
  });

  it('counts operations by their status, and names the first that failed', () => {
    const statuses = ['done', 'failed', 'failed', 'unknown', 'failed', 'failed', 'failed'] as const;
    const { operations, failures } = outcome({ operations: statuses.map((status) => ({ status })) });
    expect(operations.map(({ status, count }) => [status, count])).toEqual([
      ['done', 1],
      ['failed', 5],
      ['unknown', 1],
    ]);
    expect(failures.map(({ name }) => name)).toEqual(['S2', 'S3', 'S4', 'S5', 'S6']);
  });

  it('names deletes before creates, with the total number', () => {
    const toCreate = ['A', 'B', 'C', 'D'];
    const { drift } = outcome({ status: 'planned', toCreate, toDelete: ['X', 'Y'] }).changes;
    expect(drift.first.map(({ name }) => name)).toEqual(['X', 'Y', 'A', 'B', 'C']);
    expect(drift.total).toBe(6);
  });

  it('names what requests did, what they did not do and what is held, each with the rules that hold it', () => {
    const of = (status: RunStatus) =>
      outcome({
        status,
        held: [{ name: 'Held', rules: ['in_use', 'freeze'] }],
        operations: [
          { name: 'Created' },
          { name: 'Deleted', action: 'delete' },
          { name: 'Gone already', action: 'delete', attempts: 0 },
          { name: 'Failed', status: 'failed' },
          { name: 'Unknown', status: 'unknown' },
        ],
      }).changes;
    const { applied, failed, held, drift, recovered } = of('partial');
    expect(applied).toStrictEqual({
      first: [
        { action: 'delete', kind: 'skill', name: 'Deleted' },
        { action: 'create', kind: 'skill', name: 'Created' },
      ],
      total: 2,
    });
    expect(failed.first.map(({ name }) => name)).toEqual(['Failed', 'Unknown']);
    expect(held.first).toStrictEqual([
      { action: 'delete', kind: 'skill', name: 'Held', rules: ['in_use', 'freeze'] },
    ]);
    const nothing = { first: [], total: 0 };
    expect([drift, recovered]).toEqual([nothing, nothing]);
    expect(of('converged').failed).toEqual(nothing);
  });

  it('has no plan when the run made none', () => {
    const { plan, changes } = outcome({ status: 'failed', plan: null });
    expect([plan, changes.drift]).toEqual([null, { first: [], total: 0 }]);
  });

  it('has the warnings that the daemon logs', () => {
    const warning = (code: string, message = '') => ({ code, message });
    const { logged } = outcome({
      warnings: [
        warning('approval_lapsed', 'a'),
        warning('other'),
        warning('older_source'),
        warning('suspicious_list', 'of the run'),
      ],
    });
    expect(logged).toEqual([warning('approval_lapsed', 'a'), warning('older_source')]);
  });

  it('has a size that does not depend on the run', () => {
    const many = (count: number): RunSketch => {
      const names = Array.from({ length: count }, (_, index) => `N${10_000 + index}`);
      const operations = names.map((name) => ({ name, status: 'failed' as const }));
      return {
        status: 'partial',
        toCreate: names,
        toDelete: names,
        held: names,
        operations,
        plan: { digest: 'x' },
      };
    };
    const size = (count: number) => JSON.stringify(outcome(many(count))).length;
    expect(size(5000)).toBeLessThan(size(10) + 100);
  });
});
