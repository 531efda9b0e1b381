// The reports of runs: `apply`, `show` and `history`.
import { describe, expect, it } from 'vitest';
import { renderRuns } from '../../../src/report/history-report.ts';
import { renderRun, renderRunReports } from '../../../src/report/run-report.ts';
import { hold, JSON_FORMAT, makeOperation, makePlan, makeRun, MARKDOWN, TEXT } from './samples.ts';
import type { RunDetail } from '../../../src/core/journal-reader.ts';

function report(run: Parameters<typeof makeRun>[0], parts: Partial<RunDetail> = {}): RunDetail {
  return { run: makeRun(run), operations: [], warnings: [], plan: null, ...parts };
}

const RUN_KEYS =
  'schemaVersion id account remoteAccountId trigger mode status startedAt finishedAt configDigest configCommit ' +
  'configDirty configAuthoredAt configSubject planDigest ' +
  'created deleted held kept failed requests retries errorCode error folded foldedUntil';
const OPERATION_KEYS =
  'seq kind action name remoteId status rule reason attempts httpStatus startedAt finishedAt';

describe('a run as json', () => {
  it('has exactly the documented fields, in order, and operations without the run id', () => {
    const value: unknown = JSON.parse(
      renderRun(report({}, { operations: [makeOperation(1, 'A')] }), JSON_FORMAT),
    );
    expect(Object.keys(value as object).join(' ')).toBe(`${RUN_KEYS} operations warnings plan`);
    const { operations } = value as { operations: object[] };
    expect(Object.keys(operations[0] ?? {}).join(' ')).toBe(OPERATION_KEYS);
  });

  it('is an array for apply, and an array without operations for history', () => {
    const runs = JSON.parse(renderRunReports([report({})], JSON_FORMAT)) as object[];
    expect(runs).toHaveLength(1);
    const rows = JSON.parse(renderRuns([makeRun(), makeRun({ status: 'failed' })], JSON_FORMAT)) as object[];
    expect(rows.map((row) => Object.keys(row).join(' '))).toEqual([RUN_KEYS, RUN_KEYS]);
  });
});

describe('the next command of a failed run', () => {
  it.each([
    ['throttled', 'rolecall apply acme-eu  # after the time given above'],
    ['plan_stale', 'rolecall plan acme-eu'],
    ['secret_missing', 'rolecall validate --require-secrets'],
    ['config_invalid', 'rolecall validate  #'],
    ['unauthorized', 'rolecall doctor acme-eu'],
    ['malformed_response', 'rolecall doctor acme-eu'],
  ])('fits the code %s', (errorCode, command) => {
    const { account } = makeRun();
    const text = renderRun(report({ status: 'failed', errorCode, error: 'why' }), TEXT);
    expect(text).toContain(`Next: ${command.replace('acme-eu', account)}`);
  });
});

describe('the first line of a run report', () => {
  const operations = Array.from({ length: 14 }, (_, index) =>
    makeOperation(index + 1, `S${index}`, index < 2 ? { status: 'failed' } : {}),
  );
  it.each([
    ['Converged: nothing left to do.', report({ status: 'converged' })],
    ['Partial: 2 of 14 operations failed.', report({ status: 'partial', failed: 2 }, { operations })],
    [
      'Partial: the outcome of 1 of 1 operation is unknown.',
      report(
        { status: 'partial', failed: 1 },
        { operations: [makeOperation(1, 'A', { status: 'unknown' })] },
      ),
    ],
    [
      'Partial: the account does not match the file yet; see the warnings below.',
      report({ status: 'partial' }),
    ],
    ['Held: 2 changes are held; nothing else remains.', report({ status: 'held', held: 2 })],
    ['Blocked: a guard stopped the run, and nothing was written.', report({ status: 'blocked' })],
    ['Failed: nothing was written.', report({ status: 'failed' })],
    [
      'Failed: 1 of 2 operations is done.',
      report(
        { status: 'failed' },
        { operations: [makeOperation(1, 'A'), makeOperation(2, 'B', { status: 'skipped' })] },
      ),
    ],
    [
      'Partial: 1 of 2 operations failed, the outcome of 1 is unknown.',
      report(
        { status: 'partial', failed: 2 },
        {
          operations: [
            makeOperation(1, 'A', { status: 'failed' }),
            makeOperation(2, 'B', { status: 'unknown' }),
          ],
        },
      ),
    ],
    [
      'Interrupted: 1 of 3 operations is done; the outcome of 1 is unknown.',
      report(
        { status: 'interrupted' },
        {
          operations: [
            makeOperation(1, 'A'),
            makeOperation(2, 'B', { status: 'sent' }),
            makeOperation(3, 'C', { status: 'skipped' }),
          ],
        },
      ),
    ],
    [
      'Planned: nothing was written; the plan needs approval.',
      report({ status: 'planned', mode: 'approve' }),
    ],
  ])('reads %s', (sentence, run) => {
    expect(renderRun(run, TEXT).split('\n')[1]).toBe(`  ${sentence}`);
  });
});

