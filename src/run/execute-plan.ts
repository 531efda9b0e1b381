// Applies a plan in its order and ends the run: early deletes, creates, deletes, verification.
import { NOT_SHOWN_YET, type Plan, type ReviewedPlan } from '../core/plan.ts';
import { type Kind, KINDS, type Warning } from '../core/catalog.ts';
import { anythingMissing, baselineOf } from '../core/list-plausibility.ts';
import { nameKey } from '../core/names.ts';
import { kindNameKey } from '../core/history.ts';
import type { RunStatus } from '../core/journal.ts';
import { entryKey, namesByKey } from '../core/usage.ts';
import type { Lease } from '../core/ports/locks.ts';
import type { NewOperation, RunEnd } from '../core/ports/journal.ts';
import { isContained, type KeptDeletes } from './approval.ts';
import { applyCreates } from './apply-creates.ts';
import { applyDeletes } from './apply-deletes.ts';
import { type ApplyContext, conclude, type NumberedOperation, reportCounts, skip } from './apply-context.ts';
import type { ChangeWatch } from './changes-during-run.ts';
import type { Observation } from './observe.ts';
import { createOperationLog } from './operation-log.ts';
import { guardAccount } from './lists.ts';
import type { Planned } from './plan-account.ts';
import type { JournaledRun, ReadingRun } from './request.ts';
import { endRun, type RunResult, runStatus } from './run-result.ts';
import { verify } from './verify.ts';

/** A run that holds the account's lock and whose plan may be applied. */
export interface PlannedRun extends ReadingRun, JournaledRun {
  readonly lease: Lease;
  readonly observation: Observation;
  readonly planned: Planned;
  readonly change: ChangeWatch;
  /** Warnings of the run that its plan does not contain. */
  readonly warnings: readonly Warning[];
  /** Why only the creates are applied; null: all are. */
  readonly keptDeletes: KeptDeletes | null;
  /** The plan whose rest is applied, and nothing else; null: everything is. */
  readonly continued: ReviewedPlan | null;
  /** The plan, if it is not journaled yet, since it changes nothing. */
  readonly recorded?: RunEnd['recorded'];
}

/** Journals the operations, applies them and verifies the result. */
export async function executePlan(run: PlannedRun): Promise<RunResult> {
  const { runId, observation, planned, reader, request, deps } = run;
  const { settings, signals } = request;
  const { plan } = planned;
  const operations = plan.operations.map((operation, index) => ({ ...operation, seq: index + 1 }));
  const rows = journalRows(plan);
  await deps.journal.addOperations(runId, rows);
  if (operations.length === 0) {
    const nothing = { halt: null, statuses: new Map(), deletesStopped: null };
    const context = { request, deps, reader, operations, ...nothing };
    // An operator may accept lists in which all assignments of a kind vanished.
    const pending = planned.areListsGood ? null : plan.digest;
    return await finish(run, context, { rows, lists: observation, unverified: [], pending });
  }

  const log = createOperationLog(deps.journal, runId, run.lease);
  const context: ApplyContext = {
    request,
    deps,
    reader: guardAccount(reader, () => context.remoteAccountId),
    writer: await deps.service.writer(settings, signals),
    log,
    planned: observation.observed,
    history: planned.history,
    plannedAtMs: Date.parse(planned.plan.createdAt),
    frozen: () => planned.frozen.describeAt(deps.clock.nowMs()),
    operations,
    remoteAccountId: observation.remoteAccountId,
    identified: observation.identified,
    claimAccountId: accountIdClaimer(run),
    known: new Set(),
    appeared: new Set(),
    statuses: new Map(),
    counts: { failed: 0, unknown: 0 },
    halt: null,
    change: run.change,
    deletesStopped: null,
  };
  reportCounts(context, operations[0]?.action ?? 'create');
  const kept = run.keptDeletes === null ? [] : operations.filter(({ action }) => action === 'delete');
  skip(context, kept, run.keptDeletes?.reason ?? '');
  if (run.continued !== null) leaveOut(context, run.continued);
  await applyInOrder(
    context,
    operations.filter(({ seq }) => !context.statuses.has(seq)),
  );
  await log.flush();

  // A halted run sends nothing more to the service, not even reads.
  const { observed, warnings } =
    context.halt === null
      ? await verify(context, handledCreates(operations, plan))
      : { observed: null, warnings: [] };
  // The lists may have decided operations whose outcome was unknown.
  await log.flush();
  if (observed !== null) {
    const deletes = new Set(operations.map(({ kind, remoteId = '' }) => entryKey(kind, remoteId)));
    await deps.journal.recordObservation({
      runId,
      account: settings.name,
      remoteAccountId: context.remoteAccountId,
      phase: 'after',
      takenAtMs: deps.clock.nowMs(),
      observed,
      // Later lists are compared with the last good ones, so these are good only if they show every change and nothing
      // else is missing: that would need a second reading.
      good:
        warnings.length === 0 &&
        planned.areListsGood &&
        !anythingMissing(baselineOf(observation.observed, deletes), observed),
      missingUse: observation.missingUse,
    });
  }
  const lists = { observed: observed ?? observation.observed, remoteAccountId: context.remoteAccountId };
  const pending = run.keptDeletes === null ? null : run.keptDeletes.pending;
  return await finish(run, context, { rows, lists, unverified: warnings, pending });
}

