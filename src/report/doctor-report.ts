// The report of `doctor`: what was checked of the store, of the service and of each account, and what was found.
import { code, toned, type Line, type ReportDocument, type ReportOptions } from './document.ts';
import { renderReport } from './render.ts';

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
  const value = diagnoses.map(({ title, account, findings, exit }) => ({
    schemaVersion: 1,
    title,
    account,
    findings,
    exit,
  }));
  return renderReport(
    value,
    () => ({ title: 'rolecall doctor', documents: diagnoses.map(diagnosisDocument) }),
    options,
  );
}

function diagnosisDocument({ title, findings }: Diagnosis): ReportDocument {
  const columns = [{ head: 'Result' }, { head: 'Check' }, { head: 'Detail', wraps: true } as const];
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
