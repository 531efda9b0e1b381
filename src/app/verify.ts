// After writing: reads the lists until they show what was done, and says what they do not show (contract, section 5).
import type { DesiredCatalog, ObservedCatalog, Policy, Warning } from '../core/catalog.ts';
import { ServiceError } from '../core/errors.ts';
import { KINDS } from '../core/catalog.ts';
import { globMatcher, nameKey } from '../core/names.ts';
import { missingDesiredNames } from '../core/make-plan.ts';
import { NOT_SHOWN_YET } from '../core/plan-warnings.ts';
import { kindNameKey } from '../core/history.ts';
import type { OperationResult } from '../core/ports.ts';
import { entryKey } from '../core/usage.ts';
import type { ApplyContext, NumberedOperation } from './apply-context.ts';
import { noteFailure } from './apply-context.ts';
import { runHistory } from './run-history.ts';
import { readLists } from './observe.ts';
import { waits } from './settle.ts';

/** What the lists should show besides what was done. */
export interface Expectation {
  readonly desired: DesiredCatalog;
  readonly policy: Policy;
  /** `kind:name key` of creates that were tried or held, whose absence their own status tells. */
  readonly handled: ReadonlySet<string>;
}

export interface Verification {
  /** The last lists that were read; null when none could be. */
  readonly observed: ObservedCatalog | null;
  /** What was done and is not shown, and what is desired and not there. Empty: verified. */
  readonly warnings: readonly Warning[];
}

/** Verifies done operations within `settle` after the last of them. Never throws for the service's sake. */
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
  // A clock that is set meanwhile neither ends the wait nor prolongs it.
  const startedAtMs = clock.steadyMs();
  const lastDoneMs = startedAtMs - Math.max(0, clock.nowMs() - lastMs);
  let observed: ObservedCatalog | null = null;
  let failure: ServiceError | null = null;
  for (const waitMs of waits()) {
    const readAtMs = clock.steadyMs();
    try {
      observed = await readLists(context.reader);
      failure = null;
    } catch (error) {
      if (!(error instanceof ServiceError)) throw error;
      failure = error;
      if (error.kind === 'identity') noteFailure(context, error);
    }
    const open = observed === null ? done : notShownBy(observed, done);
    const vanished = observed === null ? [] : vanishedNames(context, expectation, done, observed);
    // What was done is waited for as long as `settle`; what others did is only looked for once more.
    const settled = readAtMs - lastDoneMs >= (open.length > 0 || failure !== null ? api.settleMs : 0);
    const lookedTwice = vanished.length === 0 || readAtMs - startedAtMs >= api.recheckMs;
    const hopeless =
      failure?.kind === 'auth' ||
      failure?.kind === 'malformed' ||
      context.halt !== null ||
      signals.stop.aborted;
    if ((settled && lookedTwice) || hopeless) {
      if (failure !== null || observed === null) return { observed: null, warnings: [unverified(failure)] };
      const appeared = appearedEntries(context, expectation, done, observed);
      return { observed, warnings: [...open.map(notShown), ...vanished, ...appeared] };
    }
    await clock.sleep(waitMs, signals.stop);
  }
  throw new Error('waits() never ends');
}

interface DoneOperation {
  readonly operation: NumberedOperation;
  readonly result: OperationResult;
}

/** Creates that are not listed, and deletes that are. */
function notShownBy(observed: ObservedCatalog, done: readonly DoneOperation[]): DoneOperation[] {
  const listed = new Set(KINDS.flatMap((kind) => observed[kind].map(({ id }) => entryKey(kind, id))));
  return done.filter(({ operation: { action, kind, remoteId }, result }) => {
    const isCreate = action === 'create';
    const id = isCreate ? result.entry?.remoteId : remoteId;
    return listed.has(entryKey(kind, id ?? '')) !== isCreate;
  });
}

function notShown({ operation, result }: DoneOperation): Warning {
  const remoteId = result.entry?.remoteId ?? operation.remoteId;
  return {
    code: NOT_SHOWN_YET,
    message:
      operation.action === 'delete' && result.attempts === 0
        ? `a list did not show the ${operation.kind} “${operation.name}” before its delete, so none was sent, but the list shows it again; the next run judges it again`
        : operation.action === 'create'
          ? `the service confirmed the create of the ${operation.kind} “${operation.name}”, but no list shows it yet; the next run looks again`
          : `the service confirmed the delete of the ${operation.kind} “${operation.name}”, but the list still shows it; the next run looks again`,
    kind: operation.kind,
    name: operation.name,
    ...(remoteId === undefined ? {} : { remoteId }),
  };
}

function unverified(failure: ServiceError | null): Warning {
  return {
    code: 'unverified',
    message: `what was done could not be verified, and the next run looks again: ${failure?.message ?? 'the lists were not read'}`,
  };
}

/** Names that the file asks for, that this run had no part in, and that are not there at its end. */
function vanishedNames(
  context: ApplyContext,
  { desired, handled }: Expectation,
  done: readonly DoneOperation[],
  observed: ObservedCatalog,
): Warning[] {
  // What the service named differently is found by its id, as in the next plan.
  const history = runHistory(context, observed);
  // What was made and no list shows yet is awaited, so that what is missing of it was taken by somebody.
  const made = new Set(done.map(({ operation: { kind, name } }) => kindNameKey(kind, name)));
  return missingDesiredNames(desired, observed, history)
    .filter(({ kind, name }) => {
      const key = kindNameKey(kind, name);
      return made.has(key) || !handled.has(key);
    })
    .map(({ kind, name }) => ({
      code: 'vanished',
      message: `the ${kind} “${name}” was listed or created during the run and is missing from the list at its end; the next run judges it`,
      kind,
      name,
    }));
}

/** Entries that others made in the course of the run and that the next plan would find too much. */
function appearedEntries(
  { planned }: ApplyContext,
  { desired, policy }: Expectation,
  done: readonly DoneOperation[],
  observed: ObservedCatalog,
): Warning[] {
  if (policy.ownership === 'managed' || policy.delete === 'never') return [];
  const isProtected = policy.protect.map(globMatcher);
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
      .filter(({ name }) => !isProtected.some((matches) => matches(name)))
      .map(({ id, name }) => ({
        code: 'appeared',
        message: `the ${kind} “${name}” (${id}) is listed now and was not when the run was planned: somebody created it, or the list was incomplete; the next run judges it`,
        kind,
        name,
        remoteId: id,
      }));
  });
}
