// The report of `validate`: one line for each problem as editors and CI systems parse it, then what `--online` found.
import { code, columnsOf, type Line, type ReportDocument, type ReportOptions, toned } from './document.ts';
import { renderReport, publishedFields } from './render.tsx';
import type { ConfigIssue } from '../core/errors.ts';
import { count } from './formatting.ts';
import { z } from 'zod';
import { failedPlanSchema, schemaVersion, type Unversioned } from '../core/schemas.ts';

const issueSchema = z.strictObject({
  schemaVersion,
  file: z.string().describe('Path of the file.'),
  line: z.int().min(1).describe('Line, from 1.'),
  column: z.int().min(1).describe('Column, from 1.'),
  severity: z.enum(['error', 'warning']).describe('A warning does not make the configuration invalid.'),
  message: z.string().describe('What is wrong, and how to fix it. The wording may change.'),
});

/** What `validate --online` found about the store or one account. */
const diagnosisSchema = z.strictObject({
  schemaVersion,
  title: z.string().describe('What was checked, as text for people.'),
  account: z.string().nullable().describe('Name of the account; null for the store.'),
  findings: z.array(
    z.strictObject({
      ok: z.boolean().describe('Whether the check passed.'),
      what: z.string().describe('Name of the check.'),
      detail: z.string().describe('Text for people. The wording may change.'),
    }),
  ),
  exit: z.int().describe('The exit status of this part alone.'),
});

export type Diagnosis = Unversioned<typeof diagnosisSchema>;
export type Finding = Diagnosis['findings'][number];

/** One problem of the configuration, or a part that was checked online. */
export const validateSchema = z.union([issueSchema, diagnosisSchema, failedPlanSchema]).meta({
  title: 'rolecall validate',
  description:
    'One problem, or with `--online` one part, of `rolecall validate --format json`. The list is empty when there is none.',
});

function diagnosisDocument({ title, findings }: Diagnosis): ReportDocument {
  const columns = columnsOf('Result', 'Check', { head: 'Detail', below: true });
  const rows = findings.map(({ ok, what, detail }): Line[] => [
    [!ok ? toned('bad', 'FAIL') : what === 'warning' ? toned('warn', 'warn') : toned('good', 'ok')],
    [what],
    [detail],
  ]);
  const failed = findings.filter(({ ok }) => !ok).length;
  return {
    title: [code(title)],
    status: failed === 0 ? { label: 'ok', tone: 'good' } : { label: `${failed} failed`, tone: 'bad' },
    sections: [{ title: '', groups: [{ columns, rows }] }],
  };
}

type FilesRead = Readonly<Record<'accounts' | 'catalogs' | 'names', number>>;

/**
 * All issues, in the given order, a line that counts what was read, and them, and what was found online. json is an array of
 * the issues and of the parts that were checked online.
 */
export function renderIssues(
  issues: readonly ConfigIssue[],
  read: FilesRead,
  diagnoses: readonly Diagnosis[],
  options: ReportOptions,
): string {
  const value = [
    ...issues.map((issue) => publishedFields(issueSchema, issue)),
    ...diagnoses.map((diagnosis) => publishedFields(diagnosisSchema, diagnosis)),
  ];
  const lines = issues.map((issue): Line => [
    code(`${issue.file}:${issue.line}:${issue.column}`),
    ': ',
    toned(issue.severity === 'error' ? 'bad' : 'warn', issue.severity),
    ': ',
    issue.message,
  ]);
  const documents: ReportDocument[] = [
    { title: [], lines, summary: [`${readText(read)}: ${verdict(issues)}`] },
    ...diagnoses.map(diagnosisDocument),
  ];
  return renderReport(value, () => ({ title: 'rolecall validate', documents }), options);
}

/** `60 accounts, 14 catalogs, 12,044 names`. */
function readText({ accounts, catalogs, names }: FilesRead): string {
  const amount = (number: number, noun: string): string =>
    // Not toLocaleString, which loads the data of all languages.
    `${String(number).replaceAll(/\B(?=(?:\d{3})+$)/g, ',')} ${noun}${number === 1 ? '' : 's'}`;
  const shared = catalogs === 0 ? [] : [amount(catalogs, 'catalog')];
  return [amount(accounts, 'account'), ...shared, amount(names, 'name')].join(', ');
}

function verdict(issues: readonly ConfigIssue[]): string {
  const errors = issues.filter(({ severity }) => severity === 'error').length;
  const warnings = count(issues.length - errors, 'warning');
  if (issues.length === 0) return 'valid';
  if (errors === 0) return `valid, with ${warnings}`;
  return `not valid, with ${count(errors, 'error')}${issues.length === errors ? '' : ` and ${warnings}`}`;
}
