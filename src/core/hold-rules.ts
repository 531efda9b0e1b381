// The rules that hold a change, in one table: each row has all that is known of its rule. policy.ts applies the rows to a
// plan, recheck.ts to one delete of a run; explain.ts and report/ take their texts.
import { firstFew } from './amounts.ts';
import type { Kind, Policy } from './catalog.ts';
import { exceededLimits, explainTooMany } from './delete-limits.ts';
import type { Extra } from './diff.ts';
import { utcTime } from './durations-and-sizes.ts';
import { explainInUse, explainRename } from './held-texts.ts';
import { kindNameKey } from './history.ts';
import { type Explanation, isStaleSource } from './plan.ts';
import type { HoldRule } from './journal.ts';
import type {
  Candidate,
  DeleteContext,
  DeleteNow,
  HeldDelete,
  MissingName,
  PlanFacts,
  PolicyContext,
} from './rule-facts.ts';
import { unknownHoldersText } from './unknown-holders.ts';
import { shellWord } from './yaml-text.ts';

/** Returns why the delete is held now, or null. */
type Recheck = (now: DeleteNow) => string | null;

/**
 * A rule judges one delete (`holds`), one create (`holdsCreate`), or the deletes of a kind that no other rule holds
 * (`isExceeded`); `failed_creates` is judged only during the run. `recheck` judges the rule again right before the delete,
 * or is the reason why that is not needed:
 * `fixed`: the facts of the rule cannot change during a run.
 * `each_request`: run/ checks the rule before every request.
 * `after_creates`: run/ checks the rule between creates and deletes.
 */
interface Rule {
  /** `people`: the change would take something from somebody. `doubt`: it may be a mistake, or comes at a bad moment. */
  readonly group: 'people' | 'doubt';
  /** What it means, in a few words. */
  readonly text: string;
  readonly holds?: (candidate: Candidate, context: DeleteContext) => boolean;
  readonly holdsCreate?: (create: MissingName, context: PolicyContext) => boolean;
  readonly isExceeded?: (kind: Kind, facts: PlanFacts) => boolean;
  readonly recheck: Recheck | 'fixed' | 'each_request' | 'after_creates';
  /** Why it holds a delete, and what releases it. */
  readonly explain?: (facts: PlanFacts, held: HeldDelete) => Explanation;
  readonly explainCreate?: (facts: PlanFacts, create: MissingName) => Explanation;
}

