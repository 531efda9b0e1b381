// Commands that reports and messages advise, as they must be typed: with the `--config` that this command was given.
import type { Fact, Group, Line, Part, Report, ReportDocument, Section } from './document.ts';

/** How commands begin when nothing needs to be repeated. */
export const PROGRAM = 'rolecall';

/** How commands begin, for a file that was given by `--config`. */
export function programWith(configFile: string): string {
  const plain = /^[\w@%+=:,./-]+$/.test(configFile);
  return `${PROGRAM} --config ${plain ? configFile : `'${configFile.replaceAll("'", String.raw`'\''`)}'`}`;
}

/** The text with the commands in backticks as they must be typed. */
export function hintedText(text: string, program: string): string {
  return program === PROGRAM ? text : text.replaceAll(/`rolecall (?=[a-z])/g, () => `\`${program} `);
}

/** The report with all its commands as they must be typed. */
export function hintedReport(report: Report, program: string): Report {
  if (program === PROGRAM) return report;
  const part = (each: Part): Part => {
    if (typeof each === 'string') return hintedText(each, program);
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
  });
  // Only this project's own commands are made there, never a name.
  const step = ({ command, purpose }: NonNullable<ReportDocument['next']>[number]) => ({
    command: command.replace(/^rolecall(?= )/, () => program),
    purpose,
  });
  return { ...report, documents: report.documents.map(document) };
}
