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

  it('has each issue once, also when a shared catalog was read for several accounts', () => {
    const twice = issue(2);
    const others = [
      issue(2, { message: 'another issue' }),
      issue(2, { severity: 'warning' }),
      issue(2, { column: 2 }),
      issue(2, { file: 'b.yaml' }),
    ];
    expect(sortedIssues([issue(3), twice, twice, ...others, issue(2)])).toHaveLength(6);
    expect(sortedIssues([issue(3), issue(1), issue(3)])).toEqual([issue(1), issue(3)]);
    expect(sortedIssues([issue(1), issue(1)])).toEqual([issue(1)]);
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

  it('are counted with the right number', () => {
    expect(fewIssues(issues(MAX_FILE_ISSUES + 1)).at(-1)?.message).toBe(
      '1 further error of this file is not shown; fix these first',
    );
    expect(fewIssues(issues(MAX_FILE_ISSUES + 3, { severity: 'warning' })).at(-1)).toMatchObject({
      severity: 'warning',
      message: '3 further warnings of this file are not shown; fix these first',
    });
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

  it('keep their order when only another file has too many', () => {
    const unsorted = issues(MAX_FILE_ISSUES, { file: 'b.yaml' }).toReversed();
    const shown = fewIssues([...unsorted, ...issues(MAX_FILE_ISSUES + 1)]);
    expect(shown.slice(0, MAX_FILE_ISSUES)).toEqual(unsorted);
  });

  it('count the errors that were found and not turned into issues, at the last one of the same file', () => {
    const uncounted = { file: 'acme.yaml', errors: 7 };
    const message = '7 further errors of this file are not shown; fix these first';
    const three = [issue(1), issue(4), issue(9)];
    expect(fewIssues(three, uncounted)).toEqual([...three, issue(9, { message })]);
    const many = fewIssues(issues(MAX_FILE_ISSUES + 2), uncounted);
    expect(many).toHaveLength(MAX_FILE_ISSUES + 1);
    expect(many.at(-1)?.message).toContain('9 further errors');
  });

  it('do not count the errors of another file, warnings, or none at all', () => {
    const warning = issue(1, { severity: 'warning' });
    const other = issue(1, { file: 'b.yaml' });
    expect(fewIssues([warning, other], { file: 'acme.yaml', errors: 7 })).toEqual([warning, other]);
    expect(fewIssues([issue(1)], { file: 'acme.yaml', errors: 0 })).toEqual([issue(1)]);
    const two = fewIssues(issues(MAX_FILE_ISSUES + 2), { file: 'acme.yaml', errors: 0 });
    expect(two.at(-1)?.message).toContain('2 further errors');
  });
});
