// The dry run, for `plan` and for the question of `apply`, and the file of `plan --save`, which `apply --plan` reads. The
// service client has no methods that write.
import { type FailedPlan, NO_HISTORY, planDigest, type PlanResult, UNKNOWN_ACCOUNT } from '../core/plan.ts';
import path from 'node:path';
import { readFile, stat, writeFile } from 'node:fs/promises';
import { dryRun } from '../run/reconcile.ts';
import { ACCEPT_NOTHING, type Acceptance } from '../run/request.ts';
import { journalBrokenAccount, type RunResult } from '../run/run-result.ts';
import { StoreError, UsageError, errorCode, errorsOf } from '../core/errors.ts';
import { type AgreedPlan, describePause } from '../core/operator.ts';
import type { RunSignals } from '../core/ports/clock.ts';
import { renderPlans } from '../report/plan-report.ts';
import type { ReportDetail } from '../report/document.ts';
import { visibleJson } from '../report/escape-invisible.ts';
import { sha256 } from '../system/digest.ts';
import { loadAccounts } from './load-accounts.ts';
import { checkWritable, type OutputOptions, printReport, showMessage, listenForSignals } from './console.ts';
import type { ConfiguredAccount } from '../core/settings.ts';
import { type CommandContext, LOOKING, openSession, type Session, sourceDetail } from './compose.ts';
import { combinePlans, EXIT, type ExitStatus, failureExit, planExit } from './exit-status.ts';
import { mapAccounts, type Observe } from './progress.ts';
import { planRemotely } from './remote-plan.ts';
import { userAtHost } from '../system/runtime.ts';

/** A saved plan names people by their ids. */
const PRIVATE = 0o600;

export interface PlanOptions extends OutputOptions, ReportDetail {
  /** The file for `apply --plan`. */
  readonly save?: string | undefined;
  readonly detailedExitcode?: boolean;
  readonly accept?: Acceptance;
  /** The address of a daemon that plans instead. */
  readonly server?: string | undefined;
}

/** Plans the accounts here or on a daemon, prints the plans and saves them if requested. */
export async function planAccounts(
  context: CommandContext,
  names: readonly string[],
  options: PlanOptions,
): Promise<ExitStatus> {
  if (options.save !== undefined && options.output !== undefined)
    refuseSameFile(options.save, options.output);
  if (options.save !== undefined) checkWritable(options.save, '--save');
  if (options.server !== undefined) {
    const { plans, ...own } = await planRemotely(context, names, options.server);
    return await report(plans, options, own);
  }
  const loaded = await loadAccounts(context.configFile, names);
  const { configuration, service, accounts } = loaded;
  const signals = listenForSignals();
  const { accept = ACCEPT_NOTHING } = options;
  const session = await openSession(context, configuration, service, { ...LOOKING, accept });
  try {
    const planned = await mapAccounts('planned', accounts, service, (account, observe) =>
      planOne(account, { session, signals, observe }),
    );
    const notice = describePause(await session.store.reader.pauseOfAll(Date.now()));
    const status = await report(
      planned.map(({ result }) => result),
      options,
      { ...(await sourceDetail(loaded, session.commit)), notice },
    );
    return signals.stop.aborted ? EXIT.interrupted : status;
  } finally {
    await session.close();
    signals.release();
  }
}

/** One of the two would replace the other. */
function refuseSameFile(save: string, output: string): void {
  if (path.resolve(save) !== path.resolve(output)) return;
  throw new UsageError(`--save and --output name the same file ${output}; use two files`);
}

async function report(
  plans: readonly PlanResult[],
  options: PlanOptions,
  detail: ReportDetail,
): Promise<ExitStatus> {
  await printReport(options, (render) =>
    renderPlans(plans, { ...render, ...detail, verbose: options.verbose }),
  );
  if (options.save !== undefined) await save(options.save, plans);
  return combinePlans(
    plans.map((result) =>
      result.status === 'failed'
        ? isUnplannedAddition(result, options)
          ? EXIT.done
          : failureExit(result.error.code)
        : planExit(result, options.detailedExitcode === true),
    ),
  );
}

/** Whether a pull request adds this account: the daemon plans it after its own configuration contains it. */
function isUnplannedAddition({ error }: FailedPlan, { server }: PlanOptions): boolean {
  return server !== undefined && error.code === UNKNOWN_ACCOUNT;
}

