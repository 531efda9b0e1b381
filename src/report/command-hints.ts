// Adds the `--config` of the running command to the commands that reports and messages suggest, so that they can be copied.
import type { Report } from './document.ts';

/** How a suggested command begins without `--config`. */
export const PROGRAM = 'rolecall';

/** How a suggested command begins after `--config FILE`. */
export function programWith(configFile: string, executable = PROGRAM): string {
  return `${executable} --config ${shellWord(configFile)}`;
}

/** The text as one word of a shell command. */
export function shellWord(text: string): string {
  const plain = /^[\w@%+=:,./-]+$/.test(text);
  return plain ? text : `'${text.replaceAll("'", String.raw`'\''`)}'`;
}

/** The text, with `program` at the start of each command in backticks. */
export function adaptHintsInText(text: string, program: string): string {
  return program === PROGRAM ? text : text.replaceAll(/`rolecall (?=[a-z])/g, () => `\`${program} `);
}

/** What is copied into files, or comes from outside: a command in it is no hint. */
const UNCHANGED = new Set(['code', 'time', 'verbatim', 'items']);

/** The report, with `program` at the start of each suggested command; null: without commands to run next. */
export function adaptHintsInReport(report: Report, program: string | null = PROGRAM): Report {
  if (program === PROGRAM) return report;
  if (program === null) {
    const without = { next: [], completeBy: undefined };
    return { ...report, documents: report.documents.map((document) => ({ ...document, ...without })) };
  }
  const start = program;
  function adapted<T>(value: T, key: string): T;
  function adapted(value: unknown, key: string): unknown {
    if (UNCHANGED.has(key)) return value;
    if (Array.isArray(value)) return value.map((item: unknown) => adapted(item, key));
    if (typeof value === 'object' && value !== null)
      return Object.fromEntries(Object.entries(value).map(([name, field]) => [name, adapted(field, name)]));
    if (typeof value !== 'string') return value;
    // Only rolecall writes these two. A name of an account or an entry never starts one.
    return key === 'command' || key === 'completeBy'
      ? value.replace(/^rolecall(?= )/, () => start)
      : adaptHintsInText(value, start);
  }
  return adapted(report, '');
}
