// Joins what a command or the daemon works with: the store, the connections, and the dependencies of the use cases.
import { settingsDigest } from '../run/changes-during-run.ts';
import {
  ACCEPT_NOTHING,
  type Acceptance,
  type AccountRequest,
  type ApplyDeps,
  type DryRunDeps,
  type PlanningDeps,
} from '../run/request.ts';
import type { ConfigurationSource } from '../config/configuration-source.ts';
import { shownPath } from '../config/yaml/source-text.ts';
import { StoreError } from '../core/errors.ts';
import type { Clock, RunSignals } from '../core/ports/clock.ts';
import type { ReadableService } from '../core/ports/service.ts';
import type { CheckoutPlace } from '../core/ports/repository.ts';
import { commitsAddress } from '../core/remote-address.ts';
import type {
  AccountSettings,
  ConfigCommit,
  Configuration,
  Links,
  ServiceSettings,
} from '../core/settings.ts';
import { checkoutOf } from '../git/checkout.ts';
import { systemClock } from '../system/clock.ts';
import { userAtHost } from '../system/runtime.ts';
import { sha256, uuidv7 } from '../system/digest.ts';
import { showMessage } from './console.ts';
import type { Connections } from '../service/connections.ts';
import { createLeaseKeeper, type LeaseKeeper } from '../store/lease-keeper.ts';
import type { OpenOptions } from '../store/engine.ts';
import type { Store } from '../store/store.ts';
import type { RequestObserver } from '../core/ports/progress.ts';

const NO_OBSERVER: RequestObserver = () => undefined;

/** What a command works with. */
export interface CommandContext {
  readonly version: string;
  /** The path of the service file. */
  readonly configFile: string;
}

interface SessionOptions extends OpenOptions {
  /** Receives the requests of an account. */
  readonly observer?: (account: string) => RequestObserver;
  /** For a configuration in another repository than that of the service file. */
  readonly compareCommits?: PlanningDeps['compareCommits'];
  /** Reads the files of an account again. By default the files of the service file. */
  readonly readFor?: (account: string) => Promise<Configuration>;
  /** What the operator overrides for the runs of this command. */
  readonly accept?: Acceptance;
}

/** What all runs of this process share. `close` closes connections and the store. */
export interface Session {
  readonly planning: DryRunDeps;
  readonly applying: ApplyDeps;
  readonly store: Store;
  /** The commit of the configuration when the session was opened. */
  readonly commit: ConfigCommit | null;
  readonly requestFor: (
    settings: AccountSettings,
    trigger: AccountRequest['trigger'],
    signals: RunSignals,
  ) => AccountRequest;
  /** Deletes old runs and snapshots, by the settings of the session unless others are given. */
  prune(retentionMs?: number): Promise<void>;
  close(): Promise<void>;
  /** What follows is used by the daemon only. */
  readonly lock: LeaseKeeper;
  /** Sets the clock of the store to this time; a smaller difference from that of the machine is ignored. */
  readonly setStoreClock: (storeMs: number, tookMs?: number) => void;
}

/** Opens the store and the connections. Throws StoreError. */
export async function openSession(
  context: CommandContext,
  configuration: Configuration,
  service: ServiceSettings,
  options: SessionOptions = {},
): Promise<Session> {
  const { isPatient = false, accept = ACCEPT_NOTHING } = options;
  const store = await openJournal(service, options);
  const { clock, setStoreClock } = createStoreClock();
  const lock = createLeaseKeeper({ locks: store.locks, clock: systemClock, onStoreClock: setStoreClock });
  // A clock that is ahead must not delete the journal: time passes from the newest run of other processes, by a clock that
  // nobody can set.
  const openedMs = (await store.newestEndMs(Date.now()).catch(notIf(isPatient))) ?? Date.now();
  const steadyOpenedMs = systemClock.steadyMs();
  const configured: ReadonlySet<string> = new Set(configuration.accounts.map(({ name }) => name));
  const connections = await connect(context, service, options);
  const planning: DryRunDeps = {
    service: readOnly(connections),
    journal: store.journal,
    clock,
    newRunId: () => uuidv7(Date.now()),
    sha256,
    compareCommits:
      options.compareCommits ??
      (async (a, b) => {
        const { compareCommits } = await import('../git/commit.ts');
        const files = { file: fileInRepository(configuration, service), others: filesOf(configuration) };
        return await compareCommits(files, a, b);
      }),
    loadCron: async () => (await import('../daemon/cron.ts')).cronTicked,
  };
  const commit = await commitOf(configuration, service);
  const actor = userAtHost();
  return {
    planning,
    applying: {
      ...planning,
      service: connections,
      locks: lock,
      currentDigest: digestReader(options.readFor ?? accountReader(service)),
    },
    store,
    commit,
    lock,
    setStoreClock,
    requestFor: (settings, trigger, signals) => ({
      settings,
      api: service.api,
      commit,
      configured,
      trigger,
      actor,
      // A new object for each run, so that a token that the service refused in one run is tried again in the next.
      signals: lock.signals(signals),
      accept,
    }),
    async prune(retentionMs = service.retentionMs) {
      const passedMs = systemClock.steadyMs() - steadyOpenedMs;
      await store.prune(retentionMs, Math.min(Date.now(), openedMs + passedMs));
    },
    async close() {
      await lock.stop();
      await connections.close();
      await store.close();
    },
  };
}

