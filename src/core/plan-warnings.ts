// The warnings of a plan: what a person should know that is neither a change nor a failure.
import type { ApprovedDelete, Warning } from './catalog.ts';
import type { KindDiff } from './diff.ts';
import { people } from './explain.ts';
import type { History } from './history.ts';
import { compareCodePoints, nameKey, nearKey } from './names.ts';
import type { JudgedEntry } from './policy.ts';

/** Said where a list does not show what was confirmed. */
export const NOT_SHOWN_YET = 'not_shown_yet';

/** How the commit of a configuration stands to the one that its account was last applied from. */
export type SourceAge = 'current' | 'older' | 'diverged' | 'unknown';

/** Marks a plan that was made without earlier lists of its account. */
export const NO_HISTORY = 'no_history';

/** Marks the plan of a file that names neither skills nor roles. */
export const NOTHING_MANAGED = 'nothing_managed';

/** A kind that is left out is not managed; a file without both is probably not finished. */
export function managesNothing(account: string, diffs: readonly KindDiff[]): Warning[] {
  if (diffs.length > 0) return [];
  const message = `the file has neither skills nor roles, so rolecall manages nothing of this account; add \`skills:\` or \`roles:\` to it, or fill in what the account contains now with \`rolecall dump ${account} --write\``;
  return [{ code: NOTHING_MANAGED, message }];
}

/** Warnings about what the store does not know, or what the operator accepted although it does. */
export function historyWarnings({
  history,
  source,
  acceptOlderSource,
  acceptNoHistory,
}: {
  readonly history: History;
  readonly source: SourceAge;
  readonly acceptOlderSource: boolean;
  readonly acceptNoHistory: boolean;
}): Warning[] {
  const warnings: Warning[] = [];
  if (!history.hasSnapshot) {
    const deletes = acceptNoHistory
      ? 'deletes are allowed by --accept-no-history'
      : 'deletes are held until the next plan or run on this store';
    warnings.push({
      code: NO_HISTORY,
      message: `the store holds no earlier lists of this account, so ownership, stale source, flapping, the daily limit and lists that shrank cannot be judged; ${deletes}`,
    });
  }
  if (source === 'older' && acceptOlderSource) {
    warnings.push({
      code: 'older_source',
      message: 'the configuration is older than the one last applied; accepted by --accept-older-source',
    });
  }
  if (source === 'unknown') {
    warnings.push({
      code: 'unknown_source',
      message:
        'this account was last applied from a git commit, and the commit of this configuration is not known: git is missing, refuses the repository or does not hold the file. Whether it is older cannot be judged',
    });
  }
  if (source === 'diverged') {
    warnings.push({
      code: 'diverged_source',
      message:
        'the configuration’s commit and the one that this account was last applied from are on different lines of history',
    });
  }
  return warnings;
}

/**
 * What was confirmed a moment ago and no list shows yet. It counts as done for `staleness`, and a run that relies on it
 * is not converged (contract, section 5, Stale lists).
 */
export function staleListWarnings(history: History, diffs: readonly KindDiff[]): Warning[] {
  return diffs.flatMap(({ kind, stillListed }) => [
    ...history.awaited
      .filter((entry) => entry.kind === kind)
      .sort((a, b) => compareCodePoints(a.name, b.name))
      .map(({ name, remoteId }): Warning => ({
        code: NOT_SHOWN_YET,
        message: `the ${kind} “${name}” was created a moment ago and no list shows it yet; it counts as there`,
        kind,
        name,
        remoteId,
      })),
    ...stillListed.map(({ name, id }): Warning => ({
      code: NOT_SHOWN_YET,
      message: `the ${kind} “${name}” was deleted a moment ago and the list still shows it; it counts as gone`,
      kind,
      name,
      remoteId: id,
    })),
  ]);
}

/** Duplicates, near names, names that the service changed, and ids that it lists under several names. */
export function catalogWarnings(diffs: readonly KindDiff[], extras: readonly JudgedEntry[]): Warning[] {
  return diffs.flatMap((diff) => [
    ...diff.duplicates.map(({ name, kept, others }): Warning => ({
      code: 'duplicate',
      message: `the ${diff.kind} “${name}” is there ${others.length + 1} times; ${kept.id} stays, besides it ${others
        .map((entry) => entry.id)
        .join(', ')}`,
      kind: diff.kind,
      name,
    })),
    ...nearWarnings(diff, extras),
    ...severalNames(diff),
    ...diff.changedNames.map(({ entry, requested }): Warning => ({
      code: 'name_changed',
      message: `the service shows the ${diff.kind} “${requested}” as “${entry.name}”; they count as the same entry`,
      kind: diff.kind,
      name: requested,
      remoteId: entry.id,
    })),
  ]);
}

function severalNames({ kind, present }: KindDiff): Warning[] {
  return present.flatMap(({ id, name, otherNames }): Warning[] => {
    if (otherNames === undefined) return [];
    const names = [name, ...otherNames].map((each) => `“${each}”`).join(' and ');
    return [
      {
        code: 'several_names',
        message: `the service lists the ${kind} ${id} under ${otherNames.length + 1} names, ${names}; it counts as one entry that has each of them`,
        kind,
        name,
        remoteId: id,
      },
    ];
  });
}

function nearWarnings(diff: KindDiff, extras: readonly JudgedEntry[]): Warning[] {
  const going = extras.flatMap((judged): Warning[] => {
    if (judged.kind !== diff.kind || judged.nearName === null) return [];
    const { entry } = judged.extra;
    return [
      {
        code: 'near_name',
        message: `the ${diff.kind} “${entry.name}” (${people(judged.usedBy.length)}) differs from the desired “${judged.nearName}” only in case, white space, diacritics or form; if it is a rename, declare it with formerly`,
        kind: diff.kind,
        name: entry.name,
        remoteId: entry.id,
      },
    ];
  });
  const seen = new Map<string, string>();
  const twins = diff.desired.flatMap(({ name }): Warning[] => {
    const other = seen.get(nearKey(name));
    if (other === undefined) {
      seen.set(nearKey(name), name);
      return [];
    }
    return [
      {
        code: 'near_name',
        message: `the desired ${diff.kind}s “${other}” and “${name}” differ only in case, white space, diacritics or form`,
        kind: diff.kind,
        name,
      },
    ];
  });
  return [...going, ...twins];
}

/** Approvals that have ended and approvals that name nothing that is there. */
export function approvalWarnings(
  approvals: readonly ApprovedDelete[],
  diffs: readonly KindDiff[],
  today: string,
): Warning[] {
  return approvals.flatMap(({ kind, name, expires }): Warning[] => {
    if (expires !== undefined && expires < today) {
      return [
        {
          code: 'approval_expired',
          message: `approvedDeletes: the approval of the ${kind} “${name}” ended on ${expires}`,
          kind,
          name,
        },
      ];
    }
    const diff = diffs.find((candidate) => candidate.kind === kind);
    if (diff?.present.some((entry) => nameKey(entry.name) === nameKey(name)) === true) return [];
    return [
      {
        code: 'approval_unused',
        message:
          diff === undefined
            ? `approvedDeletes: ${kind}s are not managed by this file, so the approval of “${name}” does nothing`
            : `approvedDeletes: no ${kind} “${name}” is there; remove the approval`,
        kind,
        name,
      },
    ];
  });
}