describe('a run as text', () => {
  it('shows finished operations with their durations, and failed ones with status and reason', () => {
    const text = renderRun(
      report(
        { status: 'partial', failed: 1, created: 1 },
        {
          operations: [
            makeOperation(1, 'Kubernetes', { remoteId: 'n1' }),
            makeOperation(2, 'Go', {
              status: 'failed',
              httpStatus: 409,
              attempts: 2,
              reason: 'The name is taken.',
            }),
          ],
        },
      ),
      TEXT,
    );
    expect(text).toContain('  Created (1)\n    + skill  Kubernetes  240 ms  n1\n');
    expect(text).toContain(
      '  Failed (1)\n    + skill  Go  HTTP 409, 2 attempts  240 ms\n        The name is taken.\n',
    );
    expect(text).toContain('after 12.4 s');
  });

  it('explains an unknown outcome, also of a request whose run was interrupted', () => {
    const operations = [
      makeOperation(1, 'A', { status: 'unknown' }),
      makeOperation(2, 'B', { status: 'sent' }),
    ];
    const text = renderRun(report({ status: 'interrupted' }, { operations }), TEXT);
    expect(text).toContain('Outcome unknown (2)');
    expect(text).toContain('The request was sent, but its result is unknown.');
  });

  it('names a held change of the plan once, and lists separately what was held during the run', () => {
    const plan = makePlan({ held: [hold('Perl', { remoteId: 'p1', usedBy: ['r1'] })] });
    const operations = [
      makeOperation(1, 'Perl', { action: 'delete', remoteId: 'p1', status: 'held', rule: 'in_use' }),
      makeOperation(2, 'Ada', {
        action: 'delete',
        remoteId: 'a1',
        status: 'held',
        rule: 'failed_creates',
        httpStatus: null,
        startedAt: null,
      }),
    ];
    const text = renderRun(report({ status: 'held', held: 2 }, { plan, operations }), TEXT);
    expect(text.match(/ Perl /g)).toHaveLength(1);
    expect(text).toContain('- skill  Perl  1 person has it  p1');
    expect(text).toMatch(/Held during the run \(1\)\n.*\n {4}- skill {2}Ada {2}failed_creates/);
  });

  it('suggests the next command', () => {
    const planned = renderRun(report({ status: 'planned', mode: 'plan', planDigest: 'sha256:ab' }), TEXT);
    expect(planned).toContain('Next: rolecall apply acme-eu  #');
    const failed = renderRunReports(
      [report({ status: 'failed', errorCode: 'unauthorized', error: 'It answered 401.' })],
      TEXT,
    );
    expect(failed).toContain('acme-eu: failed (unauthorized)\n');
    expect(failed).toContain('Next: rolecall doctor acme-eu  #');
    expect(failed).toContain(`rolecall show ${makeRun().id}  #`);
    const shrunk = renderRun(
      report({ status: 'blocked', errorCode: 'suspicious_shrink', error: 'Lost 45 of 60.' }),
      TEXT,
    );
    expect(shrunk).toContain('rolecall apply acme-eu --accept-shrink');
  });

  it('reports a run that had nothing to do in two lines for apply', () => {
    expect(renderRunReports([report({})], TEXT)).toBe(
      `acme-eu: converged\n  Converged: nothing left to do. 412 entries match the file (run\n  ${makeRun().id}).\n`,
    );
  });

  it('ends with the sum over several accounts', () => {
    const text = renderRunReports(
      [report({ created: 3 }), report({ account: 'beta', status: 'failed' })],
      TEXT,
    );
    expect(text.trimEnd().split('\n').at(-1)).toMatch(/^2 accounts: 3 created, .*; 1 run failed\.$/);
  });
});

describe('the report of history', () => {
  it('is one complete, aligned table with column heads', () => {
    const runs = Array.from({ length: 250 }, (_, index) =>
      makeRun({ id: `run-${index}`, account: index % 2 === 0 ? 'acme-eu' : '日本', created: index }),
    );
    const lines = renderRuns(runs, TEXT).trimEnd().split('\n');
    expect(lines).toHaveLength(1 + 250 + 2);
    expect(lines[0]).toMatch(
      /^Started +Account +Status +Trigger +Created +Deleted +Held +Failed +Duration +Run$/,
    );
    expect(lines[1]).toMatch(
      /^2026-11-21 05:24:10 UTC {2}acme-eu {2}converged {2}cli, apply +0 +0 +0 +0 +12\.4 s {2}run-0$/,
    );
    expect(lines[2]).toContain('  日本     converged');
    expect(lines.at(-1)).toBe('250 runs.');
  });

  it('reports that there are no runs', () => {
    expect(renderRuns([], TEXT)).toBe('No runs.\n');
    expect(renderRuns([], JSON_FORMAT)).toBe('[]\n');
  });

  it('is a table in markdown', () => {
    expect(renderRuns([makeRun()], MARKDOWN)).toContain(
      '| 2026-11-21 05:24:10 UTC | `acme-eu` | converged |',
    );
  });
});
