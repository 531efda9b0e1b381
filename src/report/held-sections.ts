// The sections of held changes: one group for what the same rules hold for the same reason, with the approvals to paste.
import { peopleHave } from '../core/amounts.ts';
import { KINDS } from '../core/catalog.ts';
import { approvalLine, type HeldTexts, heldTexts, releaseLines } from '../core/held-texts.ts';
import { nameDifference } from '../core/names.ts';
import { type HeldChange, HOLD_RULES, type HoldRule, type Plan } from '../core/plan.ts';
import { holdersIn, type HoldersOf } from '../core/unknown-holders.ts';
import {
  CHANGE_COLUMNS,
  changeCells,
  lossSection,
  type OperationTitles,
  quietSections,
} from './change-sections.ts';
import { code, codeList, toned, type Fact, type Group, type Line, type Section } from './document.ts';
import { commas, HOLD_RULE_TEXTS, sortedNaturally } from './formatting.ts';

/** Text output shows this many held changes; each may need a line for its people and one for its approval. */
const HELD_ROWS = 12;

/** Opens each section of held changes. */
export const HELD_INTRO = 'A rule holds each of these changes. Each run checks the rules again.';

/** All changes of a plan, the riskiest first: what people lose, what is held, and the rest. */
export function plannedSections(
  plan: Pick<Plan, 'operations' | 'held' | 'warnings'>,
  titles: OperationTitles,
): Section[] {
  return [...lossSection(plan.operations, titles), ...heldSections(plan), ...quietSections(plan, titles)];
}

interface ReadChange extends HeldChange {
  readonly texts: HeldTexts;
}

/** The held changes by their rules, then the declared renames that wait for people. Empty sections are left out. */
export function heldSections({ held: changed, warnings }: Pick<Plan, 'held' | 'warnings'>): Section[] {
  const held = changed.map((change): ReadChange => ({ ...change, texts: heldTexts(change) }));
  const pasted = pasteIntro(held);
  const holders = holdersIn({ warnings });
  const section = (title: string, intro: string, changes: readonly ReadChange[]): Section[] =>
    changes.length === 0
      ? []
      : [
          {
            title,
            count: changes.length,
            tone: 'warn',
            intro: [intro],
            groups: grouped(changes).map((group) => heldGroup(group, pasted, holders)),
            textRows: HELD_ROWS,
          },
        ];
  const isRename = (change: ReadChange) => change.rules.includes('rename');
  return [
    ...section(
      'Held',
      HELD_INTRO,
      held.filter((change) => !isRename(change)),
    ),
    ...section(
      'Held renames',
      'The old name is deleted once nobody has had it for policy.unusedFor.',
      held.filter(isRename),
    ),
  ];
}

interface HeldGroup {
  readonly rules: readonly HoldRule[];
  readonly reason: string;
  readonly release: string;
  readonly changes: readonly ReadChange[];
}

/** One group for each set of rules and each explanation, in the order of the rules. A change that is alone keeps its own names in the release. */
function grouped(held: readonly ReadChange[]): HeldGroup[] {
  const groups = new Map<string, HeldGroup & { readonly changes: ReadChange[] }>();
  for (const change of sortedNaturally(held, KINDS)) {
    const { rules, texts } = change;
    const { reason, release } = texts.shared;
    const key = JSON.stringify([change.action, rules, reason, release]);
    const group = groups.get(key);
    if (group === undefined) groups.set(key, { rules, reason, release: texts.ownRelease, changes: [change] });
    else {
      group.changes.push(change);
      groups.set(key, { ...group, release });
    }
  }
  const rank = ({ rules: [rule] }: HeldGroup) => HOLD_RULES.findIndex((each) => each === rule);
  return [...groups.values()].sort((a, b) => rank(a) - rank(b));
}

function heldGroup({ rules, reason, release, changes }: HeldGroup, intro: Line, holders: HoldersOf): Group {
  const facts: Fact[] = [
    ...(reason === '' ? [] : [{ label: 'Why', line: [reason] }]),
    ...releaseFacts(release),
  ];
  const names = new Map<string, number>();
  for (const { name } of changes) names.set(name, (names.get(name) ?? 0) + 1);
  const items = approvals(changes);
  return {
    title: [
      toned('warn', ...commas(rules.map(code))),
      `: ${rules.map((rule) => HOLD_RULE_TEXTS[rule]).join('; ')} (${changes.length})`,
    ],
    facts,
    columns: [
      ...CHANGE_COLUMNS,
      { head: rules.includes('rename') ? 'New name' : 'Desired name' },
      { head: 'Difference' },
      { head: 'Id' },
      { head: 'People' },
      { head: 'Who', below: 'overflow' },
    ],
    rows: {
      length: changes.length,
      slice: (start, end) =>
        changes.slice(start, end).map((change) => heldRow(change, names.get(change.name) === 1, holders)),
    },
    ...(items.length === 0 ? {} : { paste: { intro, key: 'approvedDeletes', items } }),
  };
}

/** One line for each condition: `(1)` is the label of the first of several. */
function releaseFacts(release: string): Fact[] {
  const [first = '', ...conditions] = releaseLines(release);
  return [
    { label: 'Release', line: [first] },
    ...conditions.map((condition, index) => {
      const label = `(${index + 1})`;
      return { label, line: [condition.slice(label.length + 1)] };
    }),
  ];
}

/** The id is shown only where the name alone does not identify the entry. */
function heldRow(change: ReadChange, hasOwnName: boolean, holders: HoldersOf): Line[] {
  const { action, name, remoteId, usedBy, rules } = change;
  const desired = change.texts.desiredName;
  return [
    ...changeCells(change, false),
    desired === null ? [] : [rules.includes('rename') ? '→ ' : 'near ', code(desired)],
    // A declared rename changes the name as it pleases; of a near name the difference may be invisible.
    desired === null || rules.includes('rename') ? [] : [nameDifference(name, desired)],
    hasOwnName || remoteId === null ? [] : [toned('quiet', code(remoteId))],
    action === 'create' ? [] : [peopleHave(holders(change)?.length ?? null)],
    usedBy.length === 0 ? [] : [codeList(usedBy)],
  ];
}

/** The lines that approve these deletes; none where an approval does not release all of them. */
function approvals(changes: readonly ReadChange[]): string[] {
  const items = changes.flatMap(({ kind, name, texts: { expires } }) =>
    expires === null ? [] : [approvalLine(kind, name, expires)],
  );
  return items.length < changes.length ? [] : items;
}

/** What introduces the approvals of these deletes, of all groups together. */
function pasteIntro(changes: readonly ReadChange[]): Line {
  const approvable = changes.filter(({ texts }) => texts.expires !== null);
  const suspected = approvable.filter(({ rules }) => rules.includes('suspected_rename')).length;
  const isOne = approvable.length === 1;
  const only =
    suspected === 0
      ? ''
      : suspected === approvable.length
        ? ` (only if ${isOne ? 'it is no rename' : 'they are no renames'})`
        : ' (a suspected rename only if it is none)';
  return [
    `To approve ${isOne ? 'this delete' : 'these deletes'}${only}, paste into the account's file (below `,
    code('approvedDeletes'),
    ' if it has that key):',
  ];
}
