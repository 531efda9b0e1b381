// Explains a held change: joins what its rules say, and advises how to allow it.
import {
  allowanceText,
  allowLine,
  allowText,
  linesFor,
  runLine,
  suggestedExpiry,
  usedUpBy,
  usedUpText,
} from './allowed-deletes.ts';
import { count } from './amounts.ts';
import { suggestedRun } from './delete-limits.ts';
import { releaseText } from './held-texts.ts';
import { RULES } from './hold-rules.ts';
import type { Explanation, HeldChange } from './plan.ts';
import type { HoldRule } from './journal.ts';
import type { JudgedEntry, MissingName, PlanFacts } from './rule-facts.ts';

/** What a held change says beyond its rules. */
type HeldTexts = Pick<HeldChange, 'reason' | 'release' | 'desiredName' | 'allowance'>;

/** One sentence per rule, in the order of the rules. */
export function explainHeldDelete(judged: JudgedEntry, facts: PlanFacts): HeldTexts {
  const { holds, usedBy, extra } = judged;
  const isRename = holds.includes('rename');
  // Missing history ends with the next run, and a plan warning explains it: beside another rule it only distracts.
  const isFirst = !facts.history.hasSnapshot && !facts.acceptNoEvidence;
  const isLeftOut = (rule: HoldRule): boolean =>
    // The text of a rename includes the people who have the entry.
    (rule === 'in_use' && isRename && usedBy.length > 0) ||
    (rule === 'no_evidence' && isFirst && holds.length > 1);
  const { allow, line, whyNot } = allowAdvice(judged, facts);
  const { reason, release } = join(
    holds.flatMap((rule) =>
      isLeftOut(rule) ? [] : (RULES[rule].explain?.(facts, { ...judged, allow }) ?? []),
    ),
  );
  const lines = [line, ...(holds.includes('too_many') ? [runLine(suggestedRun(facts))] : [])];
  const allowance = lines.find((each) => each !== undefined && release.includes(allowText(each)));
  const desiredName = isRename ? (extra.desiredName ?? extra.nearName) : undefined;
  return {
    reason: whyNot !== undefined && release.includes(allow) ? `${reason}; ${whyNot}` : reason,
    release,
    ...(desiredName === undefined ? {} : { desiredName }),
    ...(allowance === undefined ? {} : { allowance }),
  };
}

/** How to allow the delete, and why a line that the file has does not release it. */
function allowAdvice(
  { kind, extra, alike }: JudgedEntry,
  { allowances, history, nowMs }: PlanFacts,
): { readonly allow: string; readonly line?: string; readonly whyNot?: string } {
  const { name, id } = extra.entry;
  if (alike > 1)
    return {
      // A line break in a name would look like another condition.
      allow: `delete by hand all but one of the ${count(alike, kind)} “${name.replaceAll('\n', ' ')}” in the service; a line of allowedDeletes then releases the remaining one`,
      whyNot: `${count(alike, kind)} have this name, and a line of allowedDeletes may release only one`,
    };
  const isUsed = (text: string): boolean =>
    history.released.some((each) => each.kind === kind && each.allowance === text);
  const expires = suggestedExpiry(nowMs, (day) => isUsed(allowanceText({ name, expires: day })));
  const [present] = linesFor(allowances, { kind, name });
  if (present === undefined) {
    const line = allowLine({ kind, name, expires });
    return { allow: allowText(line), line };
  }
  const used = usedUpBy(present, id, history.released);
  const whyNot =
    used === null ? `its line in allowedDeletes expired on ${present.expires}` : usedUpText(present, used);
  // The file has a line for this name that does not release the entry: a second one is an error.
  return { allow: `set \`expires\` of its line in allowedDeletes to ${expires}`, whyNot };
}

export function explainHeldCreate(
  create: MissingName,
  rules: readonly HoldRule[],
  facts: PlanFacts,
): Explanation {
  return join(rules.flatMap((rule) => RULES[rule].explainCreate?.(facts, create) ?? []));
}

/** Joins the texts of several rules, each sentence once. Every rule must be released: several releases are a line each. */
function join(parts: readonly Explanation[]): Explanation {
  return {
    reason: [...new Set(parts.map(({ reason }) => reason))].join('; '),
    release: releaseText([...new Set(parts.map(({ release }) => release))]),
  };
}
