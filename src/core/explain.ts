// Explains why a change is held and what releases it. Text only: policy.ts decides.
import { count, firstFew, people } from './amounts.ts';
import { suggestedExpiry, usedUpBy, usedUpText } from './allowed-deletes.ts';
import type { AllowedDelete, Entry, Kind } from './catalog.ts';
import { DAY_MS, formatDuration, utcTime } from './durations-and-sizes.ts';
import {
  allowLine,
  allowText,
  releaseText,
  type Explanation,
  explainInUse,
  explainRefused,
  explainRename,
  explainSuspectedRename,
} from './held-texts.ts';
import type { PolicyContext } from './delete-rules.ts';
import { kindNameKey } from './history.ts';
import { nameKey } from './names.ts';
import type { DeleteCounts, JudgedEntry } from './policy.ts';
import type { CreateRule, HeldChange, HoldRule, SourceAge } from './plan.ts';
import { type UnknownHolders, unknownHoldersText } from './unknown-holders.ts';
import { entryKey, HELD_FIELDS } from './usage.ts';
import { shellWord } from './yaml-text.ts';

const MINUTE_MS = 60_000;

interface Facts extends Omit<PolicyContext, 'usage' | 'staleSource' | 'acceptNoHistory'> {
  readonly counts: DeleteCounts;
  readonly source: SourceAge;
  /** All allowances of the file, the expired ones too. */
  readonly allowances: readonly AllowedDelete[];
  /** Ids of the people in the current list of resources. */
  readonly listedPeople: ReadonlySet<string>;
}

/** What releases the deletes of a kind whose holders are unknown. */
const NO_PEOPLE_RELEASES: Readonly<Record<UnknownHolders, string>> = {
  no_people:
    'check that the token may read resources; if the account has no people, set policy.allowNoPeople: true',
  no_assignments:
    'check what people have in the account; if the lists are right, run `apply --accept suspicious_list`, or approve the plan',
  no_field:
    'check that the token may read what people have; if nobody has any, run `apply --accept suspicious_list` or set policy.allowNoPeople: true',
};

/** What a held change says beyond its rules. */
type HeldTexts = Pick<HeldChange, 'reason' | 'release' | 'desiredName' | 'allowance'>;

/** One sentence per rule, in the order of the rules. */
export function explainHeldDelete(judged: JudgedEntry, facts: Facts): HeldTexts {
  // The text of a declared or suspected rename includes the text of in_use.
  const isRename = judged.holds.some((rule) => rule === 'rename' || rule === 'suspected_rename');
  // Missing history ends with the next run, and a plan warning explains it: beside another rule it only distracts.
  const isHeldAnyway = judged.holds.some((rule) => rule !== 'no_history');
  const rules = judged.holds.filter(
    (rule) => !(isRename && rule === 'in_use') && !(isHeldAnyway && rule === 'no_history'),
  );
  const { allow, allowance, whyNot } = allowAdvice(judged, facts);
  const { reason, release } = join(rules.map((rule) => explainDeleteRule(rule, judged, facts, allow)));
  const isAdvised = release.includes(allow);
  const { desiredName, nearName } = judged.extra;
  const about = judged.holds.includes('rename') ? desiredName : nearName;
  return {
    reason: whyNot !== undefined && isAdvised ? `${reason}; ${whyNot}` : reason,
    release,
    ...(isRename && about !== undefined ? { desiredName: about } : {}),
    ...(allowance !== undefined && isAdvised ? { allowance } : {}),
  };
}

/** How to allow the delete, and why an allowance that the file has does not release it. */
function allowAdvice(
  { kind, extra, alike }: JudgedEntry,
  { allowances, history, nowMs }: Facts,
): { readonly allow: string; readonly allowance?: string; readonly whyNot?: string } {
  const { name, id } = extra.entry;
  if (alike > 1)
    return {
      // A line break in a name would look like another condition.
      allow: `delete by hand all but one of the ${count(alike, kind)} “${name.replaceAll('\n', ' ')}” in the service; a line of allowedDeletes then releases the remaining one`,
      whyNot: `${count(alike, kind)} have this name, and a line of allowedDeletes may release only one`,
    };
  const expires = suggestedExpiry({ kind, name }, nowMs, history.released);
  const present = allowances.find((each) => each.kind === kind && nameKey(each.name) === nameKey(name));
  if (present === undefined) {
    const allowance = allowLine(kind, name, expires);
    return { allow: allowText(allowance), allowance };
  }
  const used = usedUpBy(present, id, history.released);
  const whyNot =
    used === null ? `its line in allowedDeletes expired on ${present.expires}` : usedUpText(present, used);
  // The file has an allowance of this name that does not release the entry: a second one is an error.
  return { allow: `set \`expires\` of its line in allowedDeletes to ${expires}`, whyNot };
}

