// The sections that reports of plans and runs share: creates, deletes, held changes, entries left alone, warnings.
import type { Action, Kind, Warning } from '../core/catalog.ts';
import { approvalLine } from '../core/explain.ts';
import { DAY_MS } from '../core/durations-and-sizes.ts';
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
import { byKind, commas, count, HOLD_RULE_TEXTS, LEAVE_RULE_TEXTS, people } from './formatting.ts';

/** The first cells of every row about a change: `+ skill`, `TypeScript`. */
export const CHANGE_COLUMNS: readonly Column[] = [{ head: 'Change' }, { head: 'Name' }];

const CHANGES = {
  create: { sign: '+', tone: 'good' },
  delete: { sign: '-', tone: 'bad' },
} as const satisfies Record<Action, object>;

/** The cells for CHANGE_COLUMNS; the sign is green or red only for a change that is applied. */
export function changeCells(
  change: { readonly action: Action; readonly kind: Kind; readonly name: string },
  isDone = true,
): Line[] {
  const { sign, tone } = CHANGES[change.action];
  return [[toned(isDone ? tone : 'warn', sign), ` ${change.kind}`], [code(change.name)]];
}

/** One section for the creates of a plan and one for its deletes. An empty section is left out. */
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

/** How many days after the plan the suggested approval of a delete expires. */
const APPROVAL_DAYS = 14;

/** Opens each section of held changes. */
export const HELD_INTRO = 'A rule holds each of these changes. Each run checks the rules again.';

/** The held changes, grouped by the rules that hold them. A reason that a complete group shares is printed once. */
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
      intro: [HELD_INTRO],
      groups: [...groups.values()].map(heldGroup),
    },
  ];
}

/** Adds the date here, since a plan must be the same on every day. */
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
      rules.map((rule) => HOLD_RULE_TEXTS[rule]).join('; '),
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

/** The text that all of at least two changes share, or null. */
function common(changes: readonly HeldChange[], read: (change: HeldChange) => string): string | null {
  const [first, ...others] = changes.map(read);
  if (first === undefined || others.length === 0) return null;
  return others.every((text) => text === first) ? first : null;
}

/** The entries that the policy keeps: one row for each rule and kind. */
export function leftAloneSection(leftAlone: readonly LeftAlone[]): Section[] {
  if (leftAlone.length === 0) return [];
  const rules = [...new Set(leftAlone.map(({ rule }) => rule))];
  const rows = rules.flatMap((rule) =>
    byKind(leftAlone.filter((entry) => entry.rule === rule)).map(([kind, entries]): Line[] => [
      [code(rule)],
      [count(entries.length, kind)],
      [LEAVE_RULE_TEXTS[rule]],
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

/** Entries with the same name differ only in their ids. */
function withId(entry: LeftAlone): Line {
  return [code(entry.name), ' (', code(entry.remoteId), ')'];
}

/** `3 unmanaged, 1 protected`, in the order in which the rules first appear. */
export function leaveCounts(leftAlone: readonly LeftAlone[]): string {
  const counts = new Map<string, number>();
  for (const { rule } of leftAlone) counts.set(rule, (counts.get(rule) ?? 0) + 1);
  return [...counts].map(([rule, amount]) => `${amount} ${rule.replaceAll('_', ' ')}`).join(', ');
}

/** The warnings, each with its code, its message and the entry that it is about. */
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
