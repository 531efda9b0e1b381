// The plan of files that somebody sent: loaded from memory, joined with what this daemon knows, and planned.
// An account's token goes to the address only that the daemon's own configuration says, whatever the files ask for.
import path from 'node:path';
import type { AccountRequest } from './request.ts';
import type { PreviewDeps } from './preview.ts';
import { preview } from './preview.ts';
import { LargeAccount } from '../core/errors.ts';
import type { PlanResult } from '../core/plan.ts';
import type { RunSignals } from '../core/ports.ts';
import type { AccountSettings, ApiSettings, ConfigCommit } from '../core/settings.ts';
import type { LoadedConfiguration } from '../config/join-accounts.ts';
import type { PostedConfiguration, PostedOutcome } from '../daemon/daemon-api.ts';
import { type PostedFiles, readPostedFiles } from '../workers/posted-files.ts';

/** What the daemon's own configuration says at this moment. */
export interface OwnConfiguration {
  readonly accounts: LoadedConfiguration['accounts'];
  readonly api: ApiSettings;
  /** A posted account that this configuration does not have, as far as its token may be used; else null. */
  readonly trustPosted: (settings: AccountSettings) => Promise<AccountSettings | null>;
}

export interface PostedPlanOptions {
  readonly deps: PreviewDeps;
  readonly signals: RunSignals;
  /** Plans an account whose lists are too large for this process. */
  readonly previewLarge: (request: AccountRequest) => Promise<PlanResult>;
  readonly own: () => Promise<OwnConfiguration>;
}

const AT_A_TIME = 4;
/** The beginning of every path that posted files name. */
const TOP = path.resolve('/posted') + path.sep;

const UNKNOWN = [
  'unknown_account',
  'this daemon does not have the account yet, and may not or cannot read it: it is planned once the daemon’s own configuration has it',
] as const;

/** Why a new account could not be read: it is reported as new, and fails nothing. */
const UNREACHABLE = new Set(['secret_missing', 'unauthorized', 'unavailable', 'config_invalid']);

/**
 * Plans the accounts of posted files, in the order of their names. Writes nothing; a failure is that account's. Throws
 * UsageError when the files take too much to read.
 */
export async function planPosted(body: Uint8Array, options: PostedPlanOptions): Promise<PostedOutcome> {
  const files = await readPostedFiles(body);
  if ('problem' in files) return files;
  try {
    return { plans: await planFiles(files, options) };
  } finally {
    files.close();
  }
}

async function planFiles(
  files: PostedFiles,
  { deps, signals, previewLarge, own }: PostedPlanOptions,
): Promise<readonly PlanResult[]> {
  const { accounts: ownAccounts, api, trustPosted } = await own();
  const configured = new Set(ownAccounts.map(({ name }) => name));

  async function planOne(name: string): Promise<PlanResult> {
    const account = await files.account(name);
    if (account.failure !== undefined) return failed(name, account.failure.code, account.failure.message);
    if (account.settings === undefined) {
      return failed(name, 'unknown_account', 'no posted file is of this account');
    }
    const ownSettings = ownAccounts.find((one) => one.name === name)?.settings;
    if (ownSettings === undefined) return await planNew(name, account.settings);
    const refusal = reasonToRefuse(account.settings, ownSettings);
    if (refusal !== null) return failed(name, ...refusal);
    // By its own reference the token is found, and it is sent to its own address, whatever else the files ask for.
    return await planWith({
      ...account.settings,
      baseUrl: ownSettings.baseUrl,
      token: ownSettings.token,
      ...(ownSettings.tokenRules === undefined ? {} : { tokenRules: ownSettings.tokenRules }),
    });
  }

  async function planNew(name: string, settings: AccountSettings): Promise<PlanResult> {
    const trusted = await trustPosted(settings);
    if (trusted === null) return failed(name, ...UNKNOWN);
    const result = await planWith(trusted);
    if (result.status !== 'failed' || !UNREACHABLE.has(result.error.code)) return result;
    return failed(name, UNKNOWN[0], `${UNKNOWN[1]} (${result.error.message})`);
  }

  async function planWith(settings: AccountSettings): Promise<PlanResult> {
    const request = {
      settings,
      api,
      commit: commitOf(files),
      configured,
      trigger: 'manual' as const,
      signals: { stop: signals.stop, kill: signals.kill },
    };
    try {
      return await preview(request, deps);
    } catch (error) {
      if (!(error instanceof LargeAccount)) throw error;
      return await previewLarge(request);
    }
  }

  const results: PlanResult[] = [];
  const queue = files.names.entries();
  const worker = async (): Promise<void> => {
    for (const [index, name] of queue) results[index] = await planOne(name);
  };
  await Promise.all(Array.from({ length: AT_A_TIME }, worker));
  return results;
}

function failed(account: string, code: string, message: string): PlanResult {
  return { schemaVersion: 1, account, status: 'failed', error: { code, message } };
}

/** The account as posted must be reached as the daemon reaches it: else its token would go where a stranger says. */
function reasonToRefuse(
  posted: AccountSettings,
  own: AccountSettings,
): readonly [code: string, message: string] | null {
  const differs = (what: string): readonly [string, string] => [
    'identity_mismatch',
    `${what} of the account differs from the daemon’s own configuration; the token is used only as that says, so this change cannot be planned before the daemon has it`,
  ];
  if (posted.baseUrl !== own.baseUrl) return differs('the address');
  if (!isSameSecret(posted, own)) return differs('the token reference');
  return null;
}

function isSameSecret(posted: AccountSettings, own: AccountSettings): boolean {
  if ('env' in posted.token || 'env' in own.token) {
    return 'env' in posted.token && 'env' in own.token && posted.token.env === own.token.env;
  }
  if (posted.token.file === own.token.file) return true;
  // Relative paths are relative to the account's file, here and there.
  const relative = ({ file, token }: AccountSettings): string | null =>
    'file' in token ? path.relative(path.dirname(file), token.file) : null;
  return posted.token.file.startsWith(TOP) && relative(posted) === relative(own);
}

function commitOf({ commit }: Pick<PostedConfiguration, 'commit'>): ConfigCommit | null {
  if (commit === null) return null;
  return { ...commit, dirty: false, authoredAt: commit.committedAt, subject: '' };
}
