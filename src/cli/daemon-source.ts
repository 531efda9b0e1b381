// Where the daemon reads its configuration, how it notices changes, and how it reads posted files.
import path from 'node:path';
import { filesFromMemory } from '../config/configuration-files.ts';
import { createConfigurationSource } from '../config/configuration-source.ts';
import { type SettledConfiguration, settledConfiguration } from '../config/settled-configuration.ts';
import { loadConfiguration } from '../config/load-configuration.ts';
import { refKey } from '../config/secret-references.ts';
import { resolveSecret, secretValue } from '../config/secrets.ts';
import { ConfigError, errorsOf } from '../core/errors.ts';
import type { RunSignals } from '../core/ports/clock.ts';
import type { SecretUse, ServiceSettings } from '../core/settings.ts';
import type { AccountRegistry } from '../daemon/account-registry.ts';
import { type GitSource, NO_GIT_SOURCE, openGitSource } from '../daemon/git-source.ts';
import type { Log } from '../daemon/log.ts';
import type { Metrics } from '../daemon/metrics.ts';
import { readPosted } from '../daemon/http/posted-body.ts';
import { createWatch } from '../daemon/watch.ts';
import { Checkout, checkoutRoot } from '../git/checkout.ts';
import { createCommitReader } from '../git/commit.ts';
import type { PostedFiles } from '../run/posted-plan.ts';
import { POSTED_ROOT } from '../run/posted-token.ts';
import { describeFailure } from '../run/run-result.ts';

/** What the start of the process has read and opened. */
export interface Opened {
  readonly configFile: string;
  /** The service file beside the process, and the source that has read it. */
  readonly service: ServiceSettings;
  readonly files: SettledConfiguration;
  readonly signals: Pick<RunSignals, 'stop'>;
  readonly log: Log;
  readonly metrics: Metrics;
  /** Closes what is open; the last function is called first. */
  readonly closers: (() => Promise<void>)[];
}

/** Where the configuration comes from. */
export interface Source {
  readonly configuration: SettledConfiguration;
  /** The settings that the daemon starts with. */
  readonly service: ServiceSettings;
  readonly git: GitSource;
}

/** The files beside --config or, with `source.git`, the daemon's own checkout. */
export async function openSource({
  configFile,
  service,
  files,
  signals,
  log,
  metrics,
  closers,
}: Opened): Promise<Source> {
  const settings = service.source?.git;
  if (settings === undefined) return { configuration: files, service, git: NO_GIT_SOURCE };
  const { credentials, intervalMs } = settings;
  const checkout = await Checkout.open(settings, checkoutRoot(service), async () =>
    credentials === undefined ? undefined : await resolveSecret(credentials, 'git credentials'),
  );
  const git = await openGitSource({ checkout, intervalMs, log, metrics });
  closers.push(() => git.close());
  const fetched = createConfigurationSource(configFile, createCommitReader(), { checkout });
  const configuration = settledConfiguration(fetched, signals.stop);
  return { configuration, service: (await configuration.read()).service ?? service, git };
}

/** Reloads the configuration when its files or its repository change. */
export function watchFiles(
  { configFile, log, closers }: Pick<Opened, 'configFile' | 'log' | 'closers'>,
  { configuration, git }: Source,
  registry: AccountRegistry,
): void {
  const watch = createWatch(() => void registry.reload(), log);
  const follow = (): void =>
    watch.follow([path.resolve(configFile), ...registry.accounts().map(({ file }) => file)]);
  follow();
  registry.onChange(follow);
  configuration.onChange(async () => {
    await registry.reload();
    log.info({ event: 'config_changed' }, 'the changed files of the configuration are used');
  });
  git.onUpdate(() => void registry.reload());
  closers.push(() => watch.close());
}

/** Names of all accounts together: a file is parsed at once, and its names are merged for each account that extends it. */
const MAX_NAMES = 60_000;
const MAX_ACCOUNTS = 500;

/**
 * Reads the files in the body of a request; `own` are the secrets of the daemon's own configuration. Resolves with the
 * problem when the body is not a posted configuration. Throws UsageError when its files have too many names, and
 * ConfigError for an invalid service file.
 */
export async function readPostedFiles(
  body: Uint8Array,
  own: readonly SecretUse[],
): Promise<PostedFiles | { readonly problem: string }> {
  const posted = readPosted(body);
  if ('problem' in posted) return posted;
  const { config, files, accounts, commit } = posted.value;
  const tokens = new Set(own.filter(({ account }) => account !== undefined).map(({ ref }) => refKey(ref)));
  const loaded = await loadConfiguration(path.join(POSTED_ROOT, config), {
    files: filesFromMemory(POSTED_ROOT, files),
    mostNames: MAX_NAMES,
    // Posted files must not have the daemon read anything else of its machine.
    secretOf: async (ref) => (tokens.has(refKey(ref)) ? await secretValue(ref) : undefined),
  });
  if (loaded.service === undefined) throw new ConfigError(errorsOf(loaded.issues));
  const byName = new Map(loaded.accounts.map((account) => [account.name, account]));
  const names = accounts.length > 0 ? accounts : [...byName.keys()];
  if (names.length > MAX_ACCOUNTS)
    return {
      problem: `${names.length} accounts are to be planned, and at most ${MAX_ACCOUNTS} can be at a time; name fewer accounts`,
    };
  return {
    names,
    commit,
    account(name) {
      const { settings, issues } = byName.get(name) ?? {};
      if (settings !== undefined) return { settings };
      return issues === undefined ? {} : { failure: describeFailure(new ConfigError(errorsOf(issues))) };
    },
  };
}
