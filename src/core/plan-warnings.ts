// The warnings of a plan: what an operator should know that is neither a change nor a failure.
import { count } from './amounts.ts';
import {
  allowanceText,
  isOpen,
  isRunLine,
  LIMIT_RELEASED,
  runLine,
  usedUpBy,
  usedUpText,
} from './allowed-deletes.ts';
import type { AllowedEntry, AllowedRun, Warning } from './catalog.ts';
import type { KindDiff } from './diff.ts';
import type { History } from './history.ts';
import { compareCodePoints, nameDifference, nameKey, nearKey } from './names.ts';
import { NO_HISTORY, NOT_SHOWN_YET, NOTHING_MANAGED, OLDER_SOURCE } from './plan.ts';
import type { JudgedEntry, Judgement, PolicyContext } from './rule-facts.ts';

/** Warns of a file with neither kind: a kind that is left out is not managed, so the file is probably unfinished. */
export function managesNothing(account: string, diffs: readonly KindDiff[]): Warning[] {
  if (diffs.length > 0) return [];
  const message = `the file has neither skills nor roles, so rolecall manages nothing in this account; add \`skills:\` or \`roles:\`, or run \`rolecall dump ${account} --write\` to fill in what the account contains now`;
  return [{ code: NOTHING_MANAGED, message }];
}

/** Warns of missing history and of an older, unknown or unrelated commit, including what the operator accepted. */
export function historyWarnings({
  history,
  source,
  acceptOlderSource,
  acceptNoEvidence,
}: Pick<PolicyContext, 'history' | 'source' | 'acceptOlderSource' | 'acceptNoEvidence'>): Warning[] {
  const warnings: Warning[] = [];
  if (!history.hasSnapshot) {
    const deletes = acceptNoEvidence
      ? 'deletes are allowed by --accept no_evidence'
      : 'deletes are held until the next plan or run on this store';
    warnings.push({
      code: NO_HISTORY,
      message: `the store contains no earlier lists of this account, so ownership, an older source, flapping, the limit of a day and lists that shrank cannot be checked; ${deletes}`,
    });
  }
  if (source === 'older' && acceptOlderSource) {
    const message = 'the configuration is older than the one last applied; accepted by --accept source';
    warnings.push({ code: OLDER_SOURCE, message });
  }
  if (source === 'unknown') {
    const changes = acceptOlderSource ? 'accepted by --accept source' : 'every change is held (source)';
    warnings.push({
      code: 'unknown_source',
      message: `the commit of this configuration is unknown, so rolecall cannot check whether it is older than the commit last applied to this account; ${changes}. Check that git is installed, accepts the repository and tracks the file`,
    });
  }
  if (source === 'diverged') {
    warnings.push({
      code: 'diverged_source',
      message:
        'the commit of this configuration and the commit last applied to this account are on different branches of the git history; check that this is the intended branch',
    });
  }
  return warnings;
}

/**
 * Warns of recently confirmed changes that no list shows yet. They count as done for two minutes, and a run that relies
 * on them is not converged.
 */
export function staleListWarnings(history: History, diffs: readonly KindDiff[]): Warning[] {
  return diffs.flatMap(({ kind, stillListed }) => [
    ...history.awaited
      .filter((entry) => entry.kind === kind)
      .sort((a, b) => compareCodePoints(a.name, b.name))
      .map(({ name, remoteId }): Warning => ({
        code: NOT_SHOWN_YET,
        message: `the ${kind} “${name}” was created recently and no list shows it yet; it counts as existing`,
        kind,
        name,
        remoteId,
      })),
    ...stillListed.map(({ name, id }): Warning => ({
      code: NOT_SHOWN_YET,
      message: `the ${kind} “${name}” was deleted recently and the list still shows it; it counts as deleted`,
      kind,
      name,
      remoteId: id,
    })),
  ]);
}

/** Warns of duplicates, near names, and names that the service changed. */
export function catalogWarnings(diffs: readonly KindDiff[], extras: readonly JudgedEntry[]): Warning[] {
  return diffs.flatMap((diff) => [
    ...diff.duplicates.map(({ name, kept, others }): Warning => ({
      code: 'duplicate',
      message: `the ${diff.kind} “${name}” exists ${others.length + 1} times; ${kept.id} is kept, its ${others.length === 1 ? 'duplicate is' : 'duplicates are'} ${others
        .map((entry) => entry.id)
        .join(', ')}`,
      kind: diff.kind,
      name,
    })),
    ...nearWarnings(diff, extras),
    ...diff.changedNames.map(({ entry, requested }): Warning => ({
      code: 'name_changed',
      message: `the service lists “${requested}” as “${entry.name}”; rolecall treats them as the same ${diff.kind}`,
      kind: diff.kind,
      name: requested,
      remoteId: entry.id,
    })),
  ]);
}

