// How many issues of a file are shown, and in which order.
import { describe, expect, it } from 'vitest';
import type { ConfigIssue } from '../../../src/core/errors.ts';
import { comparePlaces, fewIssues, MAX_FILE_ISSUES, sortedIssues } from '../../../src/core/issue-limit.ts';

function issue(line: number, parts: Partial<ConfigIssue> = {}): ConfigIssue {
  return {
    file: 'acme.yaml',
    line,
    column: 1,
    message: `issue of line ${line}`,
    severity: 'error',
    ...parts,
  };
}

function issues(count: number, parts: Partial<ConfigIssue> = {}): ConfigIssue[] {
  return Array.from({ length: count }, (_, index) => issue(index + 1, parts));
}

describe('the order of issues', () => {
  it('is by file, line, column and message', () => {
    const ordered = [
      issue(9, { file: 'a.yaml' }),
      issue(1, { file: 'b.yaml', column: 9 }),
      issue(2, { file: 'b.yaml', column: 2, message: 'a' }),
      issue(2, { file: 'b.yaml', column: 2, message: 'b' }),
      issue(2, { file: 'b.yaml', column: 10 }),
      issue(10, { file: 'b.yaml' }),
    ];
    expect(ordered.toReversed().toSorted(comparePlaces)).toEqual(ordered);
    expect(comparePlaces(issue(1), issue(1))).toBe(0);
  });

  it('is nothing for no issue, and the issue itself for one', () => {
    expect(sortedIssues([])).toEqual([]);
    expect(sortedIssues([issue(1)])).toEqual([issue(1)]);
  });
});

describe('the shown issues of a file', () => {
  it('are all of them up to the limit, in the given order', () => {
    const mixed = issues(MAX_FILE_ISSUES).toReversed();
    const most = mixed.map(
      (each) => ({ ...each, severity: each.line % 2 === 0 ? 'error' : 'warning' }) as const,
    );
    expect(fewIssues(most)).toEqual(most);
    expect(fewIssues([])).toEqual([]);
  });

  it('are the first ones by position, and a last one at the next position that counts the rest', () => {
    const shown = fewIssues(issues(MAX_FILE_ISSUES + 2).toReversed());
    expect(shown.slice(0, -1)).toEqual(issues(MAX_FILE_ISSUES));
    expect(shown.at(-1)).toEqual(
      issue(MAX_FILE_ISSUES + 1, { message: '2 further errors of this file are not shown; fix these first' }),
    );
  });

  it('are limited for each file and each severity, so that warnings never hide an error', () => {
    const errors = issues(MAX_FILE_ISSUES);
    const warnings = issues(MAX_FILE_ISSUES + 5, { severity: 'warning' });
    const others = issues(3, { file: 'b.yaml' });
    const shown = fewIssues([...warnings, ...errors, ...others]);
    expect(shown.filter(({ severity, file }) => severity === 'error' && file === 'acme.yaml')).toEqual(
      errors,
    );
    expect(shown.filter(({ file }) => file === 'b.yaml')).toEqual(others);
    expect(shown.filter(({ severity }) => severity === 'warning')).toHaveLength(MAX_FILE_ISSUES + 1);
  });
});
