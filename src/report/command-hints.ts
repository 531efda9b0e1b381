// Adds the `--config` of the running command to the commands that reports and messages suggest, so that they can be copied.
import type { Fact, Group, Line, Part, Report, ReportDocument, Section } from './document.ts';

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

/** Like `adaptHintsInText`, for text that is JSON. */
export function adaptHintsInJson(json: string, program: string): string {
  return adaptHintsInText(json, JSON.stringify(program).slice(1, -1));
}

/** The report, with `program` at the start of each suggested command; null: without commands to run next. */
export function adaptHintsInReport(report: Report, program: string | null = PROGRAM): Report {
  if (program === PROGRAM) return report;
  if (program === null) {
    const without = { next: [], completeBy: undefined };
    return { ...report, documents: report.documents.map((document) => ({ ...document, ...without })) };
  }
  const part = (each: Part): Part => {
    if (typeof each === 'string') return adaptHintsInText(each, program);
    if ('tone' in each) return { ...each, line: line(each.line) };
    return 'list' in each ? { list: each.list.map(line) } : each;
  };
  const line = (parts: Line): Line => parts.map(part);
  const fact = (each: Fact): Fact => ({ ...each, line: line(each.line) });
  const group = (each: Group): Group => ({
    ...each,
    ...(each.facts === undefined ? {} : { facts: each.facts.map(fact) }),
    rows: each.rows.map((row) => row.map(line)),
  });
  const section = (each: Section): Section => ({
    ...each,
    ...(each.intro === undefined ? {} : { intro: line(each.intro) }),
    groups: each.groups.map(group),
  });
  const document = (each: ReportDocument): ReportDocument => ({
    ...each,
    headline: each.headline.map(line),
    ...(each.lines === undefined ? {} : { lines: each.lines.map(line) }),
    sections: each.sections.map(section),
    ...(each.next === undefined ? {} : { next: each.next.map(step) }),
    ...(each.completeBy === undefined ? {} : { completeBy: command(each.completeBy) }),
  });
  // These commands are written by rolecall. A name of an account or an entry never starts one.
  const command = (each: string) => each.replace(/^rolecall(?= )/, () => program);
  const step = ({ command: suggested, purpose }: NonNullable<ReportDocument['next']>[number]) => ({
    command: command(suggested),
    purpose,
  });
  return { ...report, documents: report.documents.map(document) };
}