export interface PlannedAccount {
  readonly result: PlanResult;
  readonly runId: string;
}

/** What the dry runs of one command share. */
export interface Planning {
  readonly session: Session;
  readonly signals: RunSignals;
  readonly observe: Observe;
}

/** Plans one account and journals the dry run. Returns the plan, or the failure. */
export async function planOne(
  account: ConfiguredAccount,
  { session, signals, observe }: Planning,
): Promise<PlannedAccount> {
  const { runId, plan, failure } =
    account.settings === undefined
      ? await journalBroken(account, 'plan', session)
      : await dryRun(
          { ...session.requestFor(account.settings, 'cli', signals), progress: observe },
          session.planning,
        );
  if (failure === null && plan !== null) return { runId, result: plan };
  const error = failure ?? { code: 'internal', message: 'no plan was made' };
  return { runId, result: { schemaVersion: 1, account: account.name, status: 'failed', error } };
}

/** Journals the failed run of an account whose file is invalid. */
export async function journalBroken(
  { name: account, issues }: ConfiguredAccount,
  mode: 'plan' | 'apply',
  { commit, planning }: Session,
): Promise<RunResult> {
  const broken = {
    account,
    issues: errorsOf(issues),
    trigger: 'cli',
    actor: userAtHost(),
    mode,
    commit,
  } as const;
  return await journalBrokenAccount(broken, planning);
}

async function save(file: string, plans: readonly PlanResult[]): Promise<void> {
  try {
    await writeFile(file, `${visibleJson(plans, 2)}\n`, { mode: PRIVATE });
  } catch (error) {
    throw new StoreError(
      'output_failed',
      `cannot write ${file} (${errorCode(error)}); the plan was not saved`,
    );
  }
}

/** A digest that no plan has: a plan that was edited in the file is never applied. */
const EDITED = 'edited';

/**
 * The saved plan of each account; null for an account that could not be planned. A plan whose operations were edited
 * gets a digest that no plan matches.
 */
export async function readSavedPlan(file: string): Promise<ReadonlyMap<string, AgreedPlan | null>> {
  // Loaded only here: to create the schemas takes a tenth of the time of a short command.
  const { checkPlans } = await import('../core/schemas.ts');
  const checked = checkPlans(parse(file, await read(file)));
  if ('problem' in checked) throw notAPlan(file, checked.problem);
  if (checked.plans.length === 0) throw notAPlan(file, 'it contains no plan');
  const plans = new Map<string, AgreedPlan | null>();
  for (const plan of checked.plans) {
    const { account } = plan;
    if (plans.has(account)) throw notAPlan(file, `it contains ${account} twice`);
    if (
      plan.status === 'failed' ||
      planDigest(plan.remoteAccountId, plan.operations, sha256) === plan.digest
    ) {
      plans.set(account, agreedPlan(plan));
      continue;
    }
    showMessage(
      `${account}: its plan in ${file} was edited after it was saved; save a new plan with \`rolecall plan --save\``,
    );
    // Nothing is compared with a plan that is not as it was saved: the difference would be that of the edit.
    plans.set(account, { digest: EDITED, firstObserved: null, reviewed: null });
  }
  return plans;
}

/** What a run must plan again before it applies this plan; null when the account could not be planned. */
export function agreedPlan(plan: PlanResult): AgreedPlan | null {
  if (plan.status === 'failed') return null;
  const isFirst = plan.warnings.some(({ code }) => code === NO_HISTORY);
  return { digest: plan.digest, firstObserved: isFirst ? plan.observedDigest : null, reviewed: plan };
}

/** More than the plan of the largest account. */
const LARGEST_BYTES = 256 * 1024 ** 2;

async function read(file: string): Promise<string> {
  try {
    const found = await stat(file);
    // A pipe could block, and a device may have no end.
    if (found.isFile() && found.size <= LARGEST_BYTES) return await readFile(file, 'utf8');
  } catch (error) {
    const reason = errorCode(error);
    throw new UsageError(`cannot read the saved plan ${file} (${reason}); check the path of --plan`);
  }
  throw notAPlan(file, 'it is not a regular file of at most 256 MiB');
}

function parse(file: string, text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // The parser's message is not shown, since it quotes the text.
  }
  throw notAPlan(file, 'it is not JSON');
}

function notAPlan(file: string, why: string): UsageError {
  return new UsageError(`${file} is not a file of \`rolecall plan --save\`: ${why}`);
}
