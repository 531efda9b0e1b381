// One daemon from its start to its stop, composed as wire/daemon.ts does it, with the time and the service of the
// stage. Its ticks and runs are recorded in its ledger.
import { createConfigurationSource } from '../../../src/config/configuration-source.ts';
import { Secret } from '../../../src/core/secret.ts';
import type { Configuration, NotifySettings } from '../../../src/core/settings.ts';
import type { AccountRegistry } from '../../../src/daemon/account-registry.ts';
import { createAccountRegistry } from '../../../src/daemon/account-registry.ts';
import type { Daemon } from '../../../src/daemon/daemon.ts';
import { createDaemon } from '../../../src/daemon/daemon.ts';
import type { Log } from '../../../src/daemon/log.ts';
import type { Metrics } from '../../../src/daemon/metrics.ts';
import { createMetrics } from '../../../src/daemon/metrics.ts';
import { joined } from '../../support/pieces.ts';
import type { Courier } from '../../../src/daemon/notify/courier.ts';
import { startCourier } from '../../../src/daemon/notify/courier.ts';
import { createDelivery } from '../../../src/daemon/notify/delivery.ts';
import type { Notifier } from '../../../src/daemon/notify/notifier.ts';
import { createNotifier } from '../../../src/daemon/notify/notifier.ts';
import { targetKey } from '../../../src/daemon/notify/target.ts';
import type { Store } from '../../../src/store/store.ts';
import { openSqliteStore } from '../../../src/store/sqlite/open-sqlite-store.ts';
import { createCommitReader } from '../../../src/git/commit.ts';
import type { AccountFile } from './files.ts';
import { judgeGauges } from './gauge-watch.ts';
import type { FileAtTurn } from './run-watch.ts';
import type { AccountPart, ServicePart } from './script.ts';
import type { Stage } from './stage.ts';
import type { Times } from './tick-ledger.ts';
import { TickLedger } from './tick-ledger.ts';

/** The schedule of an account whose file was never valid. */
const UNKNOWN: Times = { schedule: '*/15 * * * *', timezone: 'Etc/UTC', jitterMs: 30_000 };
/** Files are checked this often, even without a notification of changes. */
const RELOAD_MS = 60_000;

interface Logged {
  readonly event?: string;
  readonly account?: string;
}

export class DaemonHost {
  readonly owner: string;
  readonly ledger: TickLedger;
  private readonly stage: Stage;
  private readonly store: Store;
  private readonly stopSignal = new AbortController();
  private readonly killSignal = new AbortController();
  private readonly metrics: Metrics;
  private readonly fileAtTurn = new Map<string, FileAtTurn>();
  private readonly seen = new Map<string, AccountFile>();
  private readonly good = new Map<string, AccountPart>();
  private readonly lastPlan = new Map<string, string>();
  private readonly paused = new Map<string, boolean>();
  private readonly lastSuccess = new Map<string, number>();
  private readonly unsavedNotices = new Set<string>();
  private readonly storeFailures = new Map<string, number>();
  private seenService: { readonly part: ServicePart; readonly broken: boolean; readonly version: number };
  private goodService: ServicePart;
  private filesSeen = -1;
  private filesChangedMs: number | null = null;
  private isStarting = true;
  private daemon: Daemon | null = null;
  private registry: AccountRegistry | null = null;
  private notifier: Notifier | null = null;
  private courier: Courier | null = null;

  private constructor(stage: Stage, owner: string) {
    this.stage = stage;
    this.owner = owner;
    this.store = openSqliteStore(stage.storeFile);
    this.metrics = createMetrics('model');
    this.seenService = stage.files.service;
    this.goodService = stage.files.service.part;
    this.ledger = new TickLedger({
      wallMs: () => stage.time.nowMs(),
      timerMs: () => stage.time.timerMs(),
      violate: (what) => stage.violate(`${owner}: ${what}`),
      failures: (account, sinceMs) =>
        Math.max(stage.runs.failuresSince(account, sinceMs), this.storeFailures.get(account) ?? 0),
      laneOf: (account) => this.laneOf(account),
      lanes: () => new Set([...this.seen.keys()].map((account) => this.laneOf(account))).size,
      maxRuns: () => this.goodService.maxRuns,
    });
  }

