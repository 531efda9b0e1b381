// Checks, for `validate --online`, everything that a run needs. Writes nothing to the service.
import type { ReadAccount } from '../run/observe.ts';
import { describeFailure } from '../run/run-result.ts';
import { listedAccountId } from '../core/identity.ts';
import { formatConfigIssue, errorsOf } from '../core/errors.ts';
import { yamlQuoted } from '../core/yaml-text.ts';
import type { Diagnosis, Finding } from '../report/check-reports.ts';
import { count, instant } from '../report/formatting.ts';
import { loadAccounts } from './load-accounts.ts';
import { storeName } from '../config/store-location.ts';
import type { ConfiguredAccount, ServiceSettings } from '../core/settings.ts';
import { nextTicks } from '../daemon/cron.ts';
import type { Store } from '../store/store.ts';
import { type CommandContext, openJournal } from './compose.ts';
import { type ExitStatus, combine, EXIT, failureExit } from './exit-status.ts';
import { showStep } from './progress.ts';
import { type AccountReading, openReading } from './read-accounts.ts';

const NO_ID = 'the lists contain no account id; the response to the first create shows it';

/** What was found, with the exit status that follows from it. */
interface Checked extends Diagnosis {
  readonly exit: ExitStatus;
}

/** Checks the store and each account. */
export async function checkAccounts(
  context: CommandContext,
  names: readonly string[],
): Promise<{ readonly diagnoses: readonly Diagnosis[]; readonly exit: ExitStatus }> {
  const loaded = await loadAccounts(context.configFile, names);
  const store = await showStep('store', { text: 'checking the store' }, () => checkStore(loaded.service));
  const diagnoses = [store];
  const reading = store.exit === EXIT.done ? await openReading(context, loaded) : null;
  try {
    const examined = await reading?.readEach(loaded.accounts, (account, read) =>
      examine(account, read, reading),
    );
    diagnoses.push(...(examined ?? []));
    const isInterrupted = reading?.isInterrupted() === true;
    return { diagnoses, exit: isInterrupted ? EXIT.interrupted : combine(diagnoses.map(({ exit }) => exit)) };
  } finally {
    await reading?.close();
  }
}

function good(what: string, detail: string): Finding {
  return { ok: true, what, detail };
}

/** A store that does not exist yet is created. */
async function checkStore(service: ServiceSettings): Promise<Checked> {
  const found = { title: `store ${await storeName(service)}`, account: null };
  let store: Store | null = null;
  try {
    store = await openJournal(service, {});
    await store.check();
    await store.verify();
    return { ...found, findings: [good('store', 'readable, writable and not damaged')], exit: EXIT.done };
  } catch (error) {
    const { code, message } = describeFailure(error);
    return { ...found, findings: [{ ok: false, what: 'store', detail: message }], exit: failureExit(code) };
  } finally {
    await store?.close();
  }
}

async function examine(
  account: ConfiguredAccount,
  read: () => Promise<ReadAccount>,
  reading: AccountReading,
): Promise<Checked> {
  const title = `account ${account.name}`;
  const { settings } = account;
  if (settings === undefined) {
    const errors = errorsOf(account.issues).map(formatConfigIssue);
    const findings = errors.map((detail) => ({ ok: false, what: 'configuration', detail }));
    return { title, account: account.name, findings, exit: EXIT.invalidConfiguration };
  }
  const next = nextTicks(settings.schedule, settings.timezone, 3);
  const times = next.map((ms) => instant(new Date(ms).toISOString())).join(', ');
  const findings = [
    good('schedule', `${settings.schedule} ${settings.timezone}, mode ${settings.mode}; next ${times}`),
  ];
  try {
    const { observed, implausible } = await read();
    const listed = listedAccountId(observed);
    const pin =
      settings.accountId === undefined ? `; pin it with accountId: ${yamlQuoted(listed ?? '')}` : '';
    const [skills, roles] = [count(observed.skill.length, 'skill'), count(observed.role.length, 'role')];
    const warnings = implausible === null ? observed.warnings : [...observed.warnings, implausible];
    findings.push(
      good('address', `${settings.baseUrl} answers and accepts the token`),
      good('lists', `${skills}, ${roles}, ${count(observed.resources.length, 'resource')}, all well-formed`),
      ...warnings.map(({ message }) => good('warning', message)),
      good('account id', listed === null ? NO_ID : `${listed}${pin}`),
    );
    return { title, account: account.name, findings, exit: EXIT.done };
  } catch (error) {
    const failure = reading.failureOf(error);
    const what = failure.code === 'identity_mismatch' ? 'account id' : 'lists';
    findings.push({ ok: false, what, detail: failure.message });
    return { title, account: account.name, findings, exit: failureExit(failure.code) };
  }
}
