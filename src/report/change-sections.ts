// The parts of a report that plans and runs share: what is created, deleted, held, left alone and warned about.
import type { Kind, Warning } from '../core/catalog.ts';
import { approvalLine } from '../core/explain.ts';
import { DAY_MS } from '../core/history.ts';
import type { HeldChange, LeftAlone, Operation, Plan } from '../core/plan.ts';
import {
  code,
  codeList,
  toned,
  type Column,
  type Fact,
  type Group,
  type Line,
  type Section,
} from './document.ts';
import { byKind, commas, count, HOLD_WORDS, LEAVE_WORDS, people } from './wording.ts';

/** The cells by which every row about a change begins: `+ skill`, `TypeScript`. */
export const CHANGE_COLUMNS: readonly Column[] = [{ head: 'Change' }, { head: 'Name' }];

/** The cells for CHANGE_COLUMNS; the sign is green or red only where something is really done. */
export function changeCells(
  change: { readonly action: 'create' | 'delete'; readonly kind: Kind; readonly name: string },
  isDone = true,
): Line[] {
  const sign = change.action === 'create' ? '+' : '-';
  const tone = change.action === 'create' ? 'good' : 'bad';
  return [[toned(isDone ? tone : 'warn', sign), ` ${change.kind}`], [code(change.name)]];
}

/** The creates and the deletes of a plan, as one section each; none where there are none. */
export function operationSections(
  operations: readonly Operation[],
  titles: { readonly create: string; readonly delete: string },
): Section[] {
  const creates = operations.filter(({ action }) => action === 'create');
  const deletes = operations.filter(({ action }) => action === 'delete');
  const sections: Section[] = [];
  if (creates.length > 0) {
    const rows = creates.map((create) => [...changeCells(create), reasonCell(create.reason)]);
    const columns = [...CHANGE_COLUMNS, { head: 'Note' }];
    sections.push({ title: titles.create, count: creates.length, groups: [{ columns, rows }] });
  }
  if (deletes.length > 0) {
    sections.push({ title: titles.delete, count: deletes.length, groups: [deleteGroup(deletes)] });
  }
  return sections;
}

function deleteGroup(deletes: readonly Operation[]): Group {
  const columns = [
    ...CHANGE_COLUMNS,
    { head: 'People' },
    { head: 'Id' },
    { head: 'Note' },
    { head: 'Who', below: true } as const,
  ];
  const rows = deletes.map(({ usedBy = [], ...change }) => [
    ...changeCells(change),
    usedBy.length === 0
      ? [toned('quiet', 'nobody has it')]
      : [toned('bad', `${people(usedBy.length)} ${usedBy.length === 1 ? 'loses' : 'lose'} it`)],
    change.remoteId === undefined ? [] : [toned('quiet', code(change.remoteId))],
    reasonCell(change.reason),
    usedBy.length === 0 ? [] : [codeList(usedBy)],
  ]);
  return { columns, rows };
}

function reasonCell(reason: string | undefined): Line {
  return reason === undefined ? [] : [toned('quiet', reason)];
}

/** For how many days after a plan its advice is to approve a delete. */
const APPROVAL_DAYS = 14;

/** What is held, in groups of those that the same rules hold; what a group has in common is said once. */
export function heldSection({ held, createdAt }: Pick<Plan, 'held' | 'createdAt'>): Section[] {
  if (held.length === 0) return [];
  const expires = new Date(Date.parse(createdAt) + APPROVAL_DAYS * DAY_MS).toISOString().slice(0, 10);
  const groups = new Map<string, HeldChange[]>();
  for (const change of held.map((each) => withExpiry(each, expires))) {
    const key = change.rules.join(' ');
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [change]);
    else group.push(change);
  }
  return [
    {
      title: 'Held',
      count: held.length,
      tone: 'warn',
      intro: ['Nothing happens to these until a person or time releases them. Each run checks them again.'],
      groups: [...groups.values()].map(heldGroup),
    },
  ];
}

/** The plan itself has no date in its advice, so that it is the same on every day. */
function withExpiry(change: HeldChange, expires: string): HeldChange {
  const { kind, name, release } = change;
  const dated = approvalLine(kind, name, expires);
  return { ...change, release: release.replaceAll(approvalLine(kind, name), () => dated) };
}

