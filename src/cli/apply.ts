// rolecall apply: plans, shows the plan, asks, carries it out, verifies.
import { journalBrokenAccount } from '../app/broken-account.ts';
import { reconcile } from '../app/reconcile.ts';
import type { Acceptance, AccountRequest } from '../app/request.ts';
import { ConfigError, StoreError, UsageError } from '../core/errors.ts';
import type { AgreedPlan } from '../core/operator.ts';
import type { Plan } from '../core/plan.ts';
import type { RunDetail } from '../core/journal-reader.ts';
import type { RunSignals } from '../core/ports.ts';
import { renderPlans } from '../report/plan-report.ts';
import { renderRunReports } from '../report/run-report.ts';
import { errorsOf, loadAccounts, mapAccounts } from './accounts.ts';
import type { Output, OutputOptions } from './console.ts';
import { canAsk, confirm, openOutput, progressLine, say, sayFailure } from './console.ts';
import type { ConfiguredAccount, Environment, RetryAfterOptions, Session } from './environment.ts';
import type { ExitStatus } from './exit-status.ts';
import { combine, EXIT, failureExit, runExit } from './exit-status.ts';
import { planOne } from './plan.ts';
import { agreedPlan, readSavedPlan } from './saved-plan.ts';
import { listenForSignals } from './signals.ts';

export interface ApplyOptions extends OutputOptions, RetryAfterOptions {
  readonly yes: boolean;
  readonly allowHeld: boolean;
  readonly lockTimeoutMs: number;
  readonly planFile?: string | undefined;
  readonly accept: Acceptance;
}

interface Applied {
  readonly exit: ExitStatus;
  readonly report: RunDetail | null;
}

export async function apply(
  environment: Environment,
  configFile: string,
  names: readonly string[],
  options: ApplyOptions,
): Promise<ExitStatus> {
  const asks = !options.yes && options.planFile === undefined;
  if (asks && !canAsk()) {
    throw new UsageError(
      'there is no terminal to ask on; look at `rolecall plan` first, then use --yes, or --plan with a saved plan',
    );
  }
  const saved = options.planFile === undefined ? null : await readSavedPlan(options.planFile);
  const { configuration, service, accounts } = await loadAccounts(
    environment,
    configFile,
    saved === null || names.length > 0 ? names : [...saved.keys()],
  );
  const signals = listenForSignals(service.daemon.shutdownGraceMs);
  const session = await environment.openSession(configuration, service, options);
  const output = openOutput(options);
  try {
    const expected =
      saved === null
        ? asks
          ? await previewAndAsk(accounts, session, signals, output)
          : new Map<string, AgreedPlan | null>()
        : agreedPlans(accounts, saved);
    if (expected === null) return signals.stop.aborted ? EXIT.interrupted : EXIT.done;
    const progress = progressLine();
    const applied = await mapAccounts(accounts, service.daemon.maxRuns, (account) =>
      applyOne(account, session, signals, options, {
        agreed: expected.get(account.name),
        // A preview has been shown already; a saved plan was shown when it was made.
        showPlan: asks || options.format === 'json' ? null : (plan) => show(output, [plan]),
        progress,
        readAgain: () => reread(environment, configFile, account.name, session, signals),
      }),
    );
    progress.clear();
    const reports = applied.flatMap(({ report }) => (report === null ? [] : [report]));
    await output.print(renderRunReports(reports, output.render));
    // Where no run could be journaled the store has said its trouble already.
    if (reports.length > 0) await session.prune();
    return combine(applied.map(({ exit }) => exit));
  } finally {
    await output.close();
    await session.close();
    signals.release();
  }
}

async function show(output: Output, plans: Parameters<typeof renderPlans>[0]): Promise<void> {
  await output.print(renderPlans(plans, output.render));
}

