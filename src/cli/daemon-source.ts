// Where the daemon reads its configuration, and how it notices changes.
import path from 'node:path';
import {
  createConfigurationSource,
  type SettledConfiguration,
  settledConfiguration,
} from '../config/configuration-source.ts';
import { resolveSecret } from '../config/secrets.ts';
import type { RunSignals } from '../core/ports/clock.ts';
import type { ServiceSettings } from '../core/settings.ts';
import type { AccountRegistry } from '../daemon/account-registry.ts';
import { type GitSource, NO_GIT_SOURCE, openGitSource } from '../daemon/git-source.ts';
import type { Log } from '../daemon/log.ts';
import type { Metrics } from '../daemon/metrics.ts';
import { createWatch } from '../daemon/watch.ts';
import { Checkout, checkoutRoot } from '../git/checkout.ts';
import { createCommitReader } from '../git/commit.ts';

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