function heldGroup(changes: readonly HeldChange[]): Group {
  const facts: Fact[] = [];
  const reason = common(changes, (change) => change.reason);
  const release = common(changes, (change) => change.release);
  if (reason !== null) facts.push({ label: 'Why', line: [reason] });
  if (release !== null) facts.push({ label: 'Release', line: [release] });
  const rules = changes[0]?.rules ?? [];
  return {
    title: [
      toned('warn', ...commas(rules.map(code))),
      ': ',
      rules.map((rule) => HOLD_WORDS[rule]).join('; '),
    ],
    facts,
    columns: [
      ...CHANGE_COLUMNS,
      { head: 'People' },
      { head: 'Id' },
      { head: 'Who', below: true },
      { head: 'Why', below: true },
      { head: 'Release', below: true },
    ],
    rows: changes.map((change) => [
      ...changeCells(change, false),
      change.action === 'create' ? [] : [peopleHave(change.usedBy.length)],
      change.remoteId === null ? [] : [toned('quiet', code(change.remoteId))],
      change.usedBy.length === 0 ? [] : [codeList(change.usedBy)],
      reason === null ? [change.reason] : [],
      release === null ? [change.release] : [],
    ]),
  };
}

function peopleHave(amount: number): string {
  return `${people(amount)} ${amount > 1 ? 'have' : 'has'} it`;
}

/** What all of at least two changes say alike, or null. */
function common(changes: readonly HeldChange[], read: (change: HeldChange) => string): string | null {
  const [first, ...others] = changes.map(read);
  if (first === undefined || others.length === 0) return null;
  return others.every((text) => text === first) ? first : null;
}

/** What standing policy keeps: one quiet row for each rule and kind (contract, section 4). */
export function leftAloneSection(leftAlone: readonly LeftAlone[]): Section[] {
  if (leftAlone.length === 0) return [];
  const rules = [...new Set(leftAlone.map(({ rule }) => rule))];
  const rows = rules.flatMap((rule) =>
    byKind(leftAlone.filter((entry) => entry.rule === rule)).map(([kind, entries]): Line[] => [
      [code(rule)],
      [count(entries.length, kind)],
      [LEAVE_WORDS[rule]],
      [{ list: entries.map((entry) => (rule === 'duplicate' ? withId(entry) : [code(entry.name)])) }],
    ]),
  );
  const columns = [
    { head: 'Rule' },
    { head: 'Entries' },
    { head: 'Why' },
    { head: 'Names', below: true } as const,
  ];
  return [
    { title: 'Left alone', count: leftAlone.length, quiet: true, groups: [{ columns, rows, tone: 'quiet' }] },
  ];
}

/** Entries of one name are told apart by nothing but their ids. */
function withId(entry: LeftAlone): Line {
  return [code(entry.name), ' (', code(entry.remoteId), ')'];
}

/** `3 unmanaged, 1 protected`, in the order in which the rules first appear. */
export function leaveCounts(leftAlone: readonly LeftAlone[]): string {
  const counts = new Map<string, number>();
  for (const { rule } of leftAlone) counts.set(rule, (counts.get(rule) ?? 0) + 1);
  return [...counts].map(([rule, amount]) => `${amount} ${rule.replaceAll('_', ' ')}`).join(', ');
}

/** The warnings, each with its code and, where its words do not say it, the entry it is about. */
export function warningSection(warnings: readonly Warning[]): Section[] {
  if (warnings.length === 0) return [];
  const rows = warnings.map((warning): Line[] => [
    [toned('warn', code(warning.code))],
    warningSubject(warning),
    [warning.message],
  ]);
  const columns = [{ head: 'Code' }, { head: 'About' }, { head: 'Message', below: true } as const];
  return [{ title: 'Warnings', count: warnings.length, tone: 'warn', groups: [{ columns, rows }] }];
}

function warningSubject({ kind, name, remoteId }: Warning): Line {
  const subject: Line = [
    ...(kind === undefined ? [] : [kind]),
    ...(name === undefined ? [] : [code(name)]),
    ...(remoteId === undefined ? [] : [toned('quiet', code(remoteId))]),
  ];
  return subject.flatMap((part, index) => (index === 0 ? [part] : [' ', part]));
}
