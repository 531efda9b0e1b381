// Why a change is held and what would release it, in sentences for a person. Text only: policy.ts decides.
import type { Kind, Policy } from './catalog.ts';
import type { History } from './history.ts';
import type { DeleteCounts, JudgedExtra } from './policy.ts';
import type { HoldRule } from './plan.ts';

interface Explanation {
  readonly reason: string;
  readonly release: string;
}

interface Facts {
  readonly policy: Policy;
  readonly history: History;
  readonly counts: DeleteCounts;
  readonly frozen: string | null;
}

/** One sentence per rule, in the order of the rules. */
export function explainHeldDelete(judged: JudgedExtra, facts: Facts): Explanation {
  // A rename, declared or suspected, says all that in_use would say, and more.
  const told = judged.holds.some((rule) => rule === 'rename' || rule === 'suspected_rename');
  // Missing history ends with the next run, and a warning of the plan explains it: beside another rule it only distracts.
  const isHeldAnyway = judged.holds.some((rule) => rule !== 'no_history');
  const rules = judged.holds.filter(
    (rule) => !(told && rule === 'in_use') && !(isHeldAnyway && rule === 'no_history'),
  );
  return join(rules.map((rule) => explainDeleteRule(rule, judged, facts)));
}

export function explainHeldCreate(
  kind: Kind,
  name: string,
  rules: readonly HoldRule[],
  facts: Facts,
): Explanation {
  return join(
    rules.map((rule) =>
      rule === 'flapping'
        ? {
            reason: `rolecall created the ${kind} “${name}” three times within 24 hours, and something removed it, or no list showed it, each time`,
            release: 'find out who or what deletes it; it is created again once 24 hours have passed',
          }
        : freeze(facts),
    ),
  );
}

/** The same sentence of several rules stands once. */
function join(parts: readonly Explanation[]): Explanation {
  const unique = (texts: readonly string[]): string => [...new Set(texts)].join('; ');
  return {
    reason: unique(parts.map((part) => part.reason)),
    release: unique(parts.map((part) => part.release)),
  };
}

export function people(count: number): string {
  return count === 1 ? '1 person' : `${count} people`;
}

function freeze(facts: Facts): Explanation {
  return {
    reason: `a freeze window is open (${facts.frozen ?? 'freeze'})`,
    release: 'wait for the end of the freeze window, or change policy.freeze',
  };
}

function explainDeleteRule(rule: HoldRule, judged: JudgedExtra, facts: Facts): Explanation {
  const { kind, extra, usedBy, missingHolders } = judged;
  const { policy, history, counts } = facts;
  const approve = `approve it in approvedDeletes: { kind: ${kind}, name: ${JSON.stringify(extra.entry.name)}, expires: … }`;
  const have = `${people(usedBy.length)} ${usedBy.length === 1 ? 'has' : 'have'} it`;
  switch (rule) {
    case 'in_use':
      return {
        reason: have,
        release: `take it off those people, after which it goes by itself, or ${approve}`,
      };
    case 'rename':
      return usedBy.length === 0
        ? {
            reason: `its new name “${extra.desiredName ?? ''}” cannot be created yet`,
            release: 'release the create first',
          }
        : {
            reason: `it is being renamed to “${extra.desiredName ?? ''}” and ${have}`,
            release: `move those people to “${extra.desiredName ?? ''}” by hand, after which it goes by itself, or ${approve}`,
          };
    case 'suspected_rename':
      return {
        reason: `it looks like “${judged.nearName ?? ''}”, which the file asks for, and ${have}`,
        release: `if it is a rename, add formerly: [${JSON.stringify(extra.entry.name)}] to ${JSON.stringify(judged.nearName ?? '')}; if not, ${approve}`,
      };
    case 'holders_missing':
      return {
        reason: `${people(missingHolders.length)} who had it ${missingHolders.length === 1 ? 'is' : 'are'} missing from the list of resources (${missingHolders.slice(0, 5).join(', ')}${missingHolders.length > 5 ? `, … and ${missingHolders.length - 5} more` : ''})`,
        release: 'wait until they are listed again, or for 24 hours after they went missing',
      };
    case 'too_new':
      return {
        reason: 'it has not been seen unused for as long as policy.unusedFor asks',
        release: 'wait; it goes once it has been unused for that long',
      };
    case 'empty_catalog':
      return {
        reason: `the file asks for an empty list of ${kind}s`,
        release: 'set policy.allowEmpty: true if that is meant',
      };
    case 'stale_source':
      return {
        reason: 'the configuration is older than the one that this account was last applied from',
        release: 'update the checkout, or run `apply --accept-older-source`',
      };
    case 'flapping':
      return {
        reason: 'rolecall deleted this name three times within 24 hours and it came back each time',
        release: 'find out who or what creates it; it is judged anew once 24 hours have passed',
      };
    case 'max_deletes':
      return {
        reason: `the plan would delete ${counts.total}, more than policy.maxDeletes ${policy.maxDeletes}`,
        release: 'raise policy.maxDeletes for this change, or make the change smaller',
      };
    case 'max_deletes_per_day':
      return {
        reason: `the plan would delete ${counts.total} after ${history.deletesLastDay} in the last 24 hours, more than policy.maxDeletesPerDay ${policy.maxDeletesPerDay}`,
        release: 'wait, or raise policy.maxDeletesPerDay',
      };
    case 'max_delete_percent':
      return {
        reason: `the plan would delete ${counts.perKind.get(kind) ?? 0} ${kind}s, more than policy.maxDeletePercent ${policy.maxDeletePercent} %`,
        release: 'raise policy.maxDeletePercent for this change, or make the change smaller',
      };
    case 'failed_creates':
      return { reason: `a create of a ${kind} failed in this run`, release: 'mend the failed create' };
    case 'freeze':
      return freeze(facts);
    case 'no_history':
      return {
        reason: 'the store holds no earlier lists of this account to compare these with',
        release:
          'plan or run again on the same store after checking this plan, or run `apply --accept-no-history`',
      };
    case 'no_people':
      return {
        reason: 'the service lists no people at all, so nobody can tell who has it',
        release:
          'check that the token may see people; if the account really has none, set policy.allowNoPeople: true',
      };
    default:
      return rule satisfies never;
  }
}
