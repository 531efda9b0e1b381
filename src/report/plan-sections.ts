// The sections that reports of plans and runs share: deletes, held changes with the lines of `allowedDeletes` to paste, creates, entries left
// alone, warnings.
import { peopleHave, peopleLose } from '../core/amounts.ts';
import { type Action, type Kind, KINDS, type Warning } from '../core/catalog.ts';
import { releaseLines, sharedExplanation, withoutAllowLine } from '../core/held-texts.ts';
import { RULES } from '../core/hold-rules.ts';
import { groupBy, nameKey } from '../core/names.ts';
import { type HeldChange, type LeftAlone, type Operation, type Plan } from '../core/plan.ts';
import { HOLD_RULES } from '../core/journal.ts';
import { holdersIn, type HoldersOf } from '../core/unknown-holders.ts';
import {
  code,
  codeList,
  toned,
  type Column,
  columnsOf,
  type Group,
  type Line,
  type Section,
  tableSection,
} from './document.ts';
import { byKind, commas, count, LEAVE_RULE_TEXTS, sortedNaturally } from './formatting.ts';

/** The first cells of every row about a change: `+ skill`, `TypeScript`. */
export const CHANGE_COLUMNS = columnsOf('Change', 'Name');
export const OWN_ID: Column = { head: 'Id', own: true };
export const WHO: Column = { head: 'Who', below: true };

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

/** Text output shows this many creates, and this many deletes of what nobody has. */
const QUIET_ROWS = 20;
/** Text output shows this many held changes of one group; each may need a line for its people and one for its allowance. */
const HELD_ROWS = 6;
/** Text output shows this many warnings of one code. */
const WARNING_ROWS = 10;

/** All changes of a plan, the riskiest first: what people lose, what is held, and the rest. Empty sections are left out. */
export function plannedSections(
  plan: Pick<Plan, 'account' | 'status' | 'operations' | 'held' | 'warnings'>,
  file?: string,
): Section[] {
  const isBlocked = plan.status === 'blocked';
  const holders = holdersIn(plan);
  const creates = plan.operations.filter(({ action }) => action === 'create');
  const deletes = plan.operations.filter(({ action }) => action === 'delete');
  const losses = deletes.filter(({ usedBy = [] }) => usedBy.length > 0);
  const others = deletes.filter(({ usedBy = [] }) => usedBy.length === 0);
  const unknown = others.filter((each) => holders(each) === null);
  const unused = others.filter((each) => holders(each) !== null);
  const why = isBlocked ? ' because the plan is blocked' : '';
  const toDelete = isBlocked ? `Not deleted${why}` : 'To delete';
  return [
    // The complete list matters: no other part of a plan takes something from somebody.
    ...operationSection(`${toDelete}, people lose them`, losses, { tone: 'bad' }),
    ...heldSections(plan, file),
    ...operationSection(`${toDelete}, nobody can tell who has them`, unknown, { textRows: QUIET_ROWS }),
    ...operationSection(`${toDelete}, nobody has them`, unused, { textRows: QUIET_ROWS }),
    ...operationSection(isBlocked ? `Not created${why}` : 'To create', creates, { textRows: QUIET_ROWS }),
  ];
}

function operationSection(
  title: string,
  operations: readonly Operation[],
  more: Partial<Section>,
): Section[] {
  const columns = columnsOf(...CHANGE_COLUMNS, 'Note', OWN_ID, 'People', WHO);
  const rows = sortedNaturally(operations, KINDS).map((operation): Line[] => {
    const { reason, remoteId, usedBy = [] } = operation;
    return [
      ...changeCells(operation),
      reason === undefined ? [] : [toned('quiet', reason)],
      remoteId === undefined ? [] : [toned('quiet', code(remoteId))],
      ...(usedBy.length === 0 ? [] : [[toned('bad', peopleLose(usedBy.length))], [codeList(usedBy)]]),
    ];
  });
  return tableSection(title, { columns, rows }, more);
}

/** Opens the section of changes that were held during a run. */
export const HELD_INTRO = 'A rule holds each of these changes. Each run checks the rules again.';

/** The two groups of rules; a change that rules of both groups hold is with people. */
export const HELD_GROUPS = [
  {
    group: 'people',
    title: 'Held for people',
    intro: 'These would take something from people. Each run checks the rules again.',
  },
  {
    group: 'doubt',
    title: 'Held in doubt',
    intro: 'These may be a mistake, or wait for the right moment. Each run checks the rules again.',
  },
] as const;

/** The changes that the rules of a group hold. */
export function heldIn(group: 'people' | 'doubt', held: readonly HeldChange[]): HeldChange[] {
  const peopleRules = HOLD_RULES.filter((rule) => RULES[rule].group === 'people');
  return held.filter(
    ({ rules }) => rules.some((rule) => peopleRules.includes(rule)) === (group === 'people'),
  );
}

/** The held changes by their rules, and the lines for the file of the account that allow held deletes. */
export function heldSections(
  plan: Pick<Plan, 'account' | 'held' | 'warnings'>,
  file = `${plan.account}.yaml`,
): Section[] {
  const holders = holdersIn(plan);
  const sections = HELD_GROUPS.flatMap(({ group, title, intro }): Section[] => {
    const held = heldIn(group, plan.held);
    if (held.length === 0) return [];
    const groups = heldGroups(held, holders);
    return [{ title, count: held.length, groups, tone: 'warn', intro: [intro], textRows: HELD_ROWS }];
  });
  return [...sections, ...allowanceSection(file, plan.held)];
}

