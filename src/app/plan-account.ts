// From an observation to a plan: gathers what the journal and git know, and asks the pure core.
import type { DesiredCatalog, ObservedCatalog, Warning } from '../core/catalog.ts';
import { KINDS } from '../core/catalog.ts';
import { nameKey } from '../core/names.ts';
import type { EntryKey } from '../core/usage.ts';
import { entryKey } from '../core/usage.ts';
import { makePlan } from '../core/make-plan.ts';
import type { History } from '../core/history.ts';
import { judgeHistory } from '../core/history.ts';
import type { SourceAge } from '../core/plan-warnings.ts';
import type { Plan } from '../core/plan.ts';
import { nameKeys } from '../core/diff.ts';
import { unshownCreates } from '../core/empty-lists.ts';
import type { FreezeWatch } from './freeze.ts';
import { watchFreeze } from './freeze.ts';
import type { Observation } from './observe.ts';
import type { Acceptance, AccountRequest, PlanningDeps } from './request.ts';

export interface Planned {
  readonly plan: Plan;
  readonly history: History;
  readonly frozen: FreezeWatch;
  /** Whether the configuration is as new as what was last applied, or its age was accepted. */
  readonly sourceAccepted: boolean;
  /** The entries that the file names, by present or former names: adopted by an applied run. */
  readonly named: (observed: ObservedCatalog) => EntryKey[];
}

/** Plans an account from what was observed of it. Writes nothing. */
export async function planAccount(
  observation: Observation,
  accept: Acceptance,
  request: AccountRequest,
  deps: PlanningDeps,
): Promise<Planned> {
  const { settings, api, commit } = request;
  const nowMs = deps.clock.nowMs();
  const memory = await deps.journal.memory(settings.name, observation.remoteAccountId, nowMs);
  const history = judgeHistory(memory, observation.observed, {
    nowMs,
    stalenessMs: api.stalenessMs,
    missingHoldings: observation.missing,
    hasSnapshot: observation.hasSnapshot,
  });
  const source = await sourceAge(request, deps);
  const frozen = await watchFreeze(settings.policy.freeze, settings.timezone, deps.loadCron);
  const plan = makePlan({
    account: settings.name,
    remoteAccountId: observation.remoteAccountId,
    now: new Date(nowMs).toISOString(),
    nowMs,
    desired: settings.desired,
    policy: settings.policy,
    observed: observation.observed,
    history,
    frozen: frozen.openAt(nowMs),
    source,
    acceptOlderSource: accept.olderSource,
    acceptNoHistory: accept.noHistory,
    blocked: accept.shrink
      ? null
      : (observation.implausible ?? unshownCreates(settings.desired, observation.observed, history)),
    warnings: [
      ...observation.observed.warnings,
      ...identityWarnings(observation),
      ...renameWarnings(observation),
    ],
    configDigest: settings.configDigest,
    configCommit: commit?.sha ?? null,
    sha256: deps.sha256,
  });
  return {
    plan,
    history,
    frozen,
    sourceAccepted: source !== 'older' || accept.olderSource,
    named: (observed) => namedEntries(settings.desired, observed, history),
  };
}

/** A pin or a remembered id that nothing confirms: said before a person judges the plan. */
function identityWarnings({ identified, remoteAccountId }: Observation): Warning[] {
  if (identified || remoteAccountId === null) return [];
  return [
    {
      code: 'identity_unknown',
      message: `nothing listed carries an account id, so it is not certain that this is account ${remoteAccountId}; nothing is deleted until the answer to a create says so; what has to go before that can be deleted there by hand`,
    },
  ];
}

function renameWarnings({ formerName }: Observation): Warning[] {
  if (formerName === null) return [];
  return [
    {
      code: 'renamed_account',
      message: `this account was managed as “${formerName}” until its file was renamed; its history is carried on under the new name, and so is a pause`,
    },
  ];
}

function namedEntries(desired: DesiredCatalog, observed: ObservedCatalog, history: History): EntryKey[] {
  return KINDS.flatMap((kind) => {
    const names = new Set(
      (desired[kind] ?? []).flatMap(({ name, formerly }) => [name, ...formerly]).map(nameKey),
    );
    return observed[kind].flatMap((entry) => {
      const key = entryKey(kind, entry.id);
      const requested = history.requestedNames.get(key);
      const all = [...nameKeys(entry), ...(requested === undefined ? [] : [nameKey(requested)])];
      const named = all.some((name) => names.has(name));
      return named ? [key] : [];
    });
  });
}

/** How the configuration's commit stands to the one that the account was last applied from (contract, section 4). */
async function sourceAge(
  { settings, commit }: AccountRequest,
  { journal, compareCommits }: PlanningDeps,
): Promise<SourceAge> {
  const { lastAppliedCommit } = await journal.accountState(settings.name);
  if (lastAppliedCommit === null || commit?.sha === lastAppliedCommit.sha) return 'current';
  if (commit === null) return 'unknown';
  const relation = await compareCommits(commit.sha, lastAppliedCommit.sha);
  switch (relation) {
    case 'same':
    case 'descendant':
      return 'current';
    case 'ancestor':
      return 'older';
    case 'diverged':
      return 'diverged';
    case 'unknown':
      return Date.parse(commit.committedAt) < Date.parse(lastAppliedCommit.committedAt) ? 'older' : 'current';
    default:
      return relation satisfies never;
  }
}
