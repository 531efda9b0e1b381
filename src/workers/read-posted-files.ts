// A program that runs as a child process: reads posted files, for a daemon that can end it at any moment.
import path from 'node:path';
import { POSTED_ROOT } from '../app/posted-token.ts';
import { describeFailure } from '../app/run-result.ts';
import { filesFromMemory } from '../config/configuration-files.ts';
import { loadConfiguration } from '../config/load-configuration.ts';
import { ConfigError, UsageError } from '../core/errors.ts';
import type { Configuration } from '../core/settings.ts';
import { serveParent } from '../platform/child-process.ts';
import { readPosted } from './posted-body.ts';
import type { FromReader, ToReader } from './posted-files.ts';

/** Names of all accounts together; one account has at most 100,000. */
const MAX_NAMES = 300_000;

let loaded: Configuration | undefined;

async function load(body: Uint8Array): Promise<FromReader> {
  const posted = readPosted(body);
  if ('problem' in posted) return { type: 'problem', problem: posted.problem };
  const { config, files, accounts, commit } = posted.value;
  try {
    loaded = await loadConfiguration(path.join(POSTED_ROOT, config), {
      files: filesFromMemory(POSTED_ROOT, files),
      mostNames: MAX_NAMES,
    });
  } catch (error) {
    if (!(error instanceof ConfigError || error instanceof UsageError)) throw error;
    return { type: 'failed', message: error.message };
  }
  const names = accounts.length > 0 ? accounts : loaded.accounts.map(({ name }) => name);
  return { type: 'loaded', names, commit };
}

/** The posted account, or why it cannot be planned when its file or the service file has errors. */
function accountNamed(name: string): FromReader {
  const account = loaded?.accounts.find((candidate) => candidate.name === name);
  if (account === undefined) return { type: 'account' };
  if (account.settings !== undefined && loaded?.service !== undefined) {
    return { type: 'account', settings: account.settings };
  }
  const errors = (loaded?.issues ?? []).filter(({ severity }) => severity === 'error');
  return { type: 'account', failure: describeFailure(new ConfigError(errors)) };
}

const answer = serveParent<ToReader, FromReader>((question) => {
  if (question.type === 'account') void answer(accountNamed(question.name));
  else void load(question.body).then(answer);
});