/** Shows every plan and asks once. Resolves with the digests that the answer was about, or null for a no. */
async function previewAndAsk(
  accounts: readonly ConfiguredAccount[],
  session: Session,
  signals: RunSignals,
  output: Output,
): Promise<ReadonlyMap<string, AgreedPlan | null> | null> {
  const plans = await mapAccounts(accounts, 8, (account) =>
    planOne(account, session, session.planning, signals),
  );
  if (output.render.format === 'json')
    process.stderr.write(renderPlans(plans, { ...output.render, format: 'text' }));
  else await show(output, plans);
  const agreed = new Map(plans.map((plan) => [plan.account, agreedPlan(plan)] as const));
  const writes = plans.reduce(
    (sum, plan) => sum + (plan.status === 'planned' ? plan.operations.length : 0),
    0,
  );
  if (writes === 0) return agreed;
  const isConfirmed = await confirm(
    `Carry out ${writes} operation${writes === 1 ? '' : 's'}? A delete cannot be taken back.`,
    signals.stop,
  );
  if (isConfirmed) return agreed;
  say('Nothing was written.');
  return null;
}

function agreedPlans(
  accounts: readonly ConfiguredAccount[],
  saved: ReadonlyMap<string, AgreedPlan | null>,
): ReadonlyMap<string, AgreedPlan | null> {
  for (const { name } of accounts) {
    if (!saved.has(name)) throw new UsageError(`the saved plan holds no plan of ${name}`);
  }
  return saved;
}

/** What the account's files say now. Throws ConfigError when they are broken by now, or gone. */
async function reread(
  environment: Environment,
  configFile: string,
  name: string,
  session: Session,
  signals: RunSignals,
): Promise<AccountRequest> {
  const configuration = await environment.loadConfiguration(configFile);
  const { service, accounts, issues } = configuration;
  const settings = accounts.find((account) => account.name === name)?.settings;
  if (service === undefined || settings === undefined) throw new ConfigError(errorsOf(issues));
  const commit = await environment.commitOf(configuration, service);
  return { ...session.requestFor(settings, 'cli', signals), commit };
}

async function applyOne(
  account: ConfiguredAccount,
  session: Session,
  signals: RunSignals,
  options: ApplyOptions,
  {
    agreed,
    showPlan,
    progress,
    readAgain,
  }: {
    readonly readAgain: () => Promise<AccountRequest>;
    readonly agreed: AgreedPlan | null | undefined;
    readonly showPlan: ((plan: Plan) => Promise<void>) | null;
    readonly progress: ReturnType<typeof progressLine>;
  },
): Promise<Applied> {
  const deps = session.applying;
  if (account.settings === undefined) {
    const { runId } = await journalBrokenAccount(
      account.name,
      errorsOf(account.issues),
      'cli',
      'apply',
      session.commit,
      deps,
    );
    return { exit: EXIT.invalidConfiguration, report: await session.reader.run(runId) };
  }
  if (agreed === null) {
    say(`${account.name}: the plan of this account failed, so there is nothing to carry out`);
    return { exit: EXIT.failed, report: null };
  }
  const result = await reconcileOrExplain(
    account.name,
    session.requestFor(account.settings, 'cli', signals),
    deps,
    {
      mode: 'apply',
      accept: options.accept,
      agreed,
      lockTimeoutMs: options.lockTimeoutMs,
      reread: readAgain,
      onWait: (heldBy) => say(`${account.name}: waiting for the lock, which is held by ${heldBy}`),
      onProgress: ({ done, total }) => progress.show(`${account.name}: ${done} of ${total} operations…`),
      ...(showPlan === null ? {} : { onPlan: showPlan }),
    },
  );
  if (result === null) return { exit: EXIT.failed, report: null };
  if ('heldBy' in result) {
    say(
      `${account.name}: the lock is held by ${result.heldBy}; nothing was written. Run it again when that has ended, or let it wait with --lock-timeout`,
    );
    return { exit: signals.stop.aborted ? EXIT.interrupted : EXIT.failed, report: null };
  }
  const exit =
    result.failure?.code === 'plan_stale'
      ? failureExit('plan_stale')
      : runExit(result.status, result.failure?.code ?? null, options.allowHeld);
  return { exit, report: await session.reader.run(result.runId) };
}

/** A run whose journal fails cannot be reported from it; what is known is said instead. */
async function reconcileOrExplain(
  account: string,
  ...args: Parameters<typeof reconcile>
): Promise<Awaited<ReturnType<typeof reconcile>> | null> {
  try {
    return await reconcile(...args);
  } catch (error) {
    if (!(error instanceof StoreError)) throw error;
    sayFailure(`error: ${account}`, error);
    say(
      `${account}: the run ended there: nothing more was sent. What it had sent before stands in the journal or is in doubt; the next apply finds that out before it plans, so run it again once the store is well.`,
    );
    return null;
  }
}