interface CreateFacts extends Facts {
  /** The new entries that an earlier create of the name may have made. */
  readonly results: readonly Entry[];
}

export function explainHeldCreate(
  kind: Kind,
  name: string,
  rules: readonly CreateRule[],
  facts: CreateFacts,
): Explanation {
  return join(rules.map((rule) => explainCreateRule(rule, kind, name, facts)));
}

function explainCreateRule(
  rule: CreateRule,
  kind: Kind,
  name: string,
  { results, ...facts }: CreateFacts,
): Explanation {
  const { flappingCreates, doubtfulCreates } = facts.history;
  const key = kindNameKey(kind, name);
  const untilMs = flappingCreates.get(key);
  switch (rule) {
    case 'flapping':
      if (untilMs === undefined && results.length > 0) {
        const quoted = results.map((entry) => `“${entry.name}” (${entry.id})`);
        const listed = firstFew(quoted, 3);
        return {
          reason: `the answer to the create of the ${kind} “${name}” was lost, and ${results.length === 1 ? `the new ${kind} ${listed} may be its result` : `one of the new ${kind}s ${listed} may be its result`}`,
          release: `find out in the service which name it got, and put that name into the file instead of “${name}”; or delete what is not its result. Otherwise rolecall creates “${name}” again after ${utcTime(doubtfulCreates.get(key)?.untilMs ?? 0)}`,
        };
      }
      return {
        reason: `rolecall sent the create of the ${kind} “${name}” three times within 24 hours, and each time it was removed or no list showed it`,
        release: `find out who or what deletes it, or why the lists do not show it; rolecall creates it again after ${utcTime(untilMs ?? 0)}`,
      };
    case 'rename':
      return {
        reason: `the service refused the ${kind} “${name}” while the ${kind} with the near name exists`,
        release: 'release the delete of that one, which is then sent before the create',
      };
    case 'freeze':
      return freeze(facts);
    case 'rollout':
      return rollout(facts);
    case 'source':
      return staleSource(facts);
    default:
      return rule satisfies never;
  }
}

/** Joins the texts of several rules, each sentence once. Every rule must be released: several releases are a line each. */
function join(parts: readonly Explanation[]): Explanation {
  const releases = [...new Set(parts.map((part) => part.release))];
  return {
    reason: [...new Set(parts.map((part) => part.reason))].join('; '),
    release: releaseText(releases),
  };
}

/** Names the people who had the entry: missing from the list, or listed without their skills or role. */
function missingPeople(kind: Kind, holders: readonly string[], listedPeople: ReadonlySet<string>): string {
  const absent = holders.filter((id) => !listedPeople.has(id));
  const listed = holders.filter((id) => listedPeople.has(id));
  const sentence = (ids: readonly string[], what: string): string[] =>
    ids.length === 0
      ? []
      : [`${people(ids.length)} who had it ${ids.length === 1 ? 'is' : 'are'} ${what} (${firstFew(ids, 5)})`];
  return [
    ...sentence(absent, 'missing from the list of resources'),
    ...sentence(listed, `listed without the field ${HELD_FIELDS[kind]}`),
  ].join('; ');
}

function freeze(facts: Facts): Explanation {
  const end = facts.frozen?.untilMs ?? null;
  return {
    reason: `a freeze window is open (${facts.frozen?.window ?? 'freeze'})`,
    release: `wait ${end === null ? 'for the end of the freeze window' : `until ${utcTime(end)}`}, or change policy.freeze`,
  };
}

function rollout({ rollout: open }: Facts): Explanation {
  const untilMs = open?.untilMs ?? null;
  return {
    reason: `other accounts run the commit ${open?.commit ?? ''} first: ${open?.waitsFor ?? ''}`,
    release: `${untilMs === null ? 'make these accounts converge' : `wait until ${utcTime(untilMs)}`}, or apply it by hand with \`rolecall apply\``,
  };
}