  /** Starts a daemon; null if the service file is broken, because then no daemon starts. */
  static async start(stage: Stage, owner: string): Promise<DaemonHost | null> {
    if (stage.files.service.broken) return null;
    const host = new DaemonHost(stage, owner);
    await host.open();
    return host;
  }

  get api(): Daemon['api'] {
    if (this.daemon === null) throw new Error('the daemon is not open');
    return this.daemon.api;
  }

  /** Whether nothing is running and nothing is due, so that time can pass in one leap. */
  isIdle(): boolean {
    return this.ledger.isIdle() && this.filesChangedMs === null;
  }

  async reload(): Promise<void> {
    this.filesChangedMs = null;
    await this.stage.time.follow(this.registry?.reload() ?? Promise.resolve());
  }

  /** Reads the files when a minute has passed since they changed. */
  async look(): Promise<void> {
    if (this.filesSeen === this.stage.files.version) return;
    this.filesChangedMs ??= this.stage.time.timerMs();
    if (this.stage.time.timerMs() - this.filesChangedMs >= RELOAD_MS) await this.reload();
  }

  async judge(): Promise<void> {
    const { api } = this;
    await this.ledger.judge(async (name) => (await api.account(name))?.activity ?? 'idle');
  }

  /** Compares the gauges of accounts that do not run with the journal and the files. */
  async judgeGauges(): Promise<void> {
    const text = await joined(this.metrics.text());
    for (const [name, file] of this.seen) {
      if (this.ledger.isBusy(name) || this.stage.runs.isOpen(name, this.owner)) continue;
      const valid = !file.broken && !this.seenService.broken;
      const lastRunWithPlan = this.lastPlan.get(name) ?? null;
      const [paused, lastSuccessMs] = [this.paused.get(name), this.lastSuccess.get(name)];
      const account = { name, valid, lastRunWithPlan, paused, lastSuccessMs };
      judgeGauges(text, account, this.stage.db, (what) => this.stage.violate(`${this.owner}: ${what}`));
    }
  }

  /** Stops like a daemon that received SIGTERM, while time passes. Resolves when it has ended. */
  async stop(pass: (ms: number) => Promise<void>): Promise<void> {
    const { time } = this.stage;
    this.stopSignal.abort();
    let isStopped = false;
    const stopping = this.release().then(() => (isStopped = true));
    const fromMs = time.timerMs();
    const graceMs = this.goodService.graceMs;
    while (!isStopped) {
      if (time.timerMs() - fromMs >= graceMs) this.killSignal.abort();
      await pass(100);
      if (time.timerMs() - fromMs > graceMs + 5000) {
        this.stage.violate(`${this.owner} does not stop within its grace`);
        return;
      }
    }
    await stopping;
    const left = this.stage.runs.openOf(this.owner).map(({ id }) => id);
    if (left.length > 0)
      this.stage.violate(`${this.owner} has stopped, and its runs have not: ${left.join()}`);
    const sleepers = time.sleeping(this.owner);
    if (sleepers > 0) this.stage.violate(`${this.owner} has stopped and left ${String(sleepers)} sleepers`);
  }

  /** Whether this daemon can use an approval of the account at once. */
  canRun(account: string): boolean {
    const file = this.seen.get(account);
    return file !== undefined && !file.broken && !this.seenService.broken && file.part.mode !== 'plan';
  }

