// Limits the issues of a file to a readable number: the first ones, and the count of the rest.
import type { ConfigIssue } from './errors.ts';
import { compareCodePoints, groupBy } from './names.ts';

/** At most this many errors and this many warnings of a file are shown, so that warnings never hide an error. */
export const MAX_FILE_ISSUES = 200;

/** Orders issues by file, line and column. */
export function comparePlaces(a: ConfigIssue, b: ConfigIssue): number {
  return (
    compareCodePoints(a.file, b.file) ||
    a.line - b.line ||
    a.column - b.column ||
    compareCodePoints(a.message, b.message)
  );
}

/** Sorts by position and removes repetitions: a shared catalog is read for many accounts. */
export function sortedIssues(issues: readonly ConfigIssue[]): readonly ConfigIssue[] {
  const objects = [...new Set(issues)];
  const unique = new Map(objects.map((issue) => [JSON.stringify(Object.values(issue)), issue]));
  return [...unique.values()].toSorted(comparePlaces);
}

/**
 * Shortens the issues of each file and severity, in the order of their positions. A last issue reports how many are not
 * shown.
 */
export function fewIssues(issues: readonly ConfigIssue[]): readonly ConfigIssue[] {
  if (issues.length <= MAX_FILE_ISSUES) return issues;
  const groups = groupBy(issues, ({ severity, file }) => `${severity} ${file}`);
  return [...groups.values()].flatMap(shortened);
}

function shortened(issues: readonly ConfigIssue[]): readonly ConfigIssue[] {
  const sorted = issues.length > MAX_FILE_ISSUES ? issues.toSorted(comparePlaces) : issues;
  const shown = sorted.slice(0, MAX_FILE_ISSUES);
  const further = sorted.length - shown.length;
  const place = sorted[shown.length];
  if (place === undefined) return shown;
  const message = `${further} further ${place.severity}${further === 1 ? '' : 's'} of this file ${further === 1 ? 'is' : 'are'} not shown; fix these first`;
  return [...shown, { ...place, message }];
}
