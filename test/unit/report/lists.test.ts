// The reports of `who` without a name and of `validate`.
import { describe, expect, it } from 'vitest';
import { renderIssues } from '../../../src/report/check-reports.ts';
import { renderCoverage } from '../../../src/report/who-report.ts';
import type { AccountUsage } from '../../../src/core/command-schemas.ts';
import { JSON_FORMAT, MARKDOWN, resourceIds, TEXT } from './samples.ts';
import type { ConfigIssue } from '../../../src/core/errors.ts';

const USAGE: AccountUsage = {
  account: 'acme-eu',
  takenAt: '2026-03-10T12:00:00.000Z',
  entries: [
    { kind: 'skill', name: 'Perl', remoteId: 'p1', usedBy: [] },
    { kind: 'role', name: 'Designer', remoteId: 'p3', usedBy: ['r1'] },
    { kind: 'skill', name: 'TypeScript', remoteId: 'p2', usedBy: resourceIds(120) },
  ],
  unknownReferences: [
    { resourceId: 'r1', kind: 'skill', remoteId: 'gone' },
    { resourceId: 'r2', kind: 'skill', remoteId: 'gone' },
  ],
};

describe('the report of coverage', () => {
  it('shows unused entries, then the most used ones first, then unknown ids with the people who refer to them', () => {
    expect(renderCoverage([USAGE], TEXT))
      .toBe(`acme-eu: 2 skills and 1 role, 1 unused, 2 references to unknown ids

  Unused, nobody has them (1)
    skill  Perl  p1

  In use (2)
    120 people  skill  TypeScript  p2
      1 person  role   Designer    p3

  References to unknown ids (2)
    People refer to these ids, but no list contains them.
    skill  gone  r1
    skill  gone  r2

  Lists  read 2026-03-10 12:00:00 UTC
`);
  });

  it('contains every entry and every person in json, in the same order', () => {
    const [account] = JSON.parse(renderCoverage([USAGE], JSON_FORMAT)) as (AccountUsage & {
      schemaVersion: number;
    })[];
    expect(account?.schemaVersion).toBe(1);
    expect(account?.entries.map(({ name }) => name)).toEqual(['TypeScript', 'Designer', 'Perl']);
    expect(account?.entries[0]?.usedBy).toHaveLength(120);
    expect(account?.unknownReferences).toEqual(USAGE.unknownReferences);
  });

  it('names an account that failed, with the reason', () => {
    const error = { code: 'unauthorized', message: 'the service rejected the token' };
    const failed = { schemaVersion: 1, account: 'beta', status: 'failed', error } as const;
    const report = renderCoverage([USAGE, failed], TEXT);
    expect(report).toMatch(/beta: could not be read \(unauthorized\)/);
    expect(report).toContain('the service rejected the token');
    expect(report).toContain('rolecall validate --online beta');
  });
});

const ISSUES: ConfigIssue[] = [
  {
    file: 'config/a b.yaml',
    line: 3,
    column: 5,
    message: 'unknown key "skils"; did you mean "skills"?',
    severity: 'error',
  },
  {
    file: 'config/b.yaml',
    line: 9,
    column: 1,
    message: `a long ${'message '.repeat(30)}ends`,
    severity: 'warning',
  },
];

const READ = { accounts: 60, catalogs: 14, names: 12_044 };

describe('the report of validate', () => {
  it('prints one unbroken line for each problem, and a line that counts what was read, and them', () => {
    expect(renderIssues(ISSUES, READ, [], TEXT)).toBe(
      'config/a b.yaml:3:5: error: unknown key "skils"; did you mean "skills"?\n' +
        `config/b.yaml:9:1: warning: ${ISSUES[1]?.message ?? ''}\n` +
        '\n60 accounts, 14 catalogs, 12,044 names: not valid, with 1 error and 1 warning\n',
    );
  });

  it('is an array of the problems in json', () => {
    expect(JSON.parse(renderIssues(ISSUES, READ, [], JSON_FORMAT))).toEqual(
      ISSUES.map((issue) => ({ schemaVersion: 1, ...issue })),
    );
  });

  it('prints a long detail of what was checked online below its check where there is no room beside it', () => {
    const detail = 'next 2026-11-21 05:24:10 UTC and so on';
    const findings = [{ ok: true, what: 'schedule', detail }];
    const part = { title: 'account acme', account: 'acme', findings, exit: 0 };
    const rows = (width: number): string => renderIssues([], READ, [part], { ...TEXT, width });
    expect(rows(Number.POSITIVE_INFINITY)).toContain(`  ok  schedule  ${detail}\n`);
    expect(rows(50)).toContain(`  ok  schedule\n      ${detail}\n`);
  });

  it('is a list in markdown', () => {
    expect(renderIssues(ISSUES, READ, [], MARKDOWN)).toContain(
      '- `config/a b.yaml:3:5`: error: unknown key "skils";',
    );
  });

  it('calls a configuration valid that has no problems, or only warnings', () => {
    expect(renderIssues([], READ, [], TEXT)).toBe('60 accounts, 14 catalogs, 12,044 names: valid\n');
    expect(renderIssues(ISSUES.slice(1), { ...READ, catalogs: 0 }, [], TEXT)).toContain(
      '60 accounts, 12,044 names: valid, with 1 warning',
    );
  });
});
