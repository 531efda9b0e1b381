// A run on the sandbox over HTTP, with the real client and store, and a clock that advances by itself during a wait.
import { readAuthorities } from '../../../src/config/secrets.ts';
import { createHash } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { SQLite } from '../../../src/system/sqlite.ts';
import type { KyselyPlugin } from 'kysely';
import { expect, onTestFinished } from 'vitest';
import { settingsDigest } from '../../../src/run/changes-during-run.ts';
import type { ReconcileResult } from '../../../src/run/reconcile.ts';
import { dryRun, reconcile } from '../../../src/run/reconcile.ts';
import type { AccountRequest, ApplyDeps, Guard, ReconcileOptions } from '../../../src/run/request.ts';
import type { RunResult } from '../../../src/run/run-result.ts';
import type { DesiredCatalog, DesiredEntry, Entry, Kind, Policy } from '../../../src/core/catalog.ts';
import { outcomeOf } from '../../../src/core/run-outcome.ts';
import type { ProgressObserver } from '../../../src/core/ports/progress.ts';
import { Secret } from '../../../src/core/secret.ts';
import type { AccountSettings, ApiSettings } from '../../../src/core/settings.ts';
import type { Fault, Sandbox, SandboxSeed, SandboxSettings } from '../../../src/sandbox/sandbox.ts';
import { startSandbox } from '../../../src/sandbox/sandbox.ts';
import { createConnections } from '../../../src/service/connections.ts';
import { createStore, type Store } from '../../../src/store/store.ts';
import { openSqlite } from '../../../src/store/sqlite/database.ts';
import { UNLIMITED, wanted } from '../core/builders.ts';
import { accountAt } from '../service/account-at.ts';
import { API } from './api.ts';
import { QuickClock } from './quick-clock.ts';

export interface Wish {
  readonly skills?: readonly (string | DesiredEntry)[];
  readonly roles?: readonly (string | DesiredEntry)[];
  readonly allowedDeletes?: DesiredCatalog['allowedDeletes'];
  readonly policy?: Partial<Policy>;
  readonly accountId?: string;
  /** The sandbox's account whose token is used, and the name in the configuration. */
  readonly account?: string;
  readonly name?: string;
  readonly options?: Partial<ReconcileOptions>;
  readonly deps?: (deps: ApplyDeps) => ApplyDeps;
  readonly stop?: AbortController;
  readonly progress?: ProgressObserver;
  readonly trigger?: AccountRequest['trigger'];
  /** Of a run that applies. */
  readonly accept?: readonly Guard[];
}

export interface Stage {
  readonly sandbox: Sandbox;
  readonly store: Store;
  readonly clock: QuickClock;
  readonly deps: ApplyDeps;
  apply(wish: Wish): Promise<RunResult>;
  plan(wish: Wish): Promise<RunResult>;
  skills(account?: string): string[];
  rows<T = Record<string, unknown>>(sql: string, ...values: unknown[]): T[];
  /** `POST skill New`, `DELETE skill Old` … in the order of their arrival. */
  writes(): string[];
  /** The statements of the last run that applied, with the beginnings and the ends of its transactions. */
  statements(): readonly string[];
}

export interface StageOptions {
  readonly seed: SandboxSeed['accounts'][number] | SandboxSeed['accounts'];
  readonly settings?: Partial<SandboxSettings>;
  readonly faults?: readonly Fault[];
  readonly api?: Partial<ApiSettings>;
}

/** An observer that acts on the result of each operation. */
export function onResult(act: () => void): ProgressObserver {
  return (activity) => {
    if (activity.type === 'apply' && activity.done > 0) act();
  };
}

