// The reports of runs: `apply`, `show` and `history`.
import { describe, expect, it } from 'vitest';
import { renderRuns } from '../../../src/report/list-reports.ts';
import { renderRun, renderRunReports } from '../../../src/report/run-report.ts';
import {
  create,
  hold,
  JSON_FORMAT,
  makeOperation,
  makePlan,
  makeRun,
  MARKDOWN,
  remove,
  resourceIds,
  TEXT,
} from './samples.ts';
import type { OperationRecord } from '../../../src/core/schemas.ts';
import type { RunDetail } from '../../../src/core/ports/journal-reader.ts';

function report(run: Parameters<typeof makeRun>[0], parts: Partial<RunDetail> = {}): RunDetail {
  return { run: makeRun(run), operations: [], warnings: [], plan: null, ...parts };
}

describe('the next command of a run', () => {
  it('fits a dry run, lists that look incomplete, and a report of `apply`', () => {
    const planned = renderRun(report({ status: 'planned', mode: 'plan', planDigest: 'sha256:ab' }), TEXT);
    expect(planned).toContain('Next: rolecall apply acme-eu');
    const shrunk = renderRun(report({ status: 'blocked', errorCode: 'suspicious_list', error: 'x' }), TEXT);
    expect(shrunk).toContain('rolecall apply acme-eu --accept suspicious_list');
    const other = renderRun(report({ status: 'blocked', errorCode: 'freeze', error: 'x' }), TEXT);
    expect(other).not.toContain('--accept suspicious_list');
    const failed = renderRunReports([report({ status: 'failed', errorCode: 'unauthorized' })], TEXT);
    expect(failed).toContain(`rolecall show ${makeRun().id}\n`);
  });

  it.each([
    ['throttled', 'rolecall apply acme-eu\n          after the time given above'],
    ['plan_stale', 'rolecall plan acme-eu'],
    ['secret_missing', 'rolecall validate --require-secrets'],
    ['config_invalid', 'rolecall validate'],
    ['unauthorized', 'rolecall validate --online acme-eu'],
    ['malformed_response', 'rolecall validate --online acme-eu'],
  ])('fits the code %s of a failure', (errorCode, command) => {
    const { account } = makeRun();
    const text = renderRun(report({ status: 'failed', errorCode, error: 'why' }), TEXT);
    expect(text).toContain(`Next: ${command.replace('acme-eu', account)}`);
  });
});

