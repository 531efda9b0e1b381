// Equal changes of several accounts are shown once, and so are equal failures; what concerns people or a guard is not folded,
// and comes first.
import { describe, expect, it } from 'vitest';
import type { OperationRecord, RunRecord } from '../../../src/core/schemas.ts';
import type { Plan, PlanResult } from '../../../src/core/plan.ts';
import type { RunDetail } from '../../../src/core/ports/journal-reader.ts';
import { planPrinter, renderPlans } from '../../../src/report/plan-report.ts';
import { renderRunReports } from '../../../src/report/run-report.ts';
import {
  create,
  hold,
  makeOperation,
  makePlan,
  makeRun,
  MARKDOWN,
  remove,
  resourceIds,
  TEXT,
} from './samples.ts';

const WIDE = { ...TEXT, width: Number.POSITIVE_INFINITY };
const HTML = { ...WIDE, format: 'html' as const };
const UNKNOWN = { code: 'unknown_holders', message: 'the service lists no people', kind: 'skill' } as const;
const nameOf = (index: number): string => `eu-${index + 1}`;

function fleet<T>(amount: number, make: (index: number) => T): T[] {
  return Array.from({ length: amount }, (_, index) => make(index));
}

/** A plan with two creates and a delete of what nobody has; ids and the numbers of other entries differ. */
function equalPlan(index: number, parts: Partial<Plan> = {}): Plan {
  const plan = makePlan({
    account: nameOf(index),
    remoteAccountId: `id-${index}`,
    digest: `sha256:${index}`,
    operations: [create('Go'), create('Zig'), { ...remove('Flash'), remoteId: `flash-${index}` }],
    leftAlone: [{ kind: 'skill', name: `Own ${index}`, remoteId: `own-${index}`, rule: 'unmanaged' }],
    ...parts,
  });
  return { ...plan, summary: { ...plan.summary, keep: 100 + index } };
}

const failed = (account: string, message = 'the token is not accepted'): PlanResult => ({
  schemaVersion: 1,
  account,
  status: 'failed',
  error: { code: 'unauthorized', message },
});

function titlesOf(text: string): string[] {
  return text.split('\n').filter((line) => /^[a-z0-9][\w ,-]*: /.test(line));
}

