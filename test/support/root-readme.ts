// The commands, outputs and files that README.md shows.
import { readFileSync } from 'node:fs';

export const README = readFileSync(new URL('../../README.md', import.meta.url), 'utf8');

/** The commands of the program in the order of the page, each with the output that is shown below it. */
const SHOWN = [...README.matchAll(/^ *\$ (rolecall .*)\n([^]*?)(?=^ *\$ |^ *```$)/gm)].map(
  ([, command = '', output = '']) => ({ command, output: output.replaceAll(/^ {3}/gm, '') }),
);

/** The last command that begins so. */
export function shown(start: string): (typeof SHOWN)[number] {
  const found = SHOWN.findLast(({ command }) => command.startsWith(start));
  if (found === undefined) throw new Error(`the README shows no ${start}`);
  return found;
}

/** The text of a file that the README shows, indented below a step. */
export function shownFile(title: string): string {
  const blocks = [...README.matchAll(/^ {3}```yaml (\S+)\n([^]*?)^ {3}```$/gm)];
  return blocks.find(([, path]) => path === title)?.[2]?.replaceAll(/^ {3}/gm, '') ?? '';
}

/** The plan of `acme`, from its first to its last line, without the days on which approvals end. */
export function planOfAcme(output: string): string {
  const plan = /^Merging or applying [^]*?^ +Plan digest .*\n/m.exec(output)?.[0] ?? '';
  return plan.replaceAll(/\d{4}-\d\d-\d\d/g, 'DAY');
}

export const README_PLAN = planOfAcme(README);
