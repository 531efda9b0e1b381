// After writing: reads the lists until they show every change, and warns of changes that they do not show.
import {
  type DesiredCatalog,
  KINDS,
  type ObservedCatalog,
  type Policy,
  type Warning,
} from '../core/catalog.ts';
import { ServiceError } from '../core/errors.ts';
import { missingDesiredNames } from '../core/diff.ts';
import { nameKey } from '../core/names.ts';
import { leaveRulesOf } from '../core/policy.ts';
import { NOT_SHOWN_YET } from '../core/plan-warnings.ts';
import { kindNameKey } from '../core/history.ts';
import type { OperationResult } from '../core/ports/journal.ts';
import { entryKey, keysOf } from '../core/usage.ts';
import { type ApplyContext, noteFailure, type NumberedOperation, runHistory } from './apply-context.ts';
import { readLists, watchLists } from './lists.ts';

/** What the lists should show besides the operations that were done. */
export interface Expectation {
  readonly desired: DesiredCatalog;
  readonly policy: Policy;
  /** `kind:name key` of creates that were tried or held: their own status explains why they are missing. */
  readonly handled: ReadonlySet<string>;
}

interface Verification {
  /** The last lists that were read; null when the last reading failed. */
  readonly observed: ObservedCatalog | null;
  /** Changes that no list shows, desired names that are missing, and entries that appeared. Empty: verified. */
  readonly warnings: readonly Warning[];
}

/** Verifies the operations within `settle` after the last of them. Returns a failure of the service as a warning. */
export async function verify(
  context: ApplyContext,
  operations: readonly NumberedOperation[],
  expectation: Expectation,
): Promise<Verification> {
  const { api, signals } = context.request;
  const { clock } = context.deps;
  const done = operations.flatMap((operation) => {
    const result = context.statuses.get(operation.seq);
    return result?.status === 'done' ? [{ operation, result }] : [];
  });
  const lastMs = Math.max(0, ...done.map(({ result }) => result.atMs));
  // On the steady clock, so that a change of the system clock neither ends nor prolongs the wait.
  const startedAtMs = clock.steadyMs();
  const lastDoneMs = startedAtMs - Math.max(0, clock.nowMs() - lastMs);
  const last: { observed: ObservedCatalog | null; failure: ServiceError | null; warnings: Warning[] } = {
    observed: null,
    failure: null,
    warnings: [],
  };
  const report = (count: number): number => {
    const forMs = Math.max(0, lastDoneMs + api.settleMs - clock.steadyMs());
    context.request.progress?.({ type: 'verify', operations: count, forMs });
    return forMs;
  };
  report(done.length);
  await watchLists({ clock, stop: signals.stop }, async (readAtMs) => {
    try {
      last.observed = await readLists(context.reader);
      last.failure = null;
    } catch (error) {
      if (!(error instanceof ServiceError)) throw error;
      last.failure = error;
      if (error.kind === 'identity') noteFailure(context, error);
    }
    const { observed, failure } = last;
    const open = observed === null ? done : notShownBy(observed, done);
    const vanished = observed === null ? [] : vanishedNames(context, expectation, done, observed);
    last.warnings = [...open.map(notShown), ...vanished];
    // This run's own changes get `settle` to appear; for changes of others one more reading is enough.
    const settled = readAtMs - lastDoneMs >= (open.length > 0 || failure !== null ? api.settleMs : 0);
    const hasReadAgain = vanished.length === 0 || readAtMs - startedAtMs >= api.recheckMs;
    const mustStop = failure?.kind === 'auth' || failure?.kind === 'malformed' || context.halt !== null;
    return (settled && hasReadAgain) || mustStop ? null : report(open.length);
  });
  const { observed, failure } = last;
  if (failure !== null || observed === null) return { observed: null, warnings: [unverified(failure)] };
  return { observed, warnings: [...last.warnings, ...appearedEntries(context, expectation, done, observed)] };
}

interface DoneOperation {
  readonly operation: NumberedOperation;
  readonly result: OperationResult;
}