/** One group for each set of rules and each explanation, in the order of the rules. */
function heldGroups(held: readonly HeldChange[], holders: HoldersOf): Group[] {
  const groups = groupBy(sortedNaturally(held, KINDS), (change) =>
    JSON.stringify([change.action, change.rules, sharedExplanation(change)]),
  );
  const rank = ([first]: HeldGroup) => HOLD_RULES.findIndex((each) => each === first.rules[0]);
  return [...groups.values()].sort((a, b) => rank(a) - rank(b)).map((group) => heldGroup(group, holders));
}

type HeldGroup = readonly [HeldChange, ...HeldChange[]];

function heldGroup(changes: HeldGroup, holders: HoldersOf): Group {
  const [first, ...others] = changes;
  // A change that is alone keeps its own names in the explanation.
  const { reason, release } = others.length === 0 ? withoutAllowLine(first) : sharedExplanation(first);
  const [condition = '', ...conditions] = releaseLines(release);
  const namedAlike = groupBy(changes, ({ name }) => nameKey(name));
  return {
    title: [toned('warn', ...commas(first.rules.map(code))), `: ${reason} (${changes.length})`],
    facts: [
      { label: 'Release', line: [condition] },
      ...conditions.map((numbered) => {
        const [label = ''] = numbered.split(' ', 1);
        return { label, line: [numbered.slice(label.length + 1)] };
      }),
    ],
    columns: columnsOf(...CHANGE_COLUMNS, 'Desired name', OWN_ID, 'People', WHO),
    rows: changes
      .toSorted((a, b) => b.usedBy.length - a.usedBy.length)
      .map((change) => heldRow(change, namedAlike.get(nameKey(change.name))?.length === 1, holders)),
  };
}

/** The id is shown only where the name alone does not identify the entry. */
function heldRow(change: HeldChange, hasOwnName: boolean, holders: HoldersOf): Line[] {
  const { action, desiredName, remoteId, usedBy } = change;
  return [
    ...changeCells(change, false),
    desiredName === undefined ? [] : ['→ ', code(desiredName)],
    hasOwnName || remoteId === null ? [] : [toned('quiet', code(remoteId))],
    action === 'create' ? [] : [peopleHave(holders(change)?.length ?? null)],
    usedBy.length === 0 ? [] : [codeList(usedBy)],
  ];
}

/** The lines that allow held deletes, of all groups together: a file contains the key once, and each name once. */
function allowanceSection(file: string, held: readonly HeldChange[]): Section[] {
  const lines = sortedNaturally(held, KINDS).flatMap(({ allowance }) =>
    allowance === undefined ? [] : [allowance],
  );
  // The loader compares names after NFC.
  const distinct = [...new Map(lines.map((line) => [line.normalize('NFC'), line])).values()];
  if (distinct.length === 0) return [];
  return [
    {
      title: 'Held deletes to allow',
      intro: [
        'To allow one, paste its line into ',
        code(file),
        ' (below ',
        code('allowedDeletes'),
        ' if it has that key), or into a catalog; a suspected rename only if it is none.',
      ],
      groups: [],
      verbatim: ['allowedDeletes:', ...distinct.map((line) => `  - ${line}`)],
      textRows: QUIET_ROWS,
    },
  ];
}

/** The entries that the policy keeps: one row for each rule and kind. */
export function leftAloneSection(leftAlone: readonly LeftAlone[]): Section[] {
  const byRule = [...groupBy(leftAlone, ({ rule }) => rule)];
  const rows = byRule.flatMap(([rule, some]) =>
    byKind(some).map(([kind, entries]): Line[] => [
      [code(rule)],
      [count(entries.length, kind)],
      [LEAVE_RULE_TEXTS[rule]],
      [
        {
          // Entries with the same name differ only in their ids.
          list: sortedNaturally(entries, KINDS).map(({ name, remoteId }) =>
            rule === 'duplicate' ? [code(name), ' (', code(remoteId), ')'] : [code(name)],
          ),
        },
      ],
    ]),
  );
  const columns = columnsOf('Rule', 'Entries', 'Why', { head: 'Names', below: true });
  return tableSection('Left alone', { columns, rows }, { count: leftAlone.length, quiet: true });
}

/** The warnings by their codes, each with the entry that it is about and its message. */
export function warningSection(warnings: readonly Warning[]): Section[] {
  if (warnings.length === 0) return [];
  const byCode = [...groupBy(warnings, (warning) => warning.code)];
  const columns = columnsOf('Code', 'About', { head: 'Message', below: true });
  const groups = byCode.map(([each, some]) => {
    const rows = some.map(({ kind, name, message }): Line[] => [
      [toned('warn', code(each))],
      name === undefined ? [] : [`${kind ?? ''} `, code(name)],
      [message],
    ]);
    return { columns, rows };
  });
  return [{ title: 'Warnings', count: warnings.length, tone: 'warn', groups, textRows: WARNING_ROWS }];
}
