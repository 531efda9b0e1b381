// Plans what accounts should contain by a proposed change, with the history of this store. Writes nothing.
import { type DesiredCatalog, KINDS, type Policy } from '../core/catalog.ts';
import { type PlanResult, UNKNOWN_ACCOUNT } from '../core/plan.ts';
import type { RunSignals } from '../core/ports/clock.ts';
import { type AccountSettings, type ApiSettings, configDigest, type ConfigCommit } from '../core/settings.ts';
import { type AccountRequest, type PlanningDeps } from './request.ts';
import { type AccountJournal, observe, readOnlyJournal } from './observe.ts';
import { planAccount } from './plan-account.ts';
import { describeFailure } from './run-result.ts';

/** The most accounts in one body. */
export const MAX_POSTED = 500;

/** A proposed change of an account. Its address, its token and its rules are always those of this daemon. */
export interface PostedPlan {
  readonly account: string;
  readonly desired: DesiredCatalog;
  readonly policy: Policy;
  /** null outside of git. */
  readonly commit: Pick<ConfigCommit, 'sha' | 'committedAt'> | null;
}

/** The change of an account as `plan --server` sends it: a name without former names is a text. */
export function postOf({ desired, ...others }: PostedPlan): object {
  const lists = KINDS.map((of) => [
    of,
    desired[of]?.map((each) => (each.formerly.length === 0 ? each.name : each)),
  ]);
  return { ...others, desired: { ...desired, ...Object.fromEntries(lists) } };
}

export interface PostedPlanOptions {
  readonly deps: PreviewDeps;
  readonly signals: RunSignals;
  readonly api: ApiSettings;
  /** The accounts of the daemon; without settings where their file is invalid. */
  readonly accounts: ReadonlyMap<string, AccountSettings | undefined>;
}

const MAX_CONCURRENT = 4;
const UNKNOWN = {
  code: UNKNOWN_ACCOUNT,
  message:
    'this daemon does not have the account yet: it is planned once the daemon’s own configuration has it',
};

/** Plans the proposed changes, in their order. A failure concerns one account. */
export async function planPosted(
  posted: readonly PostedPlan[],
  { deps, signals, api, accounts }: PostedPlanOptions,
): Promise<readonly PlanResult[]> {
  const configured = new Set(accounts.keys());
  async function planOne({ account, desired, policy, commit }: PostedPlan): Promise<PlanResult> {
    const own = accounts.get(account);
    if (own === undefined) return { schemaVersion: 1, account, status: 'failed', error: UNKNOWN };
    const changed = { ...own, desired, policy };
    const settings = { ...changed, configDigest: configDigest(changed, deps.sha256) };
    const authored = { dirty: false, authoredAt: commit?.committedAt ?? '', author: null, subject: '' };
    const request = { settings, api, commit: commit && { ...commit, ...authored }, configured };
    return await preview({ ...request, trigger: 'manual', signals: { ...signals } }, deps);
  }
  const results: PlanResult[] = [];
  const queue = posted.entries();
  const worker = async (): Promise<void> => {
    for (const [index, each] of queue) results[index] = await planOne(each);
  };
  await Promise.all(Array.from({ length: MAX_CONCURRENT }, worker));
  return results;
}

/** What a preview needs: reads of the journal, and a look-up of claims that claims nothing itself. */
export interface PreviewDeps extends Omit<PlanningDeps, 'journal'> {
  readonly journal: AccountJournal & Pick<PlanningDeps['journal'], 'rolloutHistory'>;
}

/** Observes and plans; writes neither to the service nor to the store. Returns a failure as a value. */
export async function preview(request: AccountRequest, deps: PreviewDeps): Promise<PlanResult> {
  const { accountState, rolloutHistory } = deps.journal;
  const journal = { ...readOnlyJournal(deps.journal), accountState, rolloutHistory };
  try {
    const reader = await deps.service.reader(request.settings, request.signals);
    const run = { runId: '', request, deps: { ...deps, journal }, reader };
    const state = await accountState(request.settings.name);
    return (await planAccount(run, await observe(run, { state, writes: false }))).plan;
  } catch (error) {
    const { name: account } = request.settings;
    return { schemaVersion: 1, account, status: 'failed', error: describeFailure(error) };
  }
}
