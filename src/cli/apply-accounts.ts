// The work of `apply`: plans, shows the plan, asks for confirmation, applies the plan and verifies the result.
import { reconcile } from '../run/reconcile.ts';
import {
  type Acceptance,
  ACCEPT_NOTHING,
  type AccountRequest,
  type ReconcileOptions,
} from '../run/request.ts';
import { ConfigError, StoreError, UsageError, errorsOf } from '../core/errors.ts';
import { type AgreedPlan, describePause } from '../core/operator.ts';
import type { Plan } from '../core/plan.ts';
import type { RunDetail } from '../core/ports/journal-reader.ts';
import type { RunSignals } from '../core/ports/clock.ts';
import { isOneDocument, type ReportDetail } from '../report/document.ts';
import { planPrinter } from '../report/plan-report.ts';
import { renderRunReports } from '../report/run-report.ts';
import { askToApply } from './ask-to-apply.ts';
import { openOutput, type OutputOptions, showFailure, showMessage, listenForSignals } from './console.ts';
import type { ConfiguredAccount } from '../core/settings.ts';
import { type CommandContext, commitOf, openSession, type Session, sourceDetail } from './compose.ts';
import { combine, EXIT, type ExitStatus, failureExit, runExit } from './exit-status.ts';
import { mapAccounts, type Observe } from './progress.ts';
import { journalBroken, readSavedPlan } from './plan-accounts.ts';
import {
  accountList,
  accountNamed,
  isExclusion,
  loadAccounts,
  loadConfiguration,
  requireAll,
  selectAccounts,
} from './load-accounts.ts';

export interface ApplyOptions extends OutputOptions, ReportDetail {
  readonly yes?: boolean;
  /** Whether to apply to every account. */
  readonly all?: boolean;
  /** The file of a saved plan. */
  readonly plan?: string;
  readonly allowHeld?: boolean;
  /** `false`: the deletes of the plans are left out. */
  readonly delete?: boolean;
  readonly accept?: Acceptance;
  /** In milliseconds. */
  readonly lockTimeout: number;
}

interface Applying extends CommandContext {
  readonly session: Session;
  readonly signals: RunSignals;
  readonly options: ApplyOptions;
  readonly observe: Observe;
  /** Shows the plan before it is applied; null when it was shown already, or when the report contains it. */
  readonly onPlan: ((plan: Plan) => Promise<void>) | null;
}

interface Applied {
  readonly exit: ExitStatus;
  readonly report: RunDetail | null;
}

/** Plans and applies accounts and prints their runs. Asks for confirmation unless `--yes` or `--plan` is given. */
export async function applyToAccounts(
  context: CommandContext,
  names: readonly string[],
  options: ApplyOptions,
): Promise<ExitStatus> {
  const asks = options.yes !== true && options.plan === undefined;
  const saved = options.plan === undefined ? null : await readSavedPlan(options.plan);
  const { accept = ACCEPT_NOTHING } = options;
  const loaded = await loadAccounts(context.configFile);
  const { configuration, service } = loaded;
  if (saved === null && names.every(isExclusion)) requireAll(configuration);
  const accounts = accountsToApply(loaded.accounts, names, saved, options.all === true);
  const output = openOutput(options);
  const signals = listenForSignals();
  const session = await openSession(context, configuration, service, { accept });
  const detail = { verbose: options.verbose, ...(await sourceDetail(loaded, session.commit)) };
  try {
    const paused = await session.store.reader.pauseOfAll(Date.now());
    const notice = describePause(paused);
    const pause = accept.has('pause') ? null : paused;
    const noDelete = options.delete === false;
    const asking = { accounts, session, signals, service, noDelete, pause };
    const consent =
      asks || pause?.onlyDeletes === false
        ? await askToApply({ ...asking, detail: { ...detail, notice } }, output)
        : { agreed: saved ?? new Map<string, AgreedPlan | null>() };
    if ('exit' in consent) {
      if (isOneDocument(options.format)) {
        // A report that is one document is about runs, also when nothing is applied.
        const runs = await Promise.all(consent.runIds.map((id) => session.store.reader.runReport(id)));
        const dryRuns = runs.filter((run) => run !== null);
        await output.print(renderRunReports(dryRuns, { ...output.render, ...detail, notice }));
      }
      if (consent.refusal !== undefined) throw consent.refusal;
      return consent.exit;
    }
    // With a question, or when it was saved, the plan has been shown already. A report that is one document contains it.
    const printed = planPrinter(accounts.length, { ...output.render, ...detail });
    const isShown = asks || saved !== null || isOneDocument(options.format);
    const onPlan = isShown ? null : (plan: Plan) => output.print(printed(plan));
    const applying = { ...context, session, signals, options, onPlan };
    const applied = await mapAccounts('applied', accounts, service, (account, observe) =>
      applyOne(account, consent.agreed.get(account.name), { ...applying, observe }),
    );
    const reports = applied.flatMap(({ report }) => (report === null ? [] : [report]));
    if (reports.length > 0 || options.format === 'json')
      await output.print(renderRunReports(reports, { ...output.render, ...detail, notice }));
    // When no run was journaled, the store has failed already and the error is shown.
    if (reports.length > 0) await prune(session);
    return combine(applied.map(({ exit }) => exit));
  } finally {
    await output.close();
    await session.close();
    signals.release();
  }
}

