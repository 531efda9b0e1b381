// Joins the parts of a daemon that is one of several replicas on a PostgreSQL store.
import type { ConfigurationSource } from '../config/configuration-source.ts';
import type { ServiceSettings } from '../core/settings.ts';
import type { TurnStore } from '../core/turn-store.ts';
import type { AccountRegistry } from '../daemon/account-registry.ts';
import type { DaemonOptions } from '../daemon/daemon.ts';
import { createReplicaTurns } from '../daemon/replicas/replica-turns.ts';
import type { StoreHealth } from '../daemon/store-health.ts';
import type { ReplicaConfiguration } from '../daemon/replicas/stored-configuration.ts';
import type { Session } from '../cli/compose.ts';
import { uuidv7 } from '../platform/digest.ts';

interface Parts {
  readonly version: string;
  /** The settings that the daemon was started with. */
  readonly service: ServiceSettings;
  readonly configuration: ConfigurationSource;
  readonly registry: AccountRegistry;
  readonly session: Session;
  readonly health: StoreHealth;
}

export function replicaTurns(store: TurnStore, parts: Parts): NonNullable<DaemonOptions['createTurns']> {
  const { version, service, configuration, registry, session, health } = parts;
  return (shared) =>
    createReplicaTurns({
      ...shared,
      store,
      version,
      report: (part, error) => health.report(part, error),
      random: Math.random,
      newId: () => uuidv7(Date.now()),
      leaseMs: Math.floor(service.daemon.leaseMs * BEFORE_TAKEOVER),
      compareCommits: (a, b) => configuration.compareCommits(a, b),
      readConfiguration: () => readConfiguration(registry),
      readCommit: () => registry.commit(),
      onReplicas: (replicas) => session.shareHosts(replicas),
    });
}

/** The rest of the lease is left to the others, who notice only at their next beat that this replica is dead. */
const BEFORE_TAKEOVER = 0.7;

/** How often the files are read again when a commit was checked out meanwhile. */
const MOST_READINGS = 5;

/** The schedules and the commit that they belong to. */
async function readConfiguration(registry: AccountRegistry): Promise<ReplicaConfiguration> {
  for (let reading = 1; ; reading += 1) {
    const before = await registry.commit();
    await registry.reload();
    const commit = await registry.commit();
    if (before?.sha === commit?.sha || reading === MOST_READINGS)
      return { schedules: registry.schedules(), commit };
  }
}