describe('the first line of a run report', () => {
  it.each([
    ['Converged: nothing left to do.', report({ status: 'converged' })],
    ['Partial: the account does not match the file yet.', report({ status: 'partial' })],
    ['2 changes are held; nothing else remains.', report({ status: 'held', held: 2 })],
    ['Blocked: a guard stopped the run; nothing was written.', report({ status: 'blocked' })],
    ['Failed: nothing was written.', report({ status: 'failed' })],
    [
      'Failed: 1 of 2 operations done.',
      report(
        { status: 'failed' },
        { operations: [makeOperation(1, 'A'), makeOperation(2, 'B', { status: 'skipped' })] },
      ),
    ],
    [
      'Partial: 0 of 2 operations done; 1 failed; the outcome of 1 is unknown.',
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
      'Interrupted: 1 of 3 operations done; the outcome of 1 is unknown.',
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

const WIDE = { ...TEXT, width: Number.POSITIVE_INFINITY };
const OUTCOMES = ['done', 'failed', 'unknown', 'sent', 'skipped', 'pending', 'held'] as const;

/** A run of 14 operations, two of each status: a create and a delete that three people lose. */
function mixedRun(status: 'interrupted' | 'running'): RunDetail {
  const operations = [
    ...OUTCOMES.map((each) => create(`New ${each}`)),
    ...OUTCOMES.map((each, index) => ({
      ...remove(`Old ${each}`, resourceIds(10 * index + 3)),
      remoteId: `d${index}`,
    })),
  ];
  const plan = makePlan({ operations, held: [hold('Perl', { remoteId: 'p1' })] });
  const isTried = (each: string) => !['skipped', 'pending', 'held'].includes(each);
  const rows = operations.map(({ action, name, remoteId = null }, index) => {
    const outcome = OUTCOMES[index % OUTCOMES.length] ?? 'done';
    return makeOperation(index + 1, name, {
      action,
      remoteId,
      status: outcome,
      attempts: isTried(outcome) ? 1 : 0,
    });
  });
  // The journal stores the held changes of the plan behind its operations, and counts doubtful operations as failed.
  rows.push(makeOperation(15, 'Perl', { action: 'delete', remoteId: 'p1', status: 'held', attempts: 0 }));
  return report({ status, created: 1, deleted: 1, held: 3, failed: 4 }, { plan, operations: rows });
}

describe('the counts of a run', () => {
  it.each([
    ['interrupted', '1 created, 1 deleted, 3 held, 2 failed, 4 unknown, 4 not tried, 412 unchanged'],
    [
      'running',
      '1 created, 1 deleted, 3 held, 2 failed, 2 unknown, 2 in progress, 4 remaining, 412 unchanged',
    ],
  ] as const)('of one that is %s add up to its plan, each change under its own name', (status, counts) => {
    const run = mixedRun(status);
    expect(renderRun(run, WIDE)).toContain(`Run: ${counts}.`);
    const amounts = counts.split(', ').slice(0, -1);
    const sum = amounts.reduce((total, each) => total + Number.parseInt(each, 10), 0);
    expect(sum).toBe((run.plan?.operations.length ?? 0) + (run.plan?.held.length ?? 0));
  });

  it('include the changes of a plan that was refused before any was tried', () => {
    const plan = makePlan({ operations: [create('A'), remove('B')], held: [hold('C')] });
    const text = renderRun(report({ status: 'failed', errorCode: 'plan_stale', held: 1 }, { plan }), TEXT);
    expect(text).toContain('Run: 0 created, 0 deleted, 1 held, 0 failed, 2 not tried, 412 unchanged.');
    expect(text).toContain('  Not tried (2)\n');
  });

  it('count an entry that existed already, or was gone, as already done', () => {
    const plan = makePlan({ operations: [create('A'), create('B')] });
    const operations = [makeOperation(1, 'A'), makeOperation(2, 'B', { attempts: 0 })];
    const text = renderRun(report({ created: 1 }, { plan, operations }), TEXT);
    expect(text).toContain('Run: 1 created, 0 deleted, 1 already done, 0 held, 0 failed, 412 unchanged.');
    expect(text).toContain('  Already done (1)\n');
  });

  it('add up over several accounts, and the total names each account that needs somebody', () => {
    const quiet = report({ account: 'calm' });
    const text = renderRunReports([mixedRun('interrupted'), mixedRun('interrupted'), quiet], WIDE);
    expect(text).toContain(
      '3 accounts: 2 created, 2 deleted, 6 held, 8 failed or unknown, 1236 unchanged; 2 interrupted (acme-eu, acme-eu); 1 had nothing to do.',
    );
    expect(text).toContain('\ncalm: converged, nothing to do; 412 entries match the file\n');
  });
});

describe('the people who lost an entry', () => {
  it('are named at each delete, ten at most, and counted at the head', () => {
    const text = renderRun(mixedRun('interrupted'), TEXT);
    // Done: 3 people. The doubtful deletes (unknown: 23, sent: 33) share people with it.
    expect(text).toContain(
      '3 people lost a skill or role; 30 more may have, by deletes whose outcome is unknown.',
    );
    expect(text).toMatch(/- skill {2}Old done {2}3 people lost it .* res-0001, res-0002, res-0003\n/);
    expect(text).toMatch(/Old failed {2}13 people have it[^+]*res-0010 … and 3 more\n/);
  });

  it('are unknown when the plan is no longer stored, which the head reports', () => {
    const operations = [makeOperation(1, 'Old', { action: 'delete', remoteId: 'd1' })];
    const text = renderRun(report({ deleted: 1 }, { operations }), TEXT);
    expect(text).toContain('Who lost an entry is not known: the plan of this run is no longer stored.');
    const nobody = makePlan({ operations: [{ ...remove('Old'), remoteId: 'd1' }] });
    expect(renderRun(report({ deleted: 1 }, { operations, plan: nobody }), TEXT)).toContain(
      '  Nobody lost a skill or role.\n',
    );
  });
});

describe('a run of nine thousand operations', () => {
  const operations = Array.from({ length: 9000 }, (_, index) => create(`Skill ${index}`));
  const rows = operations.map(({ name }, index) => makeOperation(index + 1, name, { remoteId: `n${index}` }));
  const run = report({ created: 9000 }, { plan: makePlan({ operations }), operations: rows });

  it('is short, counts the rest and names the command that shows it', () => {
    const text = renderRun(run, TEXT);
    expect(text.split('\n').length).toBeLessThan(70);
    const shown = text.match(/^ {4}\+ skill/gm)?.length ?? 0;
    expect(text).toContain(`… and ${9000 - shown} more (rolecall show ${makeRun().id} --verbose)`);
  });

  it('shows each of a hundred entries that people lost', () => {
    const plan = makePlan({
      operations: Array.from({ length: 100 }, (_, index) => remove(`Old ${index}`, ['ada'])),
    });
    const done = plan.operations.map(({ name, remoteId = null }, index) =>
      makeOperation(index + 1, name, { action: 'delete', remoteId }),
    );
    const text = renderRun(report({ deleted: 100 }, { plan, operations: done }), TEXT);
    expect(text.match(/^ {4}- skill .*1 person lost it/gm)).toHaveLength(100);
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
      '  Failed (1)\n    + skill  Go  HTTP 409, 2 attempts  240 ms  The name is taken.\n',
    );
    expect(text).toContain('after 12.4 s');
    const done = report({ created: 1 }, { operations: [makeOperation(1, 'Kubernetes')] });
    expect(renderRunReports([done], TEXT)).toContain('  Created (1)\n    + skill  Kubernetes  240 ms\n');
  });

  it('shows the message of the guard that blocked it once, and its other warnings', () => {
    const warnings = ['45 of 60 are missing', '9 of 30 are missing'].map((message) => ({
      code: 'suspicious_list',
      message,
    }));
    const run = { status: 'blocked', errorCode: 'suspicious_list', error: '45 of 60 are missing' } as const;
    const text = renderRun(report(run, { warnings }), TEXT);
    expect(text.match(/45 of 60/g)).toHaveLength(1);
    expect(text).toContain('9 of 30 are missing');
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
    expect(text).toContain('- skill  Perl  1 person has it  r1');
    expect(text).toMatch(/Held during the run \(1\)\n.*\n {4}- skill {2}Ada {2}failed_creates/);
  });

  it('reports a run that had nothing to do in one line for apply', () => {
    expect(renderRunReports([report({})], TEXT)).toBe(
      'acme-eu: converged, nothing to do; 412 entries match the file\n',
    );
  });
});

describe('the report of history', () => {
  it('is one complete, aligned table with column heads', () => {
    const runs = Array.from({ length: 250 }, (_, index) =>
      makeRun({ id: `run-${index}`, account: index % 2 === 0 ? 'acme-eu' : '日本', created: index }),
    );
    const lines = renderRuns(runs, { ...TEXT, width: 129 })
      .trimEnd()
      .split('\n');
    expect(lines).toHaveLength(1 + 250 + 2);
    expect(lines[0]).toMatch(/^Started \(UTC\) +Account +Status +Changes +Duration +Run +Commit$/);
    expect(lines[1]).toMatch(
      /^2026-11-21 05:24 {2}acme-eu {2}converged {2}0 +12\.4 s {2}run-0 +3f2a91c0d1e2$/,
    );
    expect(lines[2]).toContain('  日本     converged');
    expect(lines.at(-1)).toBe('250 runs.');
  });

  it('counts failed, doubtful and untried operations as the report of the run does', () => {
    const statuses = { done: 1, failed: 1, unknown: 1, sent: 1, skipped: 2, pending: 1 } as const;
    const names = Object.entries(statuses).flatMap(([status, times]) => Array<string>(times).fill(status));
    const operations = names.map((status, index) =>
      makeOperation(index + 1, `S${index}`, { status: status as OperationRecord['status'] }),
    );
    const run = makeRun({ status: 'interrupted', created: 1, failed: 3 });
    const tallies = new Map([[run.id, { statuses, planned: { create: 7, delete: 0 } }]]);
    const [heads, row] = renderRuns([run], TEXT, tallies).split('\n');
    expect(heads).toMatch(/Changes +Problems +Duration/);
    expect(row).toMatch(/interrupted +\+1 +1 failed, 2 unknown, 3 not tried +12\.4 s/);
    expect(renderRun({ run, operations, plan: null, warnings: [] }, TEXT)).toContain(
      '1 created, 0 deleted, 0 held, 1 failed, 2 unknown, 3 not tried,',
    );
  });

  it('shows why a run failed, in every format', () => {
    const runs = [
      makeRun({ status: 'failed', errorCode: 'identity_mismatch', error: 'another account' }),
      makeRun(),
    ];
    expect(renderRuns(runs, TEXT)).toMatch(/failed +identity_mismatch/);
    expect(renderRuns(runs, MARKDOWN)).toMatch(/\| failed \| `identity_mismatch` \|/);
    expect(renderRuns(runs, { ...TEXT, format: 'html' })).toMatch(/identity_mismatch<\/code>/);
    expect(JSON.parse(renderRuns(runs, { ...TEXT, format: 'json' }))).toMatchObject([
      { errorCode: 'identity_mismatch' },
      { errorCode: null },
    ]);
    expect(renderRuns([makeRun()], TEXT)).not.toContain('Error');
  });

  it('shows what a dry run planned', () => {
    const run = makeRun({ status: 'planned', mode: 'plan', held: 2 });
    const tallies = new Map([[run.id, { statuses: {}, planned: { create: 3, delete: 0 } }]]);
    expect(renderRuns([run], { ...TEXT, limit: 1 }, tallies)).toBe(
      'Started (UTC)     Account  Status   Changes     Held  Duration  Run                 Commit\n' +
        '2026-11-21 05:24  acme-eu  planned  +3 planned     2    12.4 s  0193a5c2-7b1e-7c3d  3f2a91c0d1e2\n\n' +
        '1 run, as many as --limit allows.\n',
    );
  });

  it('reports that there are no runs', () => {
    expect(renderRuns([], TEXT)).toBe('No runs.\n');
    expect(renderRuns([], JSON_FORMAT)).toBe('[]\n');
  });
});
