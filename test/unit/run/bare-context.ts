// The context of an apply step without a service and a store, with a clock that needs no time.
import { settingsDigest } from '../../../src/run/changes-during-run.ts';
import type { ApplyContext, NumberedOperation } from '../../../src/run/apply-context.ts';
import type { AccountRequest, ApplyDeps } from '../../../src/run/request.ts';
import type { DesiredCatalog, ObservedCatalog, Policy } from '../../../src/core/catalog.ts';
import type { History } from '../../../src/core/history.ts';
import type { NewRun, OperationResult } from '../../../src/core/ports/journal.ts';
import type { ServiceReader, ServiceWriter } from '../../../src/core/ports/service.ts';
import { entry, HISTORY, observed, POLICY } from '../core/builders.ts';
import { accountAt } from '../service/account-at.ts';
import { API } from './api.ts';
import { QuickClock } from './quick-clock.ts';

/** A placeholder for a dependency that a test does not need; using it throws an error. */
export function unused<T extends object>(what: string): T {
  return new Proxy({} as T, {
    get(_, key) {
      throw new Error(`${what}.${String(key)} is not asked for here`);
    },
  });
}

/** A reader of the current lists; a list that is an error is thrown. `readings` counts complete readings. */
export function readerOf(
  lists: () => Partial<ObservedCatalog> | Error,
): ServiceReader & { readings: number } {
  const now = (): ObservedCatalog => {
    const shown = lists();
    if (shown instanceof Error) throw shown;
    return observed(shown);
  };
  return {
    readings: 0,
    async listEntries(kind) {
      if (kind === 'skill') this.readings += 1;
      return { items: now()[kind], warnings: [] };
    },
    async listResources() {
      const { resources, warnings } = now();
      return { items: resources, warnings };
    },
    traffic: () => ({ requests: 0, retries: 0 }),
  };
}

export function bareRequest(
  desired: Partial<DesiredCatalog> = {},
  policy: Partial<Policy> = {},
): AccountRequest & { stop(): void } {
  const stop = new AbortController();
  return {
    settings: {
      ...accountAt('http://127.0.0.1:1', 'acme'),
      policy: { ...POLICY, ...policy },
      desired: { allowedDeletes: [], ...desired },
    },
    api: API,
    commit: null,
    configured: new Set(['acme']),
    trigger: 'cli',
    signals: { stop: stop.signal, kill: new AbortController().signal },
    stop: () => stop.abort(),
  };
}

export interface BareParts {
  readonly clock?: QuickClock;
  readonly request?: AccountRequest;
  readonly reader?: ServiceReader;
  readonly writer?: ServiceWriter;
  readonly planned?: Partial<ObservedCatalog>;
  readonly history?: Partial<History>;
  readonly frozen?: () => string | null;
  readonly operations?: readonly NumberedOperation[];
}

/** A context whose journal accepts everything; `results` is what was journaled, in order. */
export function bareContext(parts: BareParts = {}): ApplyContext & { readonly results: OperationResult[] } {
  const results: OperationResult[] = [];
  const deps: ApplyDeps = {
    service: unused('service'),
    journal: unused('journal'),
    locks: unused('locks'),
    clock: parts.clock ?? new QuickClock(),
    newRunId: () => 'run',
    sha256: (text) => text,
    compareCommits: () => Promise.resolve('unknown'),
    currentDigest: async (settings) => settingsDigest(settings),
    loadCron: () => Promise.resolve(() => false),
  };
  return {
    request: parts.request ?? bareRequest(),
    deps,
    reader: parts.reader ?? unused('reader'),
    writer: parts.writer ?? unused('writer'),
    log: {
      sent: () => Promise.resolve('committed'),
      result: (result) => void results.push(result),
      flush: () => Promise.resolve(),
    },
    planned: observed(parts.planned ?? { skill: [entry('Present')], role: [entry('Present')] }),
    history: { ...HISTORY, ...parts.history },
    plannedAtMs: deps.clock.nowMs(),
    frozen: parts.frozen ?? (() => null),
    operations: parts.operations ?? [],
    remoteAccountId: '42',
    identified: true,
    claimAccountId: () => Promise.resolve(null),
    known: new Set(),
    appeared: new Set(),
    statuses: new Map(),
    counts: { failed: 0, unknown: 0 },
    halt: null,
    change: () => Promise.resolve(null),
    deletesStopped: null,
    results,
  };
}

/** A create of a skill, numbered. */
export function creating(seq: number, name: string): NumberedOperation {
  return { seq, action: 'create', kind: 'skill', name };
}

/** A delete of a skill whose id is its name, numbered. */
export function deleting(seq: number, name: string, usedBy: readonly string[] = []): NumberedOperation {
  return { seq, action: 'delete', kind: 'skill', name, remoteId: name, usedBy };
}

/** A run that has begun in the journal. */
export function begunRun(id: string): NewRun {
  const configured = { configDigest: null, configCommit: null };
  return { id, account: 'acme', trigger: 'cli', mode: 'apply', startedAtMs: 0, ...configured };
}