  private async open(): Promise<void> {
    const { stage, owner, store } = this;
    const { time } = stage;
    const source = createConfigurationSource(stage.files.file, createCommitReader(), {
      today: () => new Date(time.nowMs()).toISOString().slice(0, 10),
    });
    const { service } = await time.follow(source.read());
    if (service === undefined) throw new Error('the service file is not valid');
    const [target] = service.notify;
    if (target === undefined) throw new Error('the service file has no target');
    const deps = stage.depsOf(owner, store, (account) => this.fileAtTurn.get(account) ?? null);
    const log = this.log();
    const resolveSecret = (): Promise<Secret> => Promise.reject(new Error('there is no secret'));
    const notifier = createNotifier({
      targets: [target],
      version: 'model',
      outbox: store.outbox,
      clock: deps.clock,
      log,
      resolveSecret,
    });
    this.notifier = notifier;
    const registry = createAccountRegistry({
      service,
      log,
      metrics: this.metrics,
      configuration: {
        read: (): Promise<Configuration> => {
          this.readAll();
          return time.follow(source.read());
        },
        readFor: (account): Promise<Configuration> => {
          this.readFor(account);
          return time.follow(source.readFor(account));
        },
        commit: () => Promise.resolve(null),
        sourceProblem: () => null,
      },
    });
    this.registry = registry;
    await registry.reload();
    this.daemon = createDaemon({
      version: 'model',
      registry,
      api: service.api,
      log,
      metrics: this.metrics,
      deps,
      reader: store.reader,
      operator: store.operator,
      signals: { stop: this.stopSignal.signal, kill: this.killSignal.signal },
      notifier: {
        start: () => undefined,
        update: (targets) => notifier.update(targets),
        runEnded: async (outcome, mode) => {
          const { account, id } = outcome.run;
          await notifier.runEnded(outcome, mode);
          this.courier?.wake();
          if (this.seen.has(account)) {
            if (outcome.plan !== null) this.lastPlan.set(account, id);
            const { status, finishedAt } = outcome.run;
            if (['converged', 'held', 'planned'].includes(status)) {
              this.lastSuccess.set(account, Date.parse(finishedAt ?? ''));
            }
            this.readPaused(account);
          }
          this.storeFailures.delete(account);
          if (!this.unsavedNotices.has(id)) {
            const types = stage.db
              .prepare('select type from notices where run_id = ? order by seq')
              .pluck()
              .all(id);
            const detail = await store.reader.run(id);
            const [record] = await store.reader.accounts(account);
            const pending = record?.state.pending?.digest ?? null;
            if (detail !== null) stage.notices.runEnded(detail, pending, time.nowMs(), types.map(String));
          }
          this.ledger.turnEnds(account);
        },
      },
      planPosted: () => Promise.resolve({ plans: [] }),
      undelivered: () => Promise.resolve(0),
    });
    this.courier = this.startCourier(target, log, deps.clock);
    this.expectStart();
    this.isStarting = false;
    await this.daemon.start();
  }

  /** The daemon has read whether operators paused the account. */
  readPaused(account: string): void {
    this.paused.set(account, this.stage.runs.isPaused(account));
  }

  /** A start runs each account once, or only those that missed a tick. */
  private expectStart(): void {
    for (const name of this.seen.keys()) {
      const known = this.stage.db
        .prepare('select last_success_at from accounts where name = ?')
        .pluck()
        .get(name);
      if (known !== undefined) this.readPaused(name);
      if (typeof known === 'string') this.lastSuccess.set(name, Date.parse(known));
      const last = this.stage.db
        .prepare(
          `select runs.id, started_at, plan_body from accounts join runs on runs.id = last_run_id where name = ?`,
        )
        .get(name) as { id: string; started_at: string; plan_body: string | null } | undefined;
      if (this.goodService.runOnStart) this.ledger.request(name, 'start');
      else if (last !== undefined && this.ledger.hasTickedSince(name, Date.parse(last.started_at))) {
        this.ledger.request(name, 'start');
      }
      if (!this.goodService.runOnStart && typeof last?.plan_body === 'string')
        this.lastPlan.set(name, last.id);
    }
  }

  private startCourier(
    settings: NotifySettings,
    log: Log,
    clock: ReturnType<Stage['time']['clockOf']>,
  ): Courier {
    const poster = {
      post: (_url: Secret, headers: Readonly<Record<string, string>>) => {
        if (!this.stage.receiverIsUp) return Promise.resolve({ status: 503, retryAfter: undefined });
        this.stage.notices.arrived(headers['webhook-id'] ?? '');
        return Promise.resolve({ status: 204, retryAfter: undefined });
      },
      close: () => Promise.resolve(),
    };
    return startCourier({
      key: targetKey(settings),
      settings,
      outbox: this.store.outbox,
      clock,
      log,
      delivery: createDelivery({
        poster,
        clock,
        resolveSecret: () => Promise.reject(new Error('none')),
        random: Math.random,
      }),
      onResult: () => undefined,
    });
  }

  private async release(): Promise<void> {
    await this.daemon?.stop();
    await this.courier?.stop();
    await this.notifier?.stop();
    await this.store.close();
  }

