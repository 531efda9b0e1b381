// The sentences about one held delete that name it, its people or the desired name that it is about, and the same sentences
// without those, for a group of deletes.
import { allowText } from './allowed-deletes.ts';
import { firstFew, peopleHave } from './amounts.ts';
import { formatDuration, utcTime } from './durations-and-sizes.ts';
import type { Explanation, HeldChange } from './plan.ts';
import type { HeldDelete, PlanFacts } from './rule-facts.ts';
import { HELD_FIELDS } from './usage.ts';
import { yamlText } from './yaml-text.ts';

const MINUTE_MS = 60_000;

const ALL_NEEDED = 'all of these are needed:';

/** What releases a change: one condition, or a head and a numbered line for each of several, which are all needed. */
export function releaseText(conditions: readonly string[]): string {
  if (conditions.length < 2) return conditions.join('');
  return [ALL_NEEDED, ...conditions.map((condition, index) => `(${index + 1}) ${condition}`)].join('\n');
}

/** The lines of a release. Any other line break is part of a name. */
export function releaseLines(release: string): readonly string[] {
  return release.startsWith(`${ALL_NEEDED}\n`) ? release.split(/\n(?=\(\d+\) )/u) : [release];
}

/** The line that declares a rename. */
function renameLine(newName: string, name: string): string {
  return `{ name: ${yamlText(newName)}, formerly: [${yamlText(name)}] }`;
}

/** A held delete, with the sentence that advises how to allow it. */
interface Change extends Pick<HeldChange, 'name' | 'usedBy'> {
  readonly allow: string;
}

export function explainInUse(facts: PlanFacts, held: HeldDelete): Explanation {
  const { usedBy, allow } = held;
  if (usedBy.length === 0) return explainEarlierUse(facts, held);
  return {
    reason: peopleHave(usedBy.length),
    release: `remove it from the people who have it; or ${allow}`,
  };
}

function explainEarlierUse({ policy }: PlanFacts, held: HeldDelete): Explanation {
  const { kind, usedUntilMs, isPersonMissing, allow } = held;
  return {
    reason: isPersonMissing
      ? `a person who had it, or the field ${HELD_FIELDS[kind]} of one, is missing from the lists`
      : `people had it less than ${formatDuration(policy.unusedForMs)} ago (policy.unusedFor)`,
    // In full minutes, so that entries of one change are one group.
    release: `wait until ${utcTime(Math.ceil((usedUntilMs ?? 0) / MINUTE_MS) * MINUTE_MS)}: the next run then judges it again; or ${allow}`,
  };
}

export function explainRename(facts: PlanFacts, held: HeldDelete): Explanation {
  const { extra, usedBy, blocks, allow } = held;
  const { name } = extra.entry;
  const change = { name, usedBy, allow };
  const newName = extra.desiredName ?? extra.nearName ?? '';
  if (usedBy.length > 0 && blocks === newName) return explainRefused(change, newName);
  if (usedBy.length > 0)
    return extra.cause === 'renamed'
      ? explainDeclaredRename(change, newName)
      : explainSuspectedRename(change, newName);
  if (facts.policy.delete === 'always' && held.usedUntilMs !== null) return explainEarlierUse(facts, held);
  return { reason: `its new name “${newName}” cannot be created yet`, release: 'release the create first' };
}

function explainDeclaredRename({ usedBy, allow }: Change, newName: string): Explanation {
  return {
    reason: `it is being renamed to “${newName}” and ${peopleHave(usedBy.length)}`,
    release: `assign “${newName}” to the people who have it by hand, and remove the old name; or ${allow}`,
  };
}

export function explainSuspectedRename({ name, usedBy, allow }: Change, nearName: string): Explanation {
  return {
    reason: `its name is near the desired “${nearName}”, and ${peopleHave(usedBy.length)}`,
    release: `if it is a rename, write the new name as ${renameLine(nearName, name)}; if not, ${allow}`,
  };
}

/** Nobody can be assigned the new name before the entry is deleted. */
export function explainRefused({ usedBy, allow }: Change, newName: string): Explanation {
  return {
    reason: `the service refuses its new name “${newName}” while it exists, and ${peopleHave(usedBy.length)}`,
    release: `only deleting it first remains, which takes it from ${firstFew(usedBy, 5)}: ${allow}; then assign “${newName}” to them by hand`,
  };
}

/** The explanation of a held delete without the advice to allow it, for a report that prints the allowances of all. */
export function withoutAllowLine({ rules, reason, release, allowance }: HeldChange): Explanation {
  if (allowance === undefined) return { reason, release };
  const what = rules.includes('too_many') ? 'allow this run' : 'allow the delete';
  return { reason, release: release.replaceAll(allowText(allowance), () => what) };
}

/** The same without the entry's people and names: equal for all changes that the same rules hold for the same reason. */
export function sharedExplanation(change: HeldChange): Explanation {
  const { name, usedBy, desiredName } = change;
  const own: (readonly [string, string])[] = [
    ...(desiredName === undefined
      ? []
      : ([
          [renameLine(desiredName, name), '{ name: NEW, formerly: [OLD] }'],
          [`“${desiredName}”`, '“…”'],
        ] as const)),
    // A name may contain the same words.
    [peopleHave(usedBy.length), 'people have it'],
    [`takes it from ${firstFew(usedBy, 5)}:`, 'takes it from them:'],
  ];
  const shared = (text: string) =>
    own.reduce((before, [from, to]) => before.replaceAll(from, () => to), text);
  const { reason, release } = withoutAllowLine(change);
  return { reason: shared(reason), release: shared(release) };
}