/** Done creates that are not listed, and done deletes that are still listed. */
function notShownBy(observed: ObservedCatalog, done: readonly DoneOperation[]): DoneOperation[] {
  const listed = keysOf(observed);
  return done.filter(({ operation: { action, kind, remoteId = '' }, result }) => {
    switch (action) {
      case 'create':
        return !listed.has(entryKey(kind, result.entry?.remoteId ?? ''));
      case 'delete':
        return listed.has(entryKey(kind, remoteId));
      default:
        return action satisfies never;
    }
  });
}

function notShown({ operation, result }: DoneOperation): Warning {
  const remoteId = result.entry?.remoteId ?? operation.remoteId;
  return {
    code: NOT_SHOWN_YET,
    message: notShownMessage(operation, result),
    kind: operation.kind,
    name: operation.name,
    ...(remoteId === undefined ? {} : { remoteId }),
  };
}

function notShownMessage({ action, kind, name }: NumberedOperation, { attempts }: OperationResult): string {
  switch (action) {
    case 'create':
      return `the service confirmed the create of the ${kind} “${name}”, but no list shows it yet; the next run checks again`;
    case 'delete':
      return attempts === 0
        ? `the list did not show the ${kind} “${name}” right before its delete, so no delete was sent, but the list shows it again; the next run decides again`
        : `the service confirmed the delete of the ${kind} “${name}”, but the list still shows it; the next run checks again`;
    default:
      return action satisfies never;
  }
}

function unverified(failure: ServiceError | null): Warning {
  return {
    code: 'unverified',
    message: `the changes could not be verified, and the next run checks again: ${failure?.message ?? 'the lists were not read'}`,
  };
}

/** Warns of desired names that are missing at the end of the run, although the run did not fail to create them. */
function vanishedNames(
  context: ApplyContext,
  { desired, handled }: Expectation,
  done: readonly DoneOperation[],
  observed: ObservedCatalog,
): Warning[] {
  // An entry whose name the service changed is found by its id, as in the next plan.
  const history = runHistory(context, observed);
  // A created entry that no list has shown yet counts as listed, so a missing one was deleted or renamed by somebody.
  const made = new Set(done.map(({ operation: { kind, name } }) => kindNameKey(kind, name)));
  return missingDesiredNames(desired, observed, history)
    .filter(({ kind, name }) => {
      const key = kindNameKey(kind, name);
      return made.has(key) || !handled.has(key);
    })
    .map(({ kind, name }) => ({
      code: 'vanished',
      message: `the ${kind} “${name}” was listed or created during the run and is missing from the list at its end; the next run decides about it`,
      kind,
      name,
    }));
}

/** Warns of entries that others created during the run and that the file does not ask for. */
function appearedEntries(
  { planned }: ApplyContext,
  { desired, policy }: Expectation,
  done: readonly DoneOperation[],
  observed: ObservedCatalog,
): Warning[] {
  const leaves = leaveRulesOf(policy);
  const created = new Set(
    done.map(({ operation, result }) => `${operation.kind}:${result.entry?.remoteId ?? ''}`),
  );
  return KINDS.filter((kind) => desired[kind] !== undefined).flatMap((kind) => {
    const before = new Set(planned[kind].map(({ id }) => id));
    const names = new Map<string, number>();
    for (const { name } of observed[kind]) names.set(nameKey(name), (names.get(nameKey(name)) ?? 0) + 1);
    const wanted = new Set(desired[kind]?.map(({ name }) => nameKey(name)));
    return observed[kind]
      .filter(({ id }) => !before.has(id) && !created.has(`${kind}:${id}`))
      .filter(({ name }) => !wanted.has(nameKey(name)) || (names.get(nameKey(name)) ?? 0) > 1)
      .filter((entry) => leaves(entry, false) === null)
      .map(({ id, name }) => ({
        code: 'appeared',
        message: `the ${kind} “${name}” (${id}) is listed now and was not listed when the run was planned: somebody created it, or the list was incomplete; the next run decides about it`,
        kind,
        name,
        remoteId: id,
      }));
  });
}
