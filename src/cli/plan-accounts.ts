// The dry run, for `plan` and for the question of `apply`. Its service client has no methods that write.
import path from 'node:path';
import { writeFile } from 'node:fs/promises';
import { errorCode } from '../core/error-code.ts';
import { dryRun } from '../run/reconcile.ts';
import { ACCEPT_NOTHING, type Acceptance } from '../run/request.ts';
import { journalBrokenAccount } from '../run/run-result.ts';
import { StoreError, UsageError } from '../core/errors.ts';
import { type FailedPlan, type PlanResult, UNKNOWN_ACCOUNT } from '../core/plan.ts';
import type { RunSignals } from '../core/ports/clock.ts';
import { renderPlans } from '../report/plan-report.ts';
import type { ReportDetail } from '../report/document.ts';
import { visibleJson } from '../report/escape-invisible.ts';
import { errorsOf, loadAccounts, mapAccounts } from './load-accounts.ts';
import { type CommandContext, reportDetail } from './command-line.ts';
import { openOutput, type OutputOptions } from './console.ts';
import type { ConfiguredAccount } from '../core/settings.ts';
import { openSession, type RetryAfterOptions, type Session } from './compose.ts';
import { combinePlans, EXIT, type ExitStatus, failureExit, planExit } from './exit-status.ts';
import { type Observe, showProgress } from './progress.ts';
import { planRemotely } from './remote-plan.ts';
import { listenForSignals } from './signals.ts';
import { checkWritable } from './writable-files.ts';

/** A saved plan names people by their ids. */
const PRIVATE = 0o600;

export interface PlanOptions extends OutputOptions, RetryAfterOptions, ReportDetail {
  /** The file for `apply --plan`. */
  readonly save?: string | undefined;
  readonly detailedExitcode?: boolean;
  /** Whether deletes are planned although the store has no earlier lists of the account. */
  readonly acceptNoHistory?: boolean;
  /** The address of a daemon that plans instead. */
  readonly server?: string | undefined;
}

/** Plans the accounts here or on a daemon, prints the plans and saves them if requested. */
export async function planAccounts(
  context: CommandContext,
  names: readonly string[],
  options: PlanOptions,
): Promise<ExitStatus> {
  const detail = reportDetail(options);
  if (options.save !== undefined && options.output !== undefined)
    refuseSameFile(options.save, options.output);
  if (options.save !== undefined) checkWritable(options.save, '--save');
  if (options.server !== undefined) {
    const plans = await planRemotely(context, names, options.server);
    return await report(plans, options, detail);
  }
  const { version, configFile } = context;
  const { configuration, service, accounts } = await loadAccounts(configFile, names);
  const signals = listenForSignals(service.daemon.shutdownGraceMs);
  const accept = { ...ACCEPT_NOTHING, noHistory: options.acceptNoHistory === true };
  const session = await openSession(version, configuration, service, options);
  try {
    const planned = await showProgress({ verb: 'planned', accounts: accounts.length }, (track) =>
      mapAccounts(accounts, service.daemon.maxRuns, (account) =>
        track(account.name, (observe) => planOne(account, { session, signals, observe, accept })),
      ),
    );
    const status = await report(
      planned.map(({ result }) => result),
      options,
      { ...detail, hasLocalChanges: session.commit?.dirty === true },
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
  const output = openOutput(options);
  await output.print(renderPlans(plans, { ...output.render, ...detail }));
  await output.close();
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
  readonly accept?: Acceptance;
}

/** Plans one account and journals the dry run. Returns the plan, or the failure. */
export async function planOne(
  account: ConfiguredAccount,
  { session, signals, observe, accept = ACCEPT_NOTHING }: Planning,
): Promise<PlannedAccount> {
  const deps = session.planning;
  const { runId, plan, failure } =
    account.settings === undefined
      ? await journalBrokenAccount(
          {
            account: account.name,
            issues: errorsOf(account.issues),
            trigger: 'cli',
            mode: 'plan',
            commit: session.commit,
          },
          deps,
        )
      : await dryRun(
          { ...session.requestFor(account.settings, 'cli', signals), progress: observe },
          deps,
          accept,
        );
  if (failure === null && plan !== null) return { runId, result: plan };
  const error = failure ?? { code: 'internal', message: 'no plan was made' };
  return { runId, result: { schemaVersion: 1, account: account.name, status: 'failed', error } };
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
