// A report of a file that people can read: of a flood of problems the first ones, and the count of the others.
import type { ConfigIssue } from './errors.ts';
import { compareCodePoints } from './names.ts';

/** So many errors of a file are shown, and as many warnings, so that a flood of these hides no error. */
export const MAX_FILE_ISSUES = 200;

/** Errors that nobody has made an issue of. */
export interface Uncounted {
  /** As issues name it. */
  readonly file: string;
  readonly errors: number;
}

/** The order in which people look for problems: by file, line and column. */
export function comparePlaces(a: ConfigIssue, b: ConfigIssue): number {
  return (
    compareCodePoints(a.file, b.file) ||
    a.line - b.line ||
    a.column - b.column ||
    compareCodePoints(a.message, b.message)
  );
}

/** Sorted by place, each problem once: a shared catalog is read for many accounts. */
export function sortedIssues(issues: readonly ConfigIssue[]): readonly ConfigIssue[] {
  const objects = [...new Set(issues)];
  const unique = new Map(objects.map((issue) => [JSON.stringify(Object.values(issue)), issue]));
  return [...unique.values()].toSorted(comparePlaces);
}

/**
 * The issues, those of each file and severity shortened by whole issues in the order of their places. A last one then
 * says how many more there are.
 */
export function fewIssues(issues: readonly ConfigIssue[], uncounted?: Uncounted): readonly ConfigIssue[] {
  if (issues.length <= MAX_FILE_ISSUES && (uncounted?.errors ?? 0) === 0) return issues;
  const groups = new Map<string, ConfigIssue[]>();
  for (const issue of issues) {
    const key = `${issue.severity} ${issue.file}`;
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [issue]);
    else group.push(issue);
  }
  return [...groups].flatMap(([key, group]) =>
    shortened(group, key === `error ${uncounted?.file ?? ''}` ? (uncounted?.errors ?? 0) : 0),
  );
}

function shortened(issues: readonly ConfigIssue[], uncounted: number): readonly ConfigIssue[] {
  const sorted = issues.length > MAX_FILE_ISSUES ? issues.toSorted(comparePlaces) : issues;
  const shown = sorted.slice(0, MAX_FILE_ISSUES);
  const further = sorted.length - shown.length + uncounted;
  const place = sorted[shown.length] ?? sorted.at(-1);
  if (further === 0 || place === undefined) return shown;
  const message = `${further} further ${place.severity}${further === 1 ? '' : 's'} of this file ${further === 1 ? 'is' : 'are'} not shown; mend these first`;
  return [...shown, { ...place, message }];
}