  private laneOf(account: string): string {
    const part = this.good.get(account);
    return part === undefined ? '' : String(part.lane);
  }

  private readFor(account: string): void {
    const { files } = this.stage;
    const file = files.account(account);
    const isSame =
      file !== undefined &&
      file.version === this.seen.get(account)?.version &&
      files.service.version === this.seenService.version;
    const { service } = files;
    this.fileAtTurn.set(account, {
      exists: file !== undefined || service.broken,
      valid: file !== undefined && !file.broken && !service.broken,
      mode: file?.part.mode ?? 'plan',
    });
    this.stage.note(`${this.owner}: turn of ${account}`);
    this.ledger.turnBegins(account);
    if (!isSame) this.readAll();
    // The turn of an account that is no longer configured ends without a run.
    if (file === undefined && !service.broken) this.ledger.turnEnds(account);
  }

  /** Records what the daemon has read, and its schedules from now on. */
  private readAll(): void {
    const { files } = this.stage;
    this.filesSeen = files.version;
    this.filesChangedMs = null;
    this.seenService = files.service;
    if (files.service.broken) return;
    this.goodService = files.service.part;
    const revised = new Set<string>();
    const names: ReadonlySet<string> = new Set(files.names());
    for (const name of [...this.seen.keys()].filter((each) => !names.has(each))) {
      this.seen.delete(name);
      this.good.delete(name);
      for (const known of [this.lastPlan, this.paused, this.lastSuccess]) known.delete(name);
    }
    for (const name of names) {
      const file = files.account(name);
      if (file === undefined) continue;
      const before = this.seen.get(name);
      if (before === undefined || (before.version !== file.version && !(before.broken && file.broken)))
        revised.add(name);
      this.seen.set(name, file);
      if (!file.broken) this.good.set(name, file.part);
    }
    const times = new Map([...names].map((name) => [name, this.good.get(name) ?? UNKNOWN] as const));
    this.ledger.schedule(
      new Map(
        [...times].map(([name, { schedule, timezone, jitterMs }]) => [
          name,
          { schedule, timezone, jitterMs },
        ]),
      ),
      revised,
      this.isStarting,
    );
  }

  private log(): Log {
    const take = (data: object): void => this.onLogLine(data as Logged, data);
    return { debug: take, info: take, warn: take, error: take };
  }

  private onLogLine({ event, account = '' }: Logged, data: object): void {
    const { stage, owner, ledger } = this;
    stage.note(`${owner}: ${JSON.stringify(data)}`);
    switch (event) {
      case 'tick_skipped':
        return ledger.skipped(account);
      case 'approved':
        return ledger.approvalSeen(account);
      case 'paused':
        if (!stage.runs.isPaused(account)) stage.violate(`${owner}: ${account} is not paused`);
        if (ledger.kindOf(account) === 'manual')
          stage.violate(`${owner}: a sync of ${account} started no run`);
        ledger.counts.paused += 1;
        this.readPaused(account);
        return ledger.turnEnds(account);
      case 'made_elsewhere':
        if (!stage.runs.isMade(account, ledger.tickOf(account))) {
          stage.violate(`${owner}: no process made the run of ${account}`);
        }
        ledger.counts.elsewhere += 1;
        return ledger.turnEnds(account);
      case 'locked':
        if (stage.db.prepare('select 1 from locks where account = ?').get(account) === undefined) {
          stage.violate(`${owner}: no process holds the lock of ${account}`);
        }
        ledger.counts.locked += 1;
        return ledger.turnEnds(account);
      case 'run_failed': {
        if (!stage.wasStoreLocked()) stage.violate(`${owner}: ${JSON.stringify(data)}`);
        const failures = (this.storeFailures.get(account) ?? 0) + 1;
        this.storeFailures.set(account, failures);
        stage.runs.lost(account, owner, failures);
        return ledger.turnEnds(account);
      }
      case 'outbox_failed':
      case 'reload_failed':
        if (!stage.wasStoreLocked()) stage.violate(`${owner}: ${JSON.stringify(data)}`);
        if ('runId' in data) this.unsavedNotices.add(String(data.runId));
        return;
      case undefined:
      default:
    }
  }
}