/** Ends the operations that the continued plan does not contain as it had them: held, or not tried. */
function leaveOut(context: ApplyContext, continued: ReviewedPlan): void {
  const isAgreed = isContained(continued);
  const left = context.operations.filter((operation) => !isAgreed(operation));
  for (const { action, kind, remoteId, seq } of left) {
    const held = continued.held.find(
      (each) => action === 'delete' && each.kind === kind && each.remoteId === remoteId,
    );
    if (held !== undefined)
      conclude(context, seq, 'held', { rule: held.rules[0] ?? null, reason: held.reason });
  }
  skip(context, left, 'it is not part of the plan that was agreed to; run `rolecall apply` again');
}

/** `kind:name key` of the creates of the plan, which end the run with a status of their own. */
function handledCreates(operations: readonly NumberedOperation[], { held }: Plan): Set<string> {
  const creates = [...operations, ...held].filter(({ action }) => action === 'create');
  return new Set(creates.map(({ kind, name }) => kindNameKey(kind, name)));
}

interface Applied {
  readonly rows: readonly NewOperation[];
  /** The last lists. */
  readonly lists: Pick<Observation, 'observed' | 'remoteAccountId'>;
  /** The differences that they showed. */
  readonly unverified: readonly Warning[];
  /** The digest of the plan that waits for approval; null: none waits; undefined: unchanged. */
  readonly pending: string | null | undefined;
}

type Results = Pick<
  ApplyContext,
  'halt' | 'deps' | 'request' | 'reader' | 'statuses' | 'operations' | 'deletesStopped'
>;

/** Ends the run. */
async function finish(
  run: PlannedRun,
  context: Results,
  { rows, lists, unverified, pending }: Applied,
): Promise<RunResult> {
  const { warnings, recorded } = run;
  const { plan } = run.planned;
  const { halt, deps, request, reader, statuses, operations, deletesStopped } = context;
  if (halt?.retryAfterMs !== undefined) {
    await deps.journal.rememberThrottle(request.settings.name, deps.clock.nowMs() + halt.retryAfterMs);
  }
  const tried = operations.filter(({ action }) => run.keptDeletes === null || action !== 'delete');
  const results = tried.flatMap(({ seq }) => statuses.get(seq) ?? []);
  const isWaiting = tried.length < operations.length;
  const error = halt ?? run.keptDeletes?.error ?? null;
  // A pause of all deletes began during the run.
  const stopped = deletesStopped === null ? [] : [{ code: 'deletes_stopped', message: deletesStopped }];
  const heldByPlan = plan.held.map(() => 'held' as const);
  const status = runStatus({
    statuses: [...results.map((result) => result.status), ...heldByPlan],
    interrupted: halt?.code === 'lock_lost' || request.signals.stop.aborted,
    // A run that relies on a change which no list has shown yet is never converged.
    unverified: unverified.length > 0 || plan.warnings.some(({ code }) => code === NOT_SHOWN_YET),
  });
  return await endRun(run, {
    status:
      HALTED_STATUSES[halt?.code ?? ''] ?? (isWaiting && SUCCESSES.includes(status) ? 'planned' : status),
    plan,
    lists,
    operations: rows,
    results: statuses,
    traffic: reader.traffic(),
    warnings: [...warnings, ...stopped, ...unverified, ...changedNames(context, lists)],
    ...(pending === undefined ? {} : { pending }),
    ...(recorded === undefined ? {} : { recorded }),
    ...(error === null ? {} : { error: { code: error.code, message: error.message } }),
  });
}

