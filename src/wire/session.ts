// The composition root of a session: the store, the connections and the use cases' dependencies, joined.
import { randomBytes } from 'node:crypto';
import type { AccountRequest, ApplyDeps, DryRunDeps, PlanningDeps } from '../app/request.ts';
import type { Configuration, Session } from '../cli/environment.ts';
import type { Journal, ReadableService } from '../core/ports.ts';
import type { Outbox } from '../core/outbox.ts';
import type { AccountSettings, ConfigCommit, ServiceSettings } from '../core/settings.ts';
import { sha256 } from '../platform/digest.ts';
import type { Connections } from '../service/connections.ts';
import type { RequestObserver } from '../service/requests.ts';
import { systemClock } from '../platform/clock.ts';

export const NO_OBSERVER: RequestObserver = { request: () => undefined, retry: () => undefined };

export interface SessionOptions {
  readonly observer?: (account: string) => RequestObserver;
  /** Sends requests also before the time that the service requested before this process started. */
  readonly ignoreRetryAfter?: boolean;
  /** Lists of more objects are refused as LargeAccount. */
  readonly largeFrom?: number;
  /** Where the configuration's repository is another one than that of the service's file. */
  readonly compareCommits?: PlanningDeps['compareCommits'];
}

/** A session, and what only the daemon asks of the store. */
export interface OpenSession extends Session {
  readonly outbox: Outbox;
  readonly atHost: Connections['atHost'];
}

/** Everything that runs need: the store, the connections, and what the configuration's commit is. */
export async function openSession(
  version: string,
  configuration: Configuration,
  service: ServiceSettings,
  options: SessionOptions = {},
): Promise<OpenSession> {
  const { observer = () => NO_OBSERVER, ignoreRetryAfter = false } = options;
  const { openStore } = await import('../store/store.ts');
  const store = openStore(service.store);
  let configured: ReadonlySet<string> = new Set(configuration.accounts.map(({ name }) => name));
  const connections = await connect(
    version,
    service,
    async (account) =>
      ignoreRetryAfter ? null : (await store.journal.accountState(account.name)).throttledUntilMs,
    observer,
    (name) => configured.has(name),
    options.largeFrom,
  );
  const planning = {
    ...planningDeps(anchorOf(configuration, service), store.journal, connections),
    ...(options.compareCommits === undefined ? {} : { compareCommits: options.compareCommits }),
  };
  const applying: ApplyDeps = { ...planning, service: connections, locks: store.locks };
  const commit = await commitOf(configuration, service);
  return {
    planning,
    applying,
    reader: store.reader,
    operator: store.operator,
    commit,
    outbox: store.outbox,
    atHost: (baseUrl, call) => connections.atHost(baseUrl, call),
    requestFor: (settings, trigger, signals): AccountRequest => ({
      settings,
      api: service.api,
      commit,
      configured,
      trigger,
      // A new object for each run: what a run was told by the service (a refused token) binds no other run.
      signals: { stop: signals.stop, kill: signals.kill },
    }),
    setConfigured(names) {
      configured = names;
    },
    checkStore: () => store.check(),
    verifyStore: (signal) => store.verify(signal),
    async prune(retention = service.retention) {
      await store.prune(retention, Date.now());
    },
    async close() {
      await connections.close();
      await store.close();
    },
  };
}

/** What is handed to those who only ask: an object that has no way to write. */
export function readOnly(connections: Connections): ReadableService {
  return { reader: (account, signals) => connections.reader(account, signals) };
}

/** What plans is given a service that has no way to write. */
function planningDeps(configFile: string, journal: Journal, connections: Connections): DryRunDeps {
  return {
    service: readOnly(connections),
    journal,
    clock: systemClock,
    newRunId: () => uuidv7(Date.now()),
    sha256,
    compareCommits: async (a, b) => (await import('../git/commit.ts')).compareCommits(configFile, a, b),
    loadCron: async () => (await import('../daemon/cron.ts')).cronTicked,
  };
}

export async function connect(
  version: string,
  service: ServiceSettings,
  throttledUntilMs: (account: AccountSettings) => Promise<number | null>,
  observer: (account: string) => RequestObserver,
  isConfigured: (account: string) => boolean,
  largeFrom = Infinity,
): Promise<Connections> {
  const { createConnections } = await import('../service/connections.ts');
  const { resolveToken } = await import('../config/secrets.ts');
  const { readAuthorities } = await import('../config/secrets.ts');
  return createConnections({
    api: service.api,
    version,
    token: resolveToken,
    authorities: readAuthorities,
    largeFrom,
    throttledUntilMs,
    observer,
    isConfigured,
  });
}

export async function commitOf(
  configuration: Configuration,
  service: ServiceSettings,
): Promise<ConfigCommit | null> {
  const { readConfigCommit } = await import('../git/commit.ts');
  const files = configuration.accounts.map(({ file }) => file);
  return (await readConfigCommit(anchorOf(configuration, service), files)) ?? null;
}

/** A file that stands in the configuration's repository: with `source.git` only the accounts do. */
function anchorOf({ accounts }: Configuration, { file, source }: ServiceSettings): string {
  return source === undefined ? file : (accounts[0]?.file ?? file);
}

/** A UUIDv7 (RFC 9562): its order is the order of time. */
export function uuidv7(nowMs: number): string {
  const bytes = randomBytes(16);
  bytes.writeUIntBE(nowMs, 0, 6);
  bytes.writeUInt8((bytes.readUInt8(6) & 0x0f) | 0x70, 6);
  bytes.writeUInt8((bytes.readUInt8(8) & 0x3f) | 0x80, 8);
  const hex = bytes.toString('hex');
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-');
}
