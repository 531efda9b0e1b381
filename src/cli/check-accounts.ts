// Checks, for `doctor`, everything that a run needs. Writes nothing to the service.
import { readAccount } from '../run/observe.ts';
import { describeFailure, rememberThrottle } from '../run/run-result.ts';
import { listedAccountId } from '../core/identity.ts';
import { formatConfigIssue, type SecretIssue } from '../core/errors.ts';
import type { RunSignals } from '../core/ports/clock.ts';
import type { ProgressObserver } from '../core/ports/progress.ts';
import { yamlQuoted } from '../core/yaml-text.ts';
import { type Diagnosis, type Finding, renderDiagnoses } from '../report/check-reports.ts';
import { count, instant } from '../report/formatting.ts';
import { errorsOf, loadAccounts, mapAccounts } from './load-accounts.ts';
import { type OutputOptions, printReport } from './console.ts';
import { checkSecrets } from '../config/secrets.ts';
import { storeName } from '../config/store-location.ts';
import type { ConfiguredAccount, ServiceSettings } from '../core/settings.ts';
import { nextTicks } from '../daemon/cron.ts';
import { type CommandContext, openSession, type Session } from './compose.ts';
import { type ExitStatus, combine, EXIT, failureExit } from './exit-status.ts';
import { showProgress, showStep } from './progress.ts';
import { listenForSignals } from './user-input.ts';

/** What was found, with the exit status that follows from it. */
interface Checked extends Diagnosis {
  readonly exit: ExitStatus;
}

/** Checks the store, the secrets and each account, and prints what was found. */
export async function checkAccounts(
  context: CommandContext,
  names: readonly string[],
  options: OutputOptions,
): Promise<ExitStatus> {
  const { configuration, service, accounts } = await loadAccounts(context.configFile, names);
  const signals = listenForSignals(service.daemon.shutdownGraceMs);
  const secrets = await checkSecrets(configuration, process.env);
  const { session, diagnosis } = await showStep('store', { text: 'checking the store' }, () =>
    openStore(service, () => openSession(context, configuration, service)),
  );
  try {
    const diagnoses = [...ownSecrets(secrets), diagnosis];
    if (session !== null) {
      diagnoses.push(
        ...(await showProgress({ verb: 'checked', accounts: accounts.length }, (track) =>
          mapAccounts(accounts, service.daemon.maxRuns, (account) =>
            track(account.name, (observe) => examine(account, { session, signals, observe })),
          ),
        )),
      );
    }
    await printReport(options, (render) => renderDiagnoses(diagnoses, render));
    if (signals.stop.aborted) return EXIT.interrupted;
    return combine(diagnoses.map(({ exit }) => exit));
  } finally {
    await session?.close();
    signals.release();
  }
}

async function openStore(
  service: ServiceSettings,
  open: () => Promise<Session>,
): Promise<{ session: Session | null; diagnosis: Checked }> {
  const title = `store ${await storeName(service)}`;
  let session: Session | null = null;
  try {
    session = await open();
    await session.store.check();
    await session.store.verify();
    const findings = [{ ok: true, what: 'store', detail: 'readable, writable and not damaged' }];
    return { session, diagnosis: { title, account: null, findings, exit: EXIT.done } };
  } catch (error) {
    await session?.close();
    const failure = describeFailure(error);
    const findings = [{ ok: false, what: 'store', detail: failure.message }];
    return { session: null, diagnosis: { title, account: null, findings, exit: failureExit(failure.code) } };
  }
}

/** The warnings about secrets that belong to no account. */
function ownSecrets(secrets: readonly SecretIssue[]): Checked[] {
  const findings = secrets
    .filter(({ account }) => account === undefined)
    .map((issue): Finding => ({ ok: true, what: 'warning', detail: formatConfigIssue(issue) }));
  return findings.length === 0
    ? []
    : [{ title: 'secrets of the service', account: null, findings, exit: EXIT.done }];
}

interface Examination {
  readonly session: Session;
  readonly signals: RunSignals;
  readonly observe: ProgressObserver;
}

async function examine(
  account: ConfiguredAccount,
  { session, signals, observe }: Examination,
): Promise<Checked> {
  const title = `account ${account.name}`;
  const { settings } = account;
  if (settings === undefined) {
    const findings = errorsOf(account.issues).map((issue) => ({
      ok: false,
      what: 'configuration',
      detail: formatConfigIssue(issue),
    }));
    return { title, account: account.name, findings, exit: EXIT.invalidConfiguration };
  }
  const next = nextTicks(settings.schedule, settings.timezone, 3);
  const findings: Finding[] = [
    {
      ok: true,
      what: 'schedule',
      detail: `${settings.schedule} ${settings.timezone}, mode ${settings.mode}; next ${next.map((ms) => instant(new Date(ms).toISOString())).join(', ')}`,
    },
  ];
  try {
    const { planning, store } = session;
    const reader = await planning.service.reader(settings, signals);
    const request = { ...session.requestFor(settings, 'cli', signals), progress: observe };
    const journal = {
      ...planning.journal,
      claimant: (claim: Parameters<typeof store.reader.claimant>[0]) => store.reader.claimant(claim),
    };
    const { observed, implausible } = await readAccount({ reader, request, clock: planning.clock }, journal);
    const listed = listedAccountId(observed);
    const pin =
      settings.accountId === undefined ? `; pin it with accountId: ${yamlQuoted(listed ?? '')}` : '';
    const warnings = implausible === null ? observed.warnings : [...observed.warnings, implausible];
    findings.push(
      { ok: true, what: 'address', detail: `${settings.baseUrl} answers and accepts the token` },
      {
        ok: true,
        what: 'lists',
        detail: `${count(observed.skill.length, 'skill')}, ${count(observed.role.length, 'role')}, ${count(observed.resources.length, 'resource')}, all well-formed`,
      },
      ...warnings.map(({ message }) => ({ ok: true, what: 'note', detail: message })),
      {
        ok: true,
        what: 'account id',
        detail:
          listed === null
            ? 'the lists contain no account id; the response to the first create shows it'
            : `${listed}${pin}`,
      },
    );
    return { title, account: account.name, findings, exit: EXIT.done };
  } catch (error) {
    const failure = describeFailure(error, signals.stop);
    await rememberThrottle(account.name, error, session.planning);
    const what = failure.code === 'identity_mismatch' ? 'account id' : 'service';
    findings.push({ ok: false, what, detail: failure.message });
    return { title, account: account.name, findings, exit: failureExit(failure.code) };
  }
}