describe('the plans of several accounts with equal changes', () => {
  it('are shown once, with the first twelve names and the number of the rest', () => {
    const text = renderPlans(
      fleet(14, (index) => equalPlan(index)),
      WIDE,
    );
    expect(text.split('\n').slice(2, 5)).toEqual([
      '14 accounts, each: 2 to create, 1 to delete (nobody has it), 0 held',
      `  ${fleet(12, nameOf).join(', ')} … and 2 more`,
      '',
    ]);
    for (const once of ['Go', 'Zig', 'Flash', '3f2a91c0d1e2']) expect(text.split(once)).toHaveLength(2);
    for (const own of ['flash-', 'sha256:', 'id-1', 'Own ']) expect(text).not.toContain(own);
    expect(text).toContain('Left alone  entries of their own; --verbose shows them');
    expect(text.split('\n').at(-2)).toBe(
      '14 accounts: 28 to create, 14 to delete (nobody has them), 0 held, 1491 unchanged, 14 left alone.',
    );
  });

  it('are complete with --verbose: all names, and what is left alone in each account', () => {
    const verbose = { ...WIDE, verbose: true };
    const equal = fleet(14, (index) => equalPlan(index, { leftAlone: [] }));
    expect(renderPlans(equal, verbose)).toContain(`\n  ${fleet(14, nameOf).join(', ')}\n`);
    const own = renderPlans(
      fleet(14, (index) => equalPlan(index)),
      verbose,
    );
    expect(own.match(/Own \d+\n/g)).toHaveLength(14);
  });

  it.each([
    ['markdown', MARKDOWN, /### 3 accounts, each: 2 to create.*\n\n(?:.*\n\n)?`eu-1`, `eu-2`, `eu-3`\n/],
    ['html', HTML, /<h2>3 accounts, each<\/h2>.*eu-1<\/code>, <code class="nowrap">eu-2.*eu-3/],
  ] as const)('are shown once in %s', (_, options, expected) => {
    const report = renderPlans(
      fleet(3, (index) => equalPlan(index)),
      options,
    );
    expect(report).toMatch(expected);
    expect(report.match(/Zig/g)).toHaveLength(1);
  });

  it('need at most 30 lines and 8 KB of Markdown for 500 accounts', () => {
    const plans = fleet(500, (index) => equalPlan(index));
    expect(renderPlans(plans, WIDE).split('\n').length).toBeLessThanOrEqual(30);
    expect(Buffer.byteLength(renderPlans(plans, MARKDOWN))).toBeLessThanOrEqual(8192);
  });

  it.each<[string, Partial<Plan>]>([
    ['another operation', { operations: [create('Go'), create('Zig'), remove('Flax')] }],
    ['another kind', { operations: [create('Go', 'role'), create('Zig'), remove('Flash')] }],
    ['a held change', { held: [hold('Perl', { rules: ['in_use'] })] }],
    ['a warning', { warnings: [{ code: 'near_name', message: 'near', kind: 'skill', name: 'go' }] }],
    ['another commit', { configCommit: 'f'.repeat(40) }],
  ])('are not folded with one that has %s', (_, parts) => {
    const text = renderPlans([equalPlan(0), equalPlan(1), equalPlan(2, parts)], WIDE);
    expect(titlesOf(text).map((title) => title.split(':')[0])).toEqual([
      '2 accounts, each',
      'eu-3',
      '3 accounts',
    ]);
  });
});

it('accounts that failed in the same way are shown once, with the next step for the first one', () => {
  const plans = [
    failed('b'),
    failed('a'),
    failed('c', 'another reason'),
    equalPlan(0, { status: 'blocked' }),
  ];
  const text = renderPlans([...plans, equalPlan(1, { status: 'blocked' })], WIDE);
  expect(titlesOf(text).map((title) => title.split(':')[0])).toEqual([
    '2 accounts, each',
    'c',
    'eu-1',
    'eu-2',
    '5 accounts',
  ]);
  expect(text).toMatch(/^2 accounts, each: could not be planned \(unauthorized\)\n {2}b, a\n/mu);
  expect(text.match(/Next: rolecall validate --online b\n/g)).toHaveLength(1);
});

it('plans that affect people come first, the most affected on top, then problems, equal changes, and what has nothing to do', () => {
  const losing = (index: number, amount: number): Plan =>
    equalPlan(index, { operations: [remove('Perl', resourceIds(amount))] });
  const held = hold('Perl', { usedBy: ['r1'] });
  const plans = [
    makePlan({ account: 'quiet-1' }),
    equalPlan(0),
    failed('broken'),
    equalPlan(1, { held: [held] }),
    equalPlan(2, { held: [held] }),
    losing(3, 1),
    equalPlan(4),
    losing(5, 7),
    losing(6, 1),
    equalPlan(7, { status: 'blocked' }),
    equalPlan(8, { operations: [remove('Perl')], warnings: [UNKNOWN] }),
    makePlan({ account: 'quiet-2', leftAlone: equalPlan(0).leftAlone }),
  ];
  const text = renderPlans(plans, WIDE);
  expect(titlesOf(text).map((title) => title.split(':')[0])).toEqual([
    'eu-6',
    'eu-4',
    'eu-7',
    'eu-9',
    'eu-2',
    'eu-3',
    'broken',
    'eu-8',
    '2 accounts, each',
    '2 accounts',
    '12 accounts',
  ]);
  expect(text).toContain('\n2 accounts: nothing to do\n');
  // What is blocked is not written.
  expect(text).toContain('\n12 accounts: 8 to create, ');
  expect(text).toMatch(/; 2 with nothing to do; 1 blocked \(eu-8\); 1 could not be planned \(broken\)\.\n$/);
  expect(renderPlans(plans, { ...WIDE, verbose: true })).toContain(
    '\n2 accounts: nothing to do\n  quiet-1, quiet-2\n',
  );
  expect(JSON.parse(renderPlans(plans, { ...WIDE, format: 'json' }))).toEqual(plans);
});

describe('the plans that apply prints one by one', () => {
  it('contain equal changes once, and nothing of what has nothing to do', () => {
    const print = planPrinter(5, WIDE);
    const losing = [equalPlan(1), equalPlan(2)].map((plan) => ({
      ...plan,
      operations: [remove('Perl', ['r1'])],
    }));
    const printed = [equalPlan(0), ...losing, equalPlan(3), makePlan()].map((plan) => print(plan));
    expect(printed.map((text) => text.split(':')[0])).toEqual(['eu-1', 'eu-2', 'eu-3', '', '']);
    expect(printed[0]).toContain('Equal changes of another account are not shown again.');
    expect(planPrinter(1, WIDE)(makePlan())).toBe('acme-eu: nothing to do; 412 entries match the file\n');
  });
});

describe('the runs of several accounts', () => {
  function run(
    index: number,
    parts: Partial<RunRecord> = {},
    ...more: Partial<OperationRecord>[]
  ): RunDetail {
    const plan = equalPlan(index);
    const operations = plan.operations.map(({ action, name, remoteId = null }, at) =>
      makeOperation(at + 1, name, { action, remoteId: remoteId ?? `n-${index}-${at}`, ...more[at] }),
    );
    const record = makeRun({ id: `run-${index}`, account: nameOf(index), created: 2, deleted: 1, ...parts });
    return { run: record, operations, warnings: [], plan };
  }

  it('are shown once if they did the same, with what they did', () => {
    const text = renderRunReports([run(0), run(1, { kept: 5 }), run(2)], WIDE);
    expect(text).toMatch(
      /^3 accounts, each: converged\n {2}eu-1, eu-2, eu-3\n {2}Converged: nothing left to do\.\n/,
    );
    for (const once of ['Go', 'Zig', 'Flash']) expect(text.split(once)).toHaveLength(2);
    expect(text).not.toMatch(/run-\d|flash-|n-\d|240 ms/);
  });

  it('are apart if one failed, changed during the run, or did something else', () => {
    const assigned = { status: 'held', rule: 'in_use', attempts: 0 } as const;
    const reports = [
      run(0),
      run(1),
      run(2, { status: 'partial' }, { status: 'failed' }),
      run(3, { status: 'held' }, {}, {}, assigned),
      run(4, { status: 'held' }, {}, {}, assigned),
      { ...run(5), plan: makePlan({ operations: [remove('Flash', ['r1'])] }) },
      report('eu-9'),
      report('eu-10'),
    ];
    const text = renderRunReports(reports, WIDE);
    expect(titlesOf(text)).toEqual([
      'eu-6: converged',
      'eu-3: partial',
      'eu-4: held',
      'eu-5: held',
      '2 accounts, each: converged',
      '2 accounts: converged, nothing to do',
      expect.stringMatching(/^8 accounts: .*; 1 partial \(eu-3\); 2 had nothing to do\.$/),
    ]);
  });

  function report(account: string): RunDetail {
    return { run: makeRun({ account }), operations: [], warnings: [], plan: null };
  }
});