export async function stage({ seed, settings = {}, faults = [], api = {} }: StageOptions): Promise<Stage> {
  const sandbox = await startSandbox({ seed: { accounts: [seed].flat() }, settings, faults });
  onTestFinished(() => sandbox.close());
  const folder = mkdtempSync(join(tmpdir(), 'rolecall-app-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const file = join(folder, 'x.db');
  let statements: string[] = [];
  let ofRun: readonly string[] = [];
  const opened = openSqlite({ file, leaseMs: 30_000 });
  const counter: KyselyPlugin = {
    transformQuery({ node }) {
      statements.push(node.kind === 'RawNode' ? node.sqlFragments.join('?').trim() : node.kind);
      return node;
    },
    transformResult: ({ result }) => Promise.resolve(result),
  };
  const counted = opened.db.withPlugin(counter);
  const store = createStore({ ...opened, db: counted, quick: counted });
  onTestFinished(() => store.close());
  const clock = new QuickClock();
  const complete = { ...API, ...api };
  const tokens = new Map<string, string>();
  const connections = createConnections({
    api: complete,
    version: 'test',
    token: (account) => Promise.resolve(new Secret(tokens.get(account.name) ?? '')),
    observer: () => () => undefined,
    authorities: readAuthorities,
  });
  onTestFinished(() => connections.close());
  let runs = 0;
  const deps: ApplyDeps = {
    service: connections,
    journal: store.journal,
    locks: store.locks,
    clock,
    newRunId: () => `01900000-0000-7000-8000-${(runs += 1).toString(16).padStart(12, '0')}`,
    sha256: (text) => createHash('sha256').update(text).digest('hex'),
    compareCommits: () => Promise.resolve('unknown'),
    loadCron: () => Promise.resolve(() => false),
    currentDigest: async (settings) => settingsDigest(settings),
  };

  function requestFor(wish: Wish): AccountRequest {
    const [first] = sandbox.accounts;
    const remote = sandbox.accounts.find(({ name }) => name === (wish.account ?? first?.name));
    if (remote === undefined) throw new Error('the sandbox has no such account');
    const name = wish.name ?? remote.name;
    tokens.set(name, remote.token);
    const settings: AccountSettings = {
      ...accountAt(remote.baseUrl, name),
      mode: wish.options?.mode ?? 'apply',
      policy: { ...UNLIMITED, delete: 'unused', ...wish.policy },
      desired: {
        ...(wish.skills === undefined ? {} : { skill: wanted(...wish.skills) }),
        ...(wish.roles === undefined ? {} : { role: wanted(...wish.roles) }),
        allowedDeletes: wish.allowedDeletes ?? [],
      },
      ...(wish.accountId === undefined ? {} : { accountId: wish.accountId }),
    };
    const stop = wish.stop ?? new AbortController();
    return {
      settings,
      api: complete,
      commit: null,
      configured: new Set([...sandbox.accounts.map((each) => each.name), name, 'copy']),
      trigger: wish.trigger ?? 'cli',
      signals: { stop: stop.signal, kill: new AbortController().signal },
      ...(wish.progress === undefined ? {} : { progress: wish.progress }),
    };
  }

  /** The value that a run returns is what the journal has of it, unless it failed after it had planned. */
  async function expectJournaled({ status, runId, ended, entryCounts, failure }: RunResult): Promise<void> {
    const detail = await store.reader.run(runId);
    if (detail === null || status === 'failed' || failure?.code === 'lock_lost') return;
    expect(ended.run).toEqual(detail.run);
    expect(outcomeOf(ended, null, deps.sha256)).toEqual({
      ...outcomeOf(detail, null, deps.sha256),
      failures: ended.operations
        .filter(({ status: result }) => result === 'failed' || result === 'unknown')
        .slice(0, 5),
    });
    expect(detail.operations).toMatchObject(ended.operations);
    expect(entryCounts).toEqual(await store.reader.entryCounts(runId));
  }

  const depsOf = (wish: Wish): ApplyDeps => wish.deps?.(deps) ?? deps;
  return {
    sandbox,
    store,
    clock,
    deps,
    async apply(wish) {
      const options = {
        mode: 'apply',
        lockTimeoutMs: 0,
        ...wish.options,
      } as const;
      statements = [];
      const request = { ...requestFor(wish), accept: new Set<Guard>(wish.accept ?? ['no_evidence']) };
      const result: ReconcileResult = await reconcile(request, depsOf(wish), options);
      ofRun = [...statements];
      if ('heldBy' in result) throw new Error(`the lock is held by ${result.heldBy}`);
      await expectJournaled(result);
      return result;
    },
    async plan(wish) {
      const result = await dryRun(requestFor(wish), depsOf(wish));
      await expectJournaled(result);
      return result;
    },
    skills: (account = sandbox.accounts[0]?.name ?? '') =>
      sandbox
        .state(account)
        .skills.map(({ name }) => name)
        .toSorted(),
    rows<T>(sql: string, ...values: unknown[]): T[] {
      const db = new SQLite(file, { fileMustExist: true });
      try {
        return db.prepare(sql).all(...values) as T[];
      } finally {
        db.close();
      }
    },
    statements: () => ofRun,
    writes: () =>
      sandbox
        .requests()
        .filter(({ method }) => method !== 'GET')
        .map(({ method, path, name }) => `${method} ${path.split('/')[4] ?? ''} ${name ?? '?'}`),
  };
}

/** Status and name of each operation of the last run, in its order. */
export function operations(
  of: Stage,
): { name: string; action: string; status: string; rule: string | null }[] {
  return of.rows(
    'select name, action, status, rule from operations where run_id = (select max(id) from runs) order by seq',
  );
}

/** The service with other lists of entries. */
export function withLists(
  service: ApplyDeps['service'],
  change: (items: readonly Entry[], kind: Kind) => readonly Entry[],
): ApplyDeps['service'] {
  return {
    writer: service.writer.bind(service),
    tokenKey: service.tokenKey.bind(service),
    async reader(account, signals) {
      const reader = await service.reader(account, signals);
      return {
        ...reader,
        async listEntries(kind) {
          const { items, warnings } = await reader.listEntries(kind);
          return { items: change(items, kind), warnings };
        },
      };
    },
  };
}
