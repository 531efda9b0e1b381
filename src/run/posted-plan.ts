// Plans configuration files that somebody posted, with the history of this store. Writes nothing.
import { type PlanResult, UNKNOWN_ACCOUNT } from '../core/plan.ts';
import type { RunSignals } from '../core/ports/clock.ts';
import type { AccountSettings, ApiSettings, ConfigCommit, Configuration } from '../core/settings.ts';
import { tokenUse } from './posted-token.ts';
import { type AccountRequest, type PlanningDeps } from './request.ts';
import { type AccountJournal, observe, readOnlyJournal } from './observe.ts';
import { planAccount } from './plan-account.ts';
import { describeFailure } from './run-result.ts';

/** The account is planned with `settings`, or not because of `failure`. Neither: no posted file is of the account. */
export interface PostedAccount {
  readonly settings?: AccountSettings;
  readonly failure?: { readonly code: string; readonly message: string };
}

/** The configuration files of a working tree, to be planned with this daemon's history. */
export interface PostedConfiguration {
  /** The service file among `files`. */
  readonly config: string;
  /** Text by relative path, with slashes, below one root. */
  readonly files: Readonly<Record<string, string>>;
  /** The accounts to plan; none means all. */
  readonly accounts: readonly string[];
  /** The commit of the working tree, when it is in git. */
  readonly commit: PostedFiles['commit'];
}

/** Posted files that have been read. */
export interface PostedFiles {
  /** The accounts to plan, in their order. */
  readonly names: readonly string[];
  readonly commit: { readonly sha: string; readonly committedAt: string } | null;
  readonly account: (name: string) => PostedAccount;
}

/** The daemon's own configuration at this moment. */
export interface OwnConfiguration {
  readonly accounts: Configuration['accounts'];
  readonly api: ApiSettings;
}

/** `problem`: the body is not a posted configuration. */
export type PostedOutcome = { readonly plans: readonly PlanResult[] } | { readonly problem: string };

export interface PostedPlanOptions {
  readonly deps: PreviewDeps;
  readonly signals: RunSignals;
  /** Reads the body of a request. Throws UsageError when its files have too many names. */
  readonly readFiles: (body: Uint8Array) => Promise<PostedFiles | { readonly problem: string }>;
  readonly own: () => Promise<OwnConfiguration>;
}

const MAX_CONCURRENT = 4;

/**
 * Plans the accounts of posted files, in the order of their names. A failure concerns one account. Throws UsageError
 * when the files have too many names.
 */
export async function planPosted(body: Uint8Array, options: PostedPlanOptions): Promise<PostedOutcome> {
  const files = await options.readFiles(body);
  return 'problem' in files ? files : { plans: await planFiles(files, options) };
}

async function planFiles(
  files: PostedFiles,
  { deps, signals, own }: PostedPlanOptions,
): Promise<readonly PlanResult[]> {
  const { accounts: ownAccounts, api } = await own();
  const configured = new Set(ownAccounts.map(({ name }) => name));

  async function planOne(name: string): Promise<PlanResult> {
    const { settings, failure } = files.account(name);
    if (failure !== undefined) return failed(name, failure);
    if (settings === undefined) {
      return failed(name, { code: UNKNOWN_ACCOUNT, message: 'no posted file is of this account' });
    }
    const ownSettings = ownAccounts.find((account) => account.name === name)?.settings;
    const use = tokenUse(settings, ownSettings);
    if ('refusal' in use) return failed(name, use.refusal);
    const run = { settings: use.settings, api, commit: commitOf(files), configured };
    return await preview({ ...run, trigger: 'manual', signals: { ...signals } }, deps);
  }

  const results: PlanResult[] = [];
  const queue = files.names.entries();
  const worker = async (): Promise<void> => {
    for (const [index, name] of queue) results[index] = await planOne(name);
  };
  await Promise.all(Array.from({ length: MAX_CONCURRENT }, worker));
  return results;
}

function failed(account: string, error: { readonly code: string; readonly message: string }): PlanResult {
  return { schemaVersion: 1, account, status: 'failed', error: { code: error.code, message: error.message } };
}

function commitOf({ commit }: PostedFiles): ConfigCommit | null {
  if (commit === null) return null;
  return { ...commit, dirty: false, authoredAt: commit.committedAt, author: null, subject: '' };
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