/** Every rule. If several rules hold a delete that is rechecked, the first one of this table is reported. */
export const RULES: Readonly<Record<HoldRule, Rule>> = {
  in_use: {
    group: 'people',
    text: 'people have it, or had it lately',
    holds: ({ usedBy, usedUntilMs, allowed }, { policy }) =>
      (usedBy.length > 0 || usedUntilMs !== null) && policy.delete === 'unused' && !allowed,
    recheck: recheckUse,
    explain: explainInUse,
  },
  rename: {
    group: 'people',
    text: 'the rename is not complete, or not declared',
    holds: (candidate, { policy, heldCreates }) => {
      const { kind, extra, allowed } = candidate;
      const waits = extra.desiredName !== undefined && heldCreates.has(kindNameKey(kind, extra.desiredName));
      return waits || (isRename(extra) && isUsed(candidate, policy) && !allowed);
    },
    recheck: recheckRename,
    explain: explainRename,
    // policy.ts holds it with the delete of the entry because of which the service refused it.
    explainCreate: (_, { kind, name }) => ({
      reason: `the service refused the ${kind} “${name}” while the ${kind} with the near name exists`,
      release: 'release the delete of that one, which is then sent before the create',
    }),
  },
  no_evidence: {
    group: 'doubt',
    text: 'nobody can tell who has what',
    holds: ({ kind, extra }, { policy, history, acceptNoEvidence, unknownHolders }) => {
      if (!history.hasSnapshot && !acceptNoEvidence) return true;
      const why = unknownHolders.get(kind);
      // A first plan names the missing history only, so whoever accepts that has not seen what the lists lack.
      if (history.hasSnapshot && acceptNoEvidence) return false;
      return (
        why !== undefined && !(why === 'no_people' && policy.allowNoPeople) && usageMatters(extra, policy)
      );
    },
    recheck: recheckPeople,
    explain: explainNoEvidence,
  },
  too_many: {
    group: 'doubt',
    text: 'too many deletes',
    isExceeded: (kind, { counts, policy }) => exceededLimits(kind, counts, policy).length > 0,
    recheck: 'fixed',
    explain: explainTooMany,
  },
  flapping: {
    group: 'doubt',
    text: 'what rolecall did does not last, or its outcome is unknown',
    holds: ({ kind, extra, mayBe }, { history }) =>
      // Without the entry, nothing would show that a create whose answer was lost has happened.
      mayBe.length > 0 || history.flappingDeletes.has(kindNameKey(kind, extra.entry.name)),
    holdsCreate: ({ kind, name, results }, { history }) =>
      results.length > 0 || history.flappingCreates.has(kindNameKey(kind, name)),
    recheck: 'fixed',
    explain: explainFlappingDelete,
    explainCreate: explainFlappingCreate,
  },
  source: {
    group: 'doubt',
    text: 'the configuration is older than the one last applied, or is not committed',
    ...everyChange(
      ({ source, acceptOlderSource, uncommitted }) =>
        (isStaleSource(source) && !acceptOlderSource) || uncommitted?.length !== 0,
      explainSource,
    ),
    recheck: 'fixed',
  },
  rollout: {
    group: 'doubt',
    text: 'other accounts run the commit first',
    ...everyChange(
      ({ rollout }) => rollout !== null,
      ({ rollout }) => ({
        reason: `other accounts run the commit ${rollout?.commit ?? ''} first: ${rollout?.waitsFor ?? ''}`,
        release: `${waitUntil(rollout?.untilMs) ?? 'make these accounts converge'}, or apply it by hand with \`rolecall apply\``,
      }),
    ),
    recheck: 'fixed',
  },
  freeze: {
    group: 'doubt',
    text: 'a freeze window is open',
    ...everyChange(
      ({ frozen }) => frozen !== null,
      ({ frozen }) => ({
        reason: `a freeze window is open (${frozen?.window ?? 'freeze'})`,
        release: `${waitUntil(frozen?.untilMs) ?? 'wait for the end of the freeze window'}, or change policy.freeze`,
      }),
    ),
    recheck: 'each_request',
  },
  failed_creates: {
    group: 'doubt',
    text: 'a create of the same kind failed',
    recheck: 'after_creates',
  },
};

/** A rule that holds every change alike. */
function everyChange(
  holds: (context: PolicyContext) => boolean,
  explain: (facts: PlanFacts) => Explanation,
): Pick<Rule, 'holds' | 'holdsCreate' | 'explain' | 'explainCreate'> {
  return {
    holds: (_, context) => holds(context),
    holdsCreate: (_, context) => holds(context),
    explain,
    explainCreate: explain,
  };
}

function isRename({ cause, nearName }: Extra): boolean {
  return cause === 'renamed' || nearName !== undefined;
}

/**
 * Whether deleting it would take it from somebody, whatever `policy.delete` is. Who had it lately counts where `in_use`
 * does not protect it.
 */
export function isUsed({ usedBy, usedUntilMs }: Candidate, policy: Policy): boolean {
  return usedBy.length > 0 || (usedUntilMs !== null && policy.delete === 'always');
}

/** Whether the delete depends on who has the entry. */
function usageMatters(extra: Extra | undefined, policy: Policy): boolean {
  return policy.delete === 'unused' || (extra !== undefined && isRename(extra));
}

function recheckUse({ usedByThen, usedByNow, wasUsedBefore, hasExpired }: DeleteNow): string | null {
  const planned = new Set(usedByThen);
  const added = usedByNow.filter((id) => !planned.has(id));
  if (added.length > 0) return `it was assigned to ${firstFew(added, 5)} during the run`;
  if (!hasExpired || (usedByNow.length === 0 && !wasUsedBefore)) return null;
  return `people ${usedByNow.length > 0 ? 'have' : 'had'} it, and its line in allowedDeletes expired during the run`;
}

function recheckRename({ kind, extra, findings, pendingCreates }: DeleteNow): string | null {
  if (extra === undefined) return 'the other entry of this name was deleted or renamed during the run';
  if (extra.cause !== 'renamed') return null;
  const newName = extra.desiredName ?? '';
  const key = kindNameKey(kind, newName);
  // After an early delete, the plan's own create of the new name is pending.
  if (!findings.missing.has(key) || pendingCreates.has(key)) return null;
  return `the entry with its new name, “${newName}”, was deleted or renamed during the run`;
}

