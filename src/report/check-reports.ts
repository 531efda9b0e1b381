// The reports of `validate`, one line for each problem as editors and CI systems parse it, and of `doctor`.
import { code, toned, type Line, type ReportDocument, type ReportOptions, type Report } from './document.ts';
import { diagnosisSchema } from './command-schemas.ts';
import { renderReport } from './render.ts';
import { publishedFields } from './run-json.ts';
import type { ConfigIssue } from '../core/errors.ts';
import { count } from './formatting.ts';

export interface Finding {
  readonly ok: boolean;
  readonly what: string;
  readonly detail: string;
}

export interface Diagnosis {
  readonly title: string;
  /** null for the store and the service. */
  readonly account: string | null;
  readonly findings: readonly Finding[];
  /** The exit status of this part alone. */
  readonly exit: number;
}

/** The parts in the given order. json is an array with one object for each. */
export function renderDiagnoses(diagnoses: readonly Diagnosis[], options: ReportOptions): string {
  const value = diagnoses.map((diagnosis) =>
    publishedFields(diagnosisSchema, { schemaVersion: 1, ...diagnosis }),
  );
  return renderReport(
    value,
    () => ({ title: 'rolecall doctor', documents: diagnoses.map(diagnosisDocument) }),
    options,
  );
}

function diagnosisDocument({ title, findings }: Diagnosis): ReportDocument {
  const columns = [{ head: 'Result' }, { head: 'Check' }, { head: 'Detail', below: 'overflow' } as const];
  const rows = findings.map(({ ok, what, detail }): Line[] => [
    [ok ? toned('good', 'ok') : toned('bad', 'FAIL')],
    [what],
    [detail],
  ]);
  const failed = findings.filter(({ ok }) => !ok).length;
  return {
    title: [code(title)],
    status: failed === 0 ? { label: 'ok', tone: 'good' } : { label: `${failed} failed`, tone: 'bad' },
    headline: [],
    facts: [],
    sections: [{ title: '', groups: [{ columns, rows }], unlimited: true }],
  };
}

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