function staleSource({ source, uncommitted }: Facts): Explanation {
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

/** Rounded up to a tenth, so that the percentage never reads as its limit. */
function percentText(kind: Kind, { perKind, entries }: DeleteCounts, limit: number): string {
  const [deletes, of] = [perKind.get(kind) ?? 0, entries.get(kind) ?? 0];
  const percent = Math.ceil((deletes * 1000) / of) / 10;
  return `${count(deletes, 'delete')} of ${count(of, kind)} (${percent} %), limit ${limit} %`;
}

function explainDeleteRule(rule: HoldRule, judged: JudgedEntry, facts: Facts, allow: string): Explanation {
  const { kind, extra, usedBy, missingHolders, blocks } = judged;
  const { policy, history, counts } = facts;
  const change = { name: extra.entry.name, usedBy, allow };
  const unknown = facts.unknownHolders.get(kind) ?? 'no_people';
  const lastUsed = history.lastUsedMs.get(entryKey(kind, extra.entry.id)) ?? 0;
  // When this delete is a day old, the later ones leave room; undefined if the plan alone exceeds the limit.
  const deciding = history.recentDeletesMs[policy.maxDeletesPerDay - counts.total];
  const newName = extra.desiredName ?? extra.nearName ?? '';
  switch (rule) {
    case 'in_use':
      return explainInUse(change);
    case 'rename':
    case 'suspected_rename':
      if (usedBy.length > 0 && blocks === newName) return explainRefused(change, newName);
      return (rule === 'rename' ? explainRename : explainSuspectedRename)(change, newName);
    case 'holders_missing':
      return {
        reason: missingPeople(kind, missingHolders, facts.listedPeople),
        release: `wait until the lists show them again, or ${judged.missingUntilMs === null ? 'for 24 hours from this plan' : `until ${utcTime(judged.missingUntilMs)}`}; or ${allow}`,
      };
    case 'too_new':
      return {
        reason: `people had it less than ${formatDuration(policy.unusedForMs)} ago (policy.unusedFor)${judged.allowed ? ', and allowedDeletes does not release that' : ''}`,
        // In full minutes, so that entries of one change are one group.
        release: `wait until ${utcTime(Math.ceil((lastUsed + policy.unusedForMs) / MINUTE_MS) * MINUTE_MS)}: the next run then judges it again; or write \`policy: { unusedFor: 0s }\` into the file until this change is applied`,
      };
    case 'empty_catalog':
      return {
        reason: `the file requests an empty list of ${kind}s`,
        release: 'set policy.allowEmpty: true if that is intended',
      };
    case 'source':
      return staleSource(facts);
    case 'flapping':
      if (judged.mayBe.length > 0) {
        const quoted = judged.mayBe.map((name) => `“${name}”`);
        const names = firstFew(quoted, 3);
        const untilMs = Math.max(
          ...judged.mayBe.map((name) => history.doubtfulCreates.get(kindNameKey(kind, name))?.untilMs ?? 0),
        );
        return {
          reason: `it may be the result of the create of ${names}, whose answer was lost`,
          release: `put its name into the file instead of that one, or delete it in the service; rolecall decides again after ${utcTime(untilMs)}`,
        };
      }
      return {
        reason: 'rolecall deleted this name three times within 24 hours, and each time it was created again',
        release: `find out who or what creates it; rolecall decides again after ${utcTime(history.flappingDeletes.get(kindNameKey(kind, extra.entry.name)) ?? 0)}`,
      };
    case 'max_deletes':
      return {
        reason: `${count(counts.total, 'delete')} in this plan, limit ${policy.maxDeletes}`,
        release: 'raise policy.maxDeletes for this change, or split the change',
      };
    case 'max_deletes_per_day':
      return {
        reason: `${count(counts.total, 'delete')} in this plan and ${history.recentDeletesMs.length} in the last 24 hours, limit ${policy.maxDeletesPerDay}`,
        release:
          deciding === undefined
            ? 'raise policy.maxDeletesPerDay for this change, or split the change'
            : `wait until ${utcTime(deciding + DAY_MS)}, when enough earlier deletes are a day old, or raise policy.maxDeletesPerDay`,
      };
    case 'max_delete_percent':
      return {
        reason: percentText(kind, counts, policy.maxDeletePercent),
        release: 'raise policy.maxDeletePercent for this change, or split the change',
      };
    case 'failed_creates':
      return { reason: `a create of a ${kind} failed in this run`, release: 'fix the failed create' };
    case 'freeze':
      return freeze(facts);
    case 'rollout':
      return rollout(facts);
    case 'no_history':
      return {
        reason: 'the store contains no earlier lists of this account to compare with',
        release:
          'review this plan, then plan or apply again with the same store, or use --accept no_evidence',
      };
    case 'no_people':
      return {
        reason: `${unknownHoldersText(kind, unknown)}, so nobody can tell who has it`,
        release: NO_PEOPLE_RELEASES[unknown],
      };
    default:
      return rule satisfies never;
  }
}
