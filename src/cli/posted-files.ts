// Reads posted configuration files, for a daemon that must answer others meanwhile.
import path from 'node:path';
import type { PostedFiles } from '../run/posted-plan.ts';
import { POSTED_ROOT } from '../run/posted-token.ts';
import { describeFailure } from '../run/run-result.ts';
import { filesFromMemory } from '../config/configuration-files.ts';
import { loadConfiguration } from '../config/load-configuration.ts';
import { ConfigError, UsageError } from '../core/errors.ts';
import { readPosted } from '../daemon/http/posted-body.ts';

/** Names of all accounts together: a file is parsed at once, and its names are merged for each account that extends it. */
const MAX_NAMES = 60_000;

/**
 * Reads the files in the body of a request. Resolves with the problem when the body is not a posted configuration. Throws
 * UsageError when its files have too many names, or its service file cannot be read.
 */
export async function readPostedFiles(body: Uint8Array): Promise<PostedFiles | { readonly problem: string }> {
  const posted = readPosted(body);
  if ('problem' in posted) return posted;
  const { config, files, accounts, commit } = posted.value;
  const loaded = await loadConfiguration(path.join(POSTED_ROOT, config), {
    files: filesFromMemory(POSTED_ROOT, files),
    mostNames: MAX_NAMES,
  }).catch((error: unknown) => {
    throw error instanceof ConfigError ? new UsageError(error.message) : error;
  });
  const byName = new Map(loaded.accounts.map((account) => [account.name, account]));
  return {
    names: accounts.length > 0 ? accounts : [...byName.keys()],
    commit,
    account(name) {
      const account = byName.get(name);
      if (account === undefined) return {};
      if (account.settings !== undefined && loaded.service !== undefined)
        return { settings: account.settings };
      const errors = loaded.issues.filter(({ severity }) => severity === 'error');
      return { failure: describeFailure(new ConfigError(errors)) };
    },
  };
}