const SUCCESSES: readonly RunStatus[] = ['converged', 'held'];

/** The status of a run that was halted for this reason, whatever was done before. */
const HALTED_STATUSES: Readonly<Record<string, RunStatus>> = {
  identity_mismatch: 'failed',
  suspicious_list: 'blocked',
  paused: 'interrupted',
};

/** Warns of entries that the service created under another name than the requested one. */
function changedNames({ statuses, operations }: Results, { observed }: Applied['lists']): Warning[] {
  const names = namesByKey(observed);
  return operations.flatMap(({ kind, name, seq }): Warning[] => {
    const entry = statuses.get(seq)?.entry;
    if (entry === undefined) return [];
    const { remoteId } = entry;
    const stored = names.get(entryKey(kind, remoteId)) ?? entry.name;
    if (nameKey(stored) === nameKey(name)) return [];
    const message = `the service stored “${name}” as “${stored}”; rolecall treats them as the same ${kind} from now on`;
    return [{ code: 'name_changed', message, kind, name, remoteId }];
  });
}

/** Applies the creates, then the deletes. Only the deletes that the plan put first are applied before creates. */
async function applyInOrder(context: ApplyContext, operations: readonly NumberedOperation[]): Promise<void> {
  const creates = operations.filter(({ action }) => action === 'create');
  const deletes = operations.filter(({ action }) => action === 'delete');
  const firstCreate = creates[0]?.seq ?? 0;
  // Nothing is deleted in an account that is not confirmed; early deletes wait for the creates then.
  const early = context.identified ? deletes.filter(({ seq }) => seq < firstCreate) : [];
  const late = deletes.filter((operation) => !early.includes(operation));

  await applyDeletes(context, early);
  await applyCreates(context, creates);
  const failedKinds = KINDS.filter((kind) => creates.some((create) => failed(context, kind, create)));
  const allowed = late.filter(({ kind }) => !failedKinds.includes(kind));
  for (const { kind, seq } of late) {
    if (!failedKinds.includes(kind)) continue;
    if (context.halt === null) {
      const reason = `a create of a ${kind} did not succeed in this run, so no ${kind} is deleted`;
      conclude(context, seq, 'held', { rule: 'failed_creates', reason });
    }
  }
  await applyDeletes(context, context.halt === null ? allowed : []);
  skip(context, late, context.halt?.message ?? 'it was not tried');
}

function failed({ statuses }: ApplyContext, kind: Kind, create: NumberedOperation): boolean {
  return create.kind === kind && statuses.get(create.seq)?.status !== 'done';
}

/** Returns the check of the account id that an answer to a create carries. */
function accountIdClaimer({ runId, observation, request, deps }: PlannedRun): ApplyContext['claimAccountId'] {
  return async (accountId) => {
    const { remoteAccountId: expected } = observation;
    const { name: account, baseUrl } = request.settings;
    const claim = { runId, account, baseUrl, remoteAccountId: accountId, configured: request.configured };
    const isOther = expected !== null && accountId !== expected;
    const owner = isOther ? null : await deps.journal.claimRemoteAccount(claim);
    if (!isOther && owner === null) return null;
    const [what, fix] =
      owner === null
        ? [`but this account is ${expected}`, 'Fix the token or the pinned accountId']
        : [`which “${owner}” already manages at the same address`, 'Give each account its own token'];
    return `a create was answered for account ${accountId}, ${what}; nothing more was sent. The entries that this run created are in the account that answered; list them with \`rolecall show\`. ${fix}`;
  };
}

/** The plan as journal rows: operations as pending, held changes with their first rule. */
function journalRows(plan: Plan): NewOperation[] {
  const planned = plan.operations.map(
    ({ kind, action, name, remoteId = null, reason = null }): NewOperation => {
      return { kind, action, name, remoteId, status: 'pending', rule: null, reason };
    },
  );
  const held = plan.held.map(({ kind, action, name, remoteId, rules, reason }): NewOperation => {
    return { kind, action, name, remoteId, status: 'held', rule: rules[0] ?? null, reason };
  });
  return [...planned, ...held];
}