/** A smaller difference is that of the measurement. */
const CLOCK_TOLERANCE_MS = 1000;

/** The clock by which runs are journaled: ages of what another machine did are judged by the clock of the store. */
function createStoreClock(): Pick<Session, 'setStoreClock'> & { readonly clock: Clock } {
  let aheadMs = 0;
  return {
    clock: { ...systemClock, nowMs: () => systemClock.nowMs() + aheadMs },
    setStoreClock(storeMs, tookMs = 0) {
      // The store has read its clock at some moment in between.
      const measuredMs = storeMs + tookMs / 2 - systemClock.nowMs();
      aheadMs = Math.abs(measuredMs) < CLOCK_TOLERANCE_MS + tookMs / 2 ? 0 : measuredMs;
    },
  };
}

/** What a patient process does with a failure of the store: the next attempt may succeed. */
function notIf(isPatient: boolean): (error: unknown) => null {
  return (error) => {
    if (isPatient && error instanceof StoreError) return null;
    throw error;
  };
}

/** Implements `currentDigest`. Without a valid service file no account is valid. */
function digestReader(readFor: (account: string) => Promise<Configuration>): ApplyDeps['currentDigest'] {
  return async (account) => {
    const reading = await readFor(account.name).catch(() => null);
    const settings = reading?.accounts.find(({ name }) => name === account.name)?.settings;
    return reading?.service === undefined || settings === undefined ? null : settingsDigest(settings);
  };
}

/** Reads the files of an account as a command does; the first call reads all accounts. */
function accountReader(service: ServiceSettings): (account: string) => Promise<Configuration> {
  let source: ConfigurationSource | null = null;
  let place: CheckoutPlace | undefined;
  return async (account) => {
    place = await checkoutOf(service);
    if (source === null) {
      const { createConfigurationSource } = await import('../config/configuration-source.ts');
      const { createCommitReader } = await import('../git/commit.ts');
      const checkout = place && { ...place, current: () => place ?? null };
      source = createConfigurationSource(service.file, createCommitReader(), checkout && { checkout });
    }
    return await source.readFor(account);
  };
}

const reported = new Set<string>();

/** For commands that only look. A store that cannot be written is reported once. */
export const LOOKING: OpenOptions = {
  onReadOnly(file) {
    if (!reported.has(file)) showMessage(`${file} cannot be written, so nothing is recorded`);
    reported.add(file);
  },
};

/** Opens the store of a configuration; by default only an existing one, to read it. Throws StoreError. */
export async function openJournal(
  service: ServiceSettings,
  options: OpenOptions = { mustExist: true, ...LOOKING },
): Promise<Store> {
  const { openStore } = await import('../store/store.ts');
  const { openLocation } = await import('../config/store-location.ts');
  return await openStore(await openLocation(service), options);
}

/** The store of a configuration; null when it does not exist yet. Throws StoreError. */
export async function openExistingJournal(service: ServiceSettings): Promise<Store | null> {
  return await openJournal(service).catch((error: unknown) => {
    if (error instanceof StoreError && error.code === 'store_missing') return null;
    throw error;
  });
}

/** Opens the connections to the service. */
export async function connect(
  { version }: CommandContext,
  { api }: ServiceSettings,
  { observer = () => NO_OBSERVER }: Pick<SessionOptions, 'observer'> = {},
): Promise<Connections> {
  const { createConnections } = await import('../service/connections.ts');
  const { readAuthorities, resolveToken } = await import('../config/secrets.ts');
  return createConnections({
    api,
    version,
    token: resolveToken,
    authorities: readAuthorities,
    observer,
  });
}

/** The commit of the configuration; null outside of git. */
export async function commitOf(
  configuration: Configuration,
  service: ServiceSettings,
): Promise<ConfigCommit | null> {
  const { readConfigCommit } = await import('../git/commit.ts');
  return (await readConfigCommit(fileInRepository(configuration, service), filesOf(configuration))) ?? null;
}

/** Where the pages are, and the commits of the configuration if their host is known. */
export async function linksOf({ file, http, source }: ServiceSettings): Promise<Links> {
  const { remoteOrigin } = await import('../git/commit.ts');
  const remote = source?.git.url ?? (await remoteOrigin(file)) ?? '';
  return { publicUrl: http.publicUrl, commitsAt: commitsAddress(remote) };
}

/** What reports show of the configuration. */
export async function sourceDetail(
  { accounts, service }: Pick<Configuration, 'accounts'> & { readonly service: ServiceSettings },
  commit: ConfigCommit | null = null,
) {
  const files = new Map(accounts.map(({ name, file }) => [name, shownPath(file)]));
  return { hasLocalChanges: commit?.dirty === true, files, links: await linksOf(service) };
}

function filesOf({ accounts }: Configuration): readonly string[] {
  return accounts.flatMap((account) => account.files ?? []);
}

/** With `source.git` only the account files are in the repository of the configuration. */
function fileInRepository({ accounts }: Configuration, { file, source }: ServiceSettings): string {
  return source === undefined ? file : (accounts[0]?.file ?? file);
}

/** A service without a way to write, for code that only plans. */
function readOnly(service: ReadableService): ReadableService {
  return { reader: (account, signals) => service.reader(account, signals) };
}