function recheckPeople({ kind, policy, extra, findings }: DeleteNow): string | null {
  const why = findings.unknownHolders.get(kind);
  if (why === undefined || (why === 'no_people' && policy.allowNoPeople) || !usageMatters(extra, policy))
    return null;
  return `the service stopped listing who has which ${kind} during the run`;
}

function explainNoEvidence(
  { history, acceptNoEvidence, unknownHolders }: PlanFacts,
  { kind }: HeldDelete,
): Explanation {
  if (!history.hasSnapshot && !acceptNoEvidence)
    return {
      reason: 'the store contains no earlier lists of this account to compare with',
      release:
        'review this plan, then plan or apply again with the same store, or use `--accept no_evidence`',
    };
  const why = unknownHolders.get(kind) ?? 'no_people';
  const accept = 'run `apply --accept no_evidence`';
  return {
    reason: `${unknownHoldersText(kind, why)}, so nobody can tell who has it`,
    release: {
      no_people: `check that the token may read resources; if the account has no people, set policy.allowNoPeople: true, or ${accept}`,
      no_assignments: `check what people have in the account; if the lists are right, ${accept}, or approve the plan`,
      no_field: `check that the token may read what people have; if nobody has any, ${accept}, or approve the plan`,
    }[why],
  };
}

function explainFlappingDelete({ history }: PlanFacts, { kind, extra, mayBe }: HeldDelete): Explanation {
  if (mayBe.length === 0)
    return {
      reason: 'rolecall deleted this name three times within 24 hours, and each time it was created again',
      release: `find out who or what creates it; rolecall decides again after ${utcTime(history.flappingDeletes.get(kindNameKey(kind, extra.entry.name)) ?? 0)}`,
    };
  const names = firstFew(
    mayBe.map((name) => `“${name}”`),
    3,
  );
  const untilMs = mayBe.map((name) => history.doubtfulCreates.get(kindNameKey(kind, name))?.untilMs ?? 0);
  return {
    reason: `it may be the result of the create of ${names}, whose answer was lost`,
    release: `put its name into the file instead of that one, or delete it in the service; rolecall decides again after ${utcTime(Math.max(...untilMs))}`,
  };
}

function explainFlappingCreate({ history }: PlanFacts, { kind, name, results }: MissingName): Explanation {
  const key = kindNameKey(kind, name);
  const untilMs = history.flappingCreates.get(key);
  if (untilMs !== undefined || results.length === 0)
    return {
      reason: `rolecall sent the create of the ${kind} “${name}” three times within 24 hours, and each time it was removed or no list showed it`,
      release: `find out who or what deletes it, or why the lists do not show it; rolecall creates it again after ${utcTime(untilMs ?? 0)}`,
    };
  const listed = firstFew(
    results.map((entry) => `“${entry.name}” (${entry.id})`),
    3,
  );
  const result = `${results.length === 1 ? `the new ${kind} ${listed}` : `one of the new ${kind}s ${listed}`} may be its result`;
  return {
    reason: `the answer to the create of the ${kind} “${name}” was lost, and ${result}`,
    release: `find out in the service which name it got, and put that name into the file instead of “${name}”; or delete what is not its result. Otherwise rolecall creates “${name}” again after ${utcTime(history.doubtfulCreates.get(key)?.untilMs ?? 0)}`,
  };
}

function explainSource({ source, uncommitted }: PlanFacts): Explanation {
  if (uncommitted !== null && uncommitted.length > 0)
    return {
      reason: `the daemon applies only what is committed, and the commit does not contain these files as they are now: ${firstFew(uncommitted, 3)}`,
      release: `commit the changes, or undo them in the repository: \`git checkout HEAD -- ${uncommitted.map(shellWord).join(' ')}\` (remove a file that is new)`,
    };
  if (source === 'unknown' || uncommitted === null)
    return {
      reason:
        'the commit of the configuration is unknown, so rolecall cannot check that this is not an older checkout than the one last applied to this account',
      release:
        'make git work for this checkout; or, if this configuration is the intended one, run `apply --accept source`',
    };
  return {
    reason: 'the configuration is older than the one last applied to this account',
    release: 'update the checkout, or run `apply --accept source`',
  };
}

function waitUntil(ms: number | null | undefined): string | undefined {
  return typeof ms === 'number' ? `wait until ${utcTime(ms)}` : undefined;
}