/** The runs are complete and reported: a store that cannot be pruned now is pruned after another run. */
async function prune(session: Session): Promise<void> {
  try {
    await session.prune();
  } catch (error) {
    if (!(error instanceof StoreError)) throw error;
    showMessage(`warning: old runs could not be pruned; the next apply tries again: ${error.message}`);
  }
}

/** The accounts to apply to. Several accounts need names, globs or `--all`. Throws UsageError. */
function accountsToApply(
  accounts: readonly ConfiguredAccount[],
  names: readonly string[],
  saved: ReadonlyMap<string, AgreedPlan | null> | null,
  all: boolean,
): ConfiguredAccount[] {
  if (all && saved !== null) {
    throw new UsageError('--all and --plan cannot be used together: a saved plan names its accounts');
  }
  if (all && !names.every(isExclusion)) {
    throw new UsageError(
      "--all and account names cannot be used together; use one of them, and exclusions such as '!eu-test'",
    );
  }
  if (saved !== null) {
    const planned = [...saved.keys()].map((name) => accountNamed(accounts, name));
    const selected = selectAccounts(names.every(isExclusion) ? planned : accounts, names);
    const unplanned = selected.find(({ name }) => !saved.has(name));
    if (unplanned !== undefined) throw new UsageError(`the saved plan contains no plan of ${unplanned.name}`);
    return selected;
  }
  // An exclusion alone does not select an account.
  if (names.every(isExclusion) && !all && accounts.length > 1) {
    throw new UsageError(
      `apply needs names, globs such as 'eu-*', or --all (an exclusion alone is not enough); ${accountList(accounts)}`,
    );
  }
  return selectAccounts(accounts, names);
}

/** Loads the account's files again. Throws ConfigError when they are invalid or missing by now. */
async function reloadRequest(
  name: string,
  { configFile, session, signals, observe }: Applying,
): Promise<AccountRequest> {
  const configuration = await loadConfiguration(configFile);
  const { service, accounts, issues } = configuration;
  const settings = accounts.find((account) => account.name === name)?.settings;
  if (service === undefined || settings === undefined) throw new ConfigError(errorsOf(issues));
  const commit = await commitOf(configuration, service);
  return { ...session.requestFor(settings, 'cli', signals), commit, progress: observe };
}

/** Applies one account. `agreed`: the confirmed or saved plan; null if planning failed; undefined without either. */
async function applyOne(
  account: ConfiguredAccount,
  agreed: AgreedPlan | null | undefined,
  applying: Applying,
): Promise<Applied> {
  const { session, signals, options, observe, onPlan } = applying;
  if (account.settings === undefined) {
    const { runId } = await journalBroken(account, 'apply', session);
    return { exit: EXIT.invalidConfiguration, report: await session.store.reader.runReport(runId) };
  }
  if (agreed === null) {
    showMessage(`${account.name}: there is no plan to apply, because planning this account failed`);
    return { exit: EXIT.failed, report: null };
  }
  const request = { ...session.requestFor(account.settings, 'cli', signals), progress: observe };
  const run = (plan: Partial<Pick<ReconcileOptions, 'agreed' | 'continued'>>) =>
    reconcileOrReport(account.name, request, session.applying, {
      ...plan,
      mode: 'apply',
      noDelete: options.delete === false,
      lockTimeoutMs: options.lockTimeout,
      reread: () => reloadRequest(account.name, applying),
      ...(onPlan === null ? {} : { onPlan }),
    });
  let result = await run({ agreed });
  if (result !== null && 'plan' in result && result.isDoubtful && !signals.stop.aborted) {
    showMessage(
      `${account.name}: no list shows yet what became of some operations; a second run settles them`,
    );
    result = await run({ continued: result.plan });
  }
  if (result === null) return { exit: EXIT.failed, report: null };
  if ('heldBy' in result) {
    showMessage(
      `${account.name}: the lock is held by ${result.heldBy}; nothing was written. Try again when that run has ended, or wait longer with --lock-timeout`,
    );
    return { exit: signals.stop.aborted ? EXIT.interrupted : EXIT.failed, report: null };
  }
  const exit =
    result.failure?.code === 'plan_stale'
      ? failureExit('plan_stale')
      : runExit(result.status, result.failure?.code ?? null, options.allowHeld === true);
  return { exit, report: await session.store.reader.runReport(result.runId) };
}

/** Shows the error and returns null when the store fails, since such a run cannot be reported from the journal. */
async function reconcileOrReport(
  account: string,
  ...args: Parameters<typeof reconcile>
): Promise<Awaited<ReturnType<typeof reconcile>> | null> {
  try {
    return await reconcile(...args);
  } catch (error) {
    if (!(error instanceof StoreError)) throw error;
    showFailure(`error: ${account}`, error);
    showMessage(
      `${account}: the run ended; no further requests were sent. The results of earlier requests may be missing from the journal; the next apply checks them before it plans. Run apply again when the store works.`,
    );
    return null;
  }
}
