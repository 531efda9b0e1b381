// The sections that reports of plans and runs share: deletes, creates, entries left alone, warnings.
import { peopleLose } from '../core/amounts.ts';
import { type Action, type Kind, KINDS, type Warning } from '../core/catalog.ts';
import { newNameOf } from '../core/held-texts.ts';
import type { LeftAlone, Operation, Plan } from '../core/plan.ts';
import { holdersIn } from '../core/unknown-holders.ts';
import { code, codeList, toned, type Column, type Group, type Line, type Section } from './document.ts';
import { byKind, count, LEAVE_RULE_TEXTS, sortedNaturally } from './formatting.ts';

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

/** The titles of the sections of operations. */
export interface OperationTitles {
  readonly lost: string;
  readonly unused: string;
  readonly unknown: string;
  readonly create: string;
}

export const PLANNED: OperationTitles = {
  lost: 'To delete, people lose them',
  unused: 'To delete, nobody has them',
  unknown: 'To delete, nobody can tell who has them',
  create: 'To create',
};

/** Text output shows this many creates, and this many deletes of what nobody has. */
const QUIET_ROWS = 20;

/** The deletes of what people have. The complete list matters: no other part of a plan takes something from somebody. */
export function lossSection(operations: readonly Operation[], titles: OperationTitles): Section[] {
  const deletes = sortedNaturally(operations.filter(losesPeople), KINDS);
  if (deletes.length === 0) return [];
  const columns = [
    ...CHANGE_COLUMNS,
    { head: 'New name' },
    { head: 'Note' },
    { head: 'Id' },
    { head: 'People' },
    { head: 'Who', below: 'overflow' } as const,
  ];
  const rows = deletes.map(({ usedBy = [], ...change }) => [
    ...deleteCells(change),
    [toned('bad', peopleLose(usedBy.length))],
    [codeList(usedBy)],
  ]);
  return [{ title: titles.lost, count: deletes.length, tone: 'bad', groups: [{ columns, rows }] }];
}

export function losesPeople({ action, usedBy = [] }: Operation): boolean {
  return action === 'delete' && usedBy.length > 0;
}

/**
 * The deletes of which nobody can tell who loses something, those of what nobody has, then the creates. Empty sections are
 * left out.
 */
export function quietSections(
  { operations, warnings }: Pick<Plan, 'operations' | 'warnings'>,
  titles: OperationTitles,
): Section[] {
  const holders = holdersIn({ warnings });
  const deletes = operations.filter((each) => each.action === 'delete' && !losesPeople(each));
  const unknown = deletes.filter((each) => holders(each) === null);
  const unused = deletes.filter((each) => holders(each) !== null);
  const creates = operations.filter(({ action }) => action === 'create');
  const oldNames = oldNamesOf(operations);
  const note = ({ kind, name, reason }: Operation): Line => {
    const oldName = oldNames.get(`${kind}:${name}`);
    return oldName === undefined ? reasonCell(reason) : [toned('quiet', 'new name of '), code(oldName)];
  };
  const deleteColumns = [...CHANGE_COLUMNS, { head: 'New name' }, { head: 'Note' }, { head: 'Id' }];
  const section = (title: string, changes: readonly Operation[], group: Omit<Group, 'rows'>): Section[] =>
    changes.length === 0
      ? []
      : [
          {
            title,
            count: changes.length,
            textRows: QUIET_ROWS,
            groups: [
              {
                ...group,
                rows: sortedNaturally(changes, KINDS).map((change) =>
                  change.action === 'delete' ? deleteCells(change) : [...changeCells(change), note(change)],
                ),
              },
            ],
          },
        ];
  return [
    ...section(titles.unknown, unknown, { columns: deleteColumns }),
    ...section(titles.unused, unused, { columns: deleteColumns }),
    ...section(titles.create, creates, { columns: [...CHANGE_COLUMNS, { head: 'Note' }] }),
  ];
}

/** The old name of each new one, where the operations complete a rename. */
function oldNamesOf(operations: readonly Operation[]): Map<string, string> {
  return new Map(
    operations.flatMap((operation) => {
      const newName = operation.action === 'delete' ? newNameOf(operation) : null;
      return newName === null ? [] : [[`${operation.kind}:${newName}`, operation.name] as const];
    }),
  );
}

function deleteCells(change: Operation): Line[] {
  const newName = newNameOf(change);
  return [
    ...changeCells(change),
    newName === null ? [] : ['→ ', code(newName)],
    newName === null ? reasonCell(change.reason) : [],
    change.remoteId === undefined ? [] : [toned('quiet', code(change.remoteId))],
  ];
}

function reasonCell(reason: string | undefined): Line {
  return reason === undefined ? [] : [toned('quiet', reason)];
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
      [
        {
          list: sortedNaturally(entries, KINDS).map((entry) =>
            rule === 'duplicate' ? withId(entry) : [code(entry.name)],
          ),
        },
      ],
    ]),
  );
  const columns = [
    { head: 'Rule' },
    { head: 'Entries' },
    { head: 'Why' },
    { head: 'Names', below: 'overflow' } as const,
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

/** Text output shows this many warnings. */
const WARNING_ROWS = 10;

/** The warnings by their codes, each with the entry that it is about and its message. */
export function warningSection(warnings: readonly Warning[]): Section[] {
  if (warnings.length === 0) return [];
  const codes = [...new Set(warnings.map((warning) => warning.code))];
  const columns = [{ head: 'Code' }, { head: 'About' }, { head: 'Message', below: true } as const];
  const groups = codes.map((each) => {
    const rows = warnings
      .filter((warning) => warning.code === each)
      .map((warning): Line[] => [
        [toned('warn', code(warning.code))],
        warningSubject(warning),
        [warning.message],
      ]);
    return { columns, rows };
  });
  return [{ title: 'Warnings', count: warnings.length, tone: 'warn', groups, textRows: WARNING_ROWS }];
}

function warningSubject({ kind, name, remoteId }: Warning): Line {
  const subject: Line = [
    ...(kind === undefined ? [] : [kind]),
    ...(name === undefined ? [] : [code(name)]),
    ...(remoteId === undefined ? [] : [toned('quiet', code(remoteId))]),
  ];
  return subject.flatMap((part, index) => (index === 0 ? [part] : [' ', part]));
}
