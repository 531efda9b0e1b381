// The sections of held changes: one group for what the same rules hold for the same reason, with the approvals to paste.
import { DAY_MS } from '../core/durations-and-sizes.ts';
import { KINDS } from '../core/catalog.ts';
import { approvalLine, desiredNameOf, isReleasedByApproval, sharedExplanation } from '../core/held-texts.ts';
import { nameDifference } from '../core/name-difference.ts';
import type { HeldChange, HoldRule, Plan } from '../core/plan.ts';
import { CHANGE_COLUMNS, changeCells } from './change-sections.ts';
import {
  code,
  codeList,
  toned,
  type Fact,
  type Group,
  type Line,
  type Paste,
  type Section,
} from './document.ts';
import { commas, HOLD_RULE_TEXTS, people } from './formatting.ts';
import { sortedNaturally } from './natural-order.ts';

/** How many days after the plan the suggested approval of a delete expires. */
const APPROVAL_DAYS = 14;
/** Text output shows this many held changes; each may need a line for its people and one for its approval. */
const HELD_ROWS = 12;

/** Opens each section of held changes. */
export const HELD_INTRO = 'A rule holds each of these changes. Each run checks the rules again.';

/** The held changes by their rules, then the declared renames that wait for people. Empty sections are left out. */
export function heldSections({ held, createdAt }: Pick<Plan, 'held' | 'createdAt'>): Section[] {
  const expires = new Date(Date.parse(createdAt) + APPROVAL_DAYS * DAY_MS).toISOString().slice(0, 10);
  const section = (title: string, intro: string, changes: readonly HeldChange[]): Section[] =>
    changes.length === 0
      ? []
      : [
          {
            title,
            count: changes.length,
            tone: 'warn',
            intro: [intro],
            groups: grouped(changes).map((group) => heldGroup(group, expires)),
            textRows: HELD_ROWS,
          },
        ];
  const isRename = (change: HeldChange) => change.rules.includes('rename');
  return [
    ...section(
      'Held',
      HELD_INTRO,
      held.filter((change) => !isRename(change)),
    ),
    ...section(
      'Held renames',
      'The old name is deleted when the last person has moved to the new one.',
      held.filter(isRename),
    ),
  ];
}

function grouped(held: readonly HeldChange[]): HeldChange[][] {
  const groups = new Map<string, HeldChange[]>();
  for (const change of held) {
    const { reason, release } = sharedExplanation(change);
    const key = JSON.stringify([change.action, change.rules, reason, release]);
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [change]);
    else group.push(change);
  }
  return [...groups.values()].map((group) => sortedNaturally(group, KINDS));
}

function heldGroup(changes: readonly HeldChange[], expires: string): Group {
  const [first] = changes;
  const rules = first?.rules ?? [];
  const explanation = first === undefined ? { reason: '', release: '' } : sharedExplanation(first);
  const facts: Fact[] = [
    ...(explanation.reason === '' ? [] : [{ label: 'Why', line: [explanation.reason] }]),
    { label: 'Release', line: [explanation.release] },
  ];
  const paste = approvals(changes, rules, expires);
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
      { head: 'People' },
      { head: 'Who', below: 'overflow' },
    ],
    rows: changes.map((change) => heldRow(change)),
    ...(paste === null ? {} : { paste }),
  };
}

function heldRow(change: HeldChange): Line[] {
  const { action, name, usedBy, rules } = change;
  const desired = desiredNameOf(change);
  return [
    ...changeCells(change, false),
    desired === null ? [] : [rules.includes('rename') ? '→ ' : 'near ', code(desired)],
    // A declared rename changes the name as it pleases; of a near name the difference may be invisible.
    desired === null || rules.includes('rename') ? [] : [nameDifference(name, desired)],
    action === 'create' ? [] : [peopleHave(usedBy.length)],
    usedBy.length === 0 ? [] : [codeList(usedBy)],
  ];
}

function peopleHave(amount: number): string {
  return `${people(amount)} ${amount > 1 ? 'have' : 'has'} it`;
}

/** The lines that approve these deletes, or null if no approval would release them. */
function approvals(
  changes: readonly HeldChange[],
  rules: readonly HoldRule[],
  expires: string,
): Paste | null {
  if (!changes.every(isReleasedByApproval)) return null;
  const what = rules.includes('rename')
    ? 'To delete the old names although people have them'
    : rules.includes('suspected_rename')
      ? 'If these are no renames, to delete them although people have them'
      : 'To approve these deletes';
  return {
    intro: [
      `${what}, paste this into the account's file (only the items if it has `,
      code('approvedDeletes'),
      ' already):',
    ],
    key: 'approvedDeletes',
    items: changes.map(({ kind, name }) => approvalLine(kind, name, expires)),
  };
}
