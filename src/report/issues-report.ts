// The report of `validate`: one line for each problem, in the form that editors and CI systems parse.
import type { ConfigIssue } from '../core/errors.ts';
import { code, toned, type Line, type Report, type ReportOptions } from './document.ts';
import { renderReport } from './render.ts';
import { count } from './formatting.ts';

/** All issues, in the given order, and a line that counts them. json is an array of {schemaVersion, file, line, column, severity, message}. */
export function renderIssues(issues: readonly ConfigIssue[], options: ReportOptions): string {
  const value = issues.map(({ file, line, column, severity, message }) => ({
    schemaVersion: 1,
    file,
    line,
    column,
    severity,
    message,
  }));
  return renderReport(value, () => issuesReport(issues), options);
}

/** The report model of the issues. */
function issuesReport(issues: readonly ConfigIssue[]): Report {
  const lines = issues.map((issue): Line => [
    code(`${issue.file}:${issue.line}:${issue.column}`),
    ': ',
    toned(issue.severity === 'error' ? 'bad' : 'warn', issue.severity),
    ': ',
    issue.message,
  ]);
  return {
    title: 'rolecall validate',
    documents: [{ title: [], facts: [], headline: [], lines, sections: [], summary: [issueSummary(issues)] }],
  };
}

function issueSummary(issues: readonly ConfigIssue[]): string {
  const errors = issues.filter(({ severity }) => severity === 'error').length;
  const warnings = issues.length - errors;
  if (issues.length === 0) return 'The configuration is valid.';
  if (errors === 0) return `The configuration is valid, with ${count(warnings, 'warning')}.`;
  return `The configuration is not valid: ${count(errors, 'error')}${warnings > 0 ? ` and ${count(warnings, 'warning')}` : ''}.`;
}