/** Warns of extra entries, and of desired names, that a reader may take for another desired name. */
function nearWarnings(diff: KindDiff, extras: readonly JudgedEntry[]): Warning[] {
  const { kind } = diff;
  const ofKind = extras.filter((judged) => judged.kind === kind);
  const nearExtras = ofKind.flatMap(({ extra: { entry, nearName }, usedBy }): Warning[] =>
    nearName === undefined
      ? []
      : [
          {
            code: 'near_name',
            message: `the ${kind} “${entry.name}” (${count(usedBy.length, 'person', 'people')}) is nearly the desired “${nearName}”: ${nameDifference(entry.name, nearName)}; if it is a rename, declare it with \`formerly\``,
            kind,
            name: entry.name,
            remoteId: entry.id,
          },
        ],
  );
  return [...nearExtras, ...nearDesired(diff)];
}

function nearDesired({ kind, desired }: KindDiff): Warning[] {
  const seen = new Map<string, string>();
  return desired.flatMap(({ name }): Warning[] => {
    const key = nearKey(name);
    const other = seen.get(key);
    if (other === undefined) {
      seen.set(key, name);
      return [];
    }
    return [
      {
        code: 'near_name',
        message: `the desired ${kind}s “${other}” and “${name}” are nearly the same: in “${name}”, ${nameDifference(name, other)}; if they are the same, remove one`,
        kind,
        name,
      },
    ];
  });
}

/** Warns of lines of `allowedDeletes` that have expired or are used up, that name no existing entry, or several extra ones. */
export function allowedDeleteWarnings(
  diffs: readonly KindDiff[],
  { released }: Pick<Judgement, 'released'>,
  context: Pick<PolicyContext, 'allowances' | 'history' | 'today'>,
): Warning[] {
  const lines = context.allowances.flatMap((line): Warning[] =>
    isRunLine(line) ? runWarnings(line, context) : entryWarnings(line, diffs, context),
  );
  if (released === null) return lines;
  const message = `allowedDeletes: ${runLine(released)} releases the limits of deletes for this run, which uses it up`;
  return [...lines, { code: LIMIT_RELEASED, message, name: allowanceText(released) }];
}

function runWarnings(
  line: AllowedRun,
  { history, today }: Pick<PolicyContext, 'history' | 'today'>,
): Warning[] {
  const run = history.releasedRuns.get(allowanceText(line));
  if (isOpen(line, today) && run === undefined) return [];
  return [
    run === undefined
      ? {
          code: 'allowed_delete_expired',
          message: `allowedDeletes: ${runLine(line)} expired; remove it or extend it`,
        }
      : {
          code: 'allowed_delete_used',
          message: `allowedDeletes: run ${run} used up ${runLine(line)}; remove it`,
        },
  ];
}

function entryWarnings(
  line: AllowedEntry,
  diffs: readonly KindDiff[],
  { history, today }: Pick<PolicyContext, 'history' | 'today'>,
): Warning[] {
  const { kind, name, expires } = line;
  const warning = (code: string, message: string, remoteId?: string): Warning[] => [
    {
      code,
      message: `allowedDeletes: ${message}`,
      kind,
      name,
      ...(remoteId === undefined ? {} : { remoteId }),
    },
  ];
  if (!isOpen(line, today))
    return warning(
      'allowed_delete_expired',
      `the line for the ${kind} “${name}” expired on ${expires}; remove it or extend it`,
    );
  const diff = diffs.find((candidate) => candidate.kind === kind);
  const extras = diff?.extras.filter(({ entry }) => nameKey(entry.name) === nameKey(name)) ?? [];
  if (extras.length > 1) {
    const ids = extras.map(({ entry }) => entry.id).join(', ');
    return warning(
      'allowed_delete_ambiguous',
      `the line for the ${kind} “${name}” names ${extras.length} entries (${ids}), so it releases none that people have; delete by hand all but one of them in the service`,
    );
  }
  const entry = diff?.present.find((each) => nameKey(each.name) === nameKey(name));
  if (entry === undefined)
    return warning(
      'allowed_delete_unused',
      diff === undefined
        ? `${kind}s are not managed by this file, so the line for “${name}” has no effect; remove it`
        : `no ${kind} “${name}” exists; remove the line`,
    );
  const used = usedUpBy(line, entry.id, history.released);
  if (used === null) return [];
  return warning(
    'allowed_delete_used',
    `${usedUpText(line, used)}, so it does not release this ${kind}; remove the line, or write another \`expires\``,
    entry.id,
  );
}
