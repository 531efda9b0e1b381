// rolecall validate, backup and copy-store: check the configuration, and copy the store.
import { ACCOUNTS_HELP, addReportOptions, type CommandLine } from './command-line.ts';
import type { CommandContext } from './compose.ts';
import { type OutputOptions, printLine, printReport, showWarnings } from './console.ts';
import { combine, EXIT, type ExitStatus } from './exit-status.ts';
import { loadConfiguration, readWithTexts } from './load-accounts.ts';
import type { UnmatchedGlob } from '../config/compare-files.ts';
import { KINDS } from '../core/catalog.ts';
import { ConfigError, type ConfigIssue, errorsOf, UsageError } from '../core/errors.ts';
import { fewIssues, sortedIssues } from '../core/issue-limit.ts';
import type { ServiceSettings } from '../core/settings.ts';
import { count } from '../report/formatting.ts';
import { showStep } from './progress.ts';
import path from 'node:path';

interface ValidateFlags extends OutputOptions {
  readonly requireSecrets?: true;
  readonly online?: true;
}

export function addValidate({ program, report }: CommandLine): void {
  addReportOptions(program.command('validate'))
    .description('check all configuration files; without --online, without network access')
    .argument('[account...]', `with --online: ${ACCOUNTS_HELP}`)
    .option('--require-secrets', 'report missing environment variables and secret files as errors')
    .option('--online', 'also try each account: address, token, account id, lists; the store; the next times')
    .action(report(validate));
}

async function validate(
  context: CommandContext,
  names: readonly string[],
  flags: ValidateFlags,
): Promise<ExitStatus> {
  if (names.length > 0 && flags.online !== true)
    throw new UsageError('the files are checked all together; accounts are given with --online');
  const { configFile } = context;
  const { renderIssues } = await import('../report/check-reports.ts');
  const { checkSecrets } = await import('../config/secrets.ts');
  const { compareFiles } = await import('../config/compare-files.ts');
  const { used } = await readWithTexts(configFile);
  const { loaded: configuration } = used;
  const { issues: found, unmatched, read } = compareFiles(used);
  const globs = await stillUnmatched(unmatched, configuration.service).catch(() => []);
  const secrets = (await checkSecrets(configuration, process.env)).map((issue) =>
    flags.requireSecrets === true ? { ...issue, severity: 'error' as const } : issue,
  );
  const issues = [...sortedIssues([...configuration.issues, ...fewIssues([...found, ...globs])]), ...secrets];
  const isValid = !issues.some((issue) => issue.severity === 'error');
  // Without a service file nothing is known of the store and the accounts.
  const { diagnoses, exit } =
    flags.online === true && configuration.service !== undefined
      ? await (await import('./check-accounts.ts')).checkAccounts(context, names)
      : { diagnoses: [], exit: EXIT.done };
  await printReport(flags, (render) => renderIssues(issues, read, diagnoses, render));
  return combine([exit, isValid ? EXIT.done : EXIT.invalidConfiguration]);
}

/** Those that match no entry of the last stored lists of their accounts either. Without such lists nobody knows. */
async function stillUnmatched(
  globs: readonly UnmatchedGlob[],
  service: ServiceSettings | undefined,
): Promise<readonly ConfigIssue[]> {
  if (globs.length === 0 || service === undefined || !('file' in service.store)) return [];
  const { openJournal } = await import('./compose.ts');
  const store = await openJournal(service);
  const { reader } = store;
  const issues: ConfigIssue[] = [];
  for (const { accounts, matches, issue } of globs) {
    let isMatched = true;
    for (const account of accounts) {
      const [snapshot] = await reader.snapshots({ account, limit: 1 });
      const entries = snapshot === undefined ? null : await reader.snapshotEntries(snapshot);
      isMatched = entries === null || KINDS.some((kind) => entries[kind].some(({ name }) => matches(name)));
      if (isMatched) break;
    }
    if (!isMatched) issues.push(issue);
  }
  await store.close();
  return issues;
}

export function addBackup({ program, run }: CommandLine): void {
  program
    .command('backup')
    .description('copy the store, also while the daemon runs')
    .argument('<file>', 'target file; an earlier copy is replaced')
    .action(run(backup));
}

async function backup({ configFile }: CommandContext, file: string): Promise<ExitStatus> {
  const { service, issues } = await loadConfiguration(configFile);
  if (service === undefined) throw new ConfigError(errorsOf(issues));
  const { backupStore } = await import('../store/backup.ts');
  const { openLocation } = await import('../config/store-location.ts');
  const location = await openLocation(service);
  const { bytes, runs } = await showStep('store', { text: 'copying' }, () => backupStore(location, file));
  printLine(`wrote ${file}: ${count(runs, 'run')}, ${count(bytes, 'byte')}`);
  return EXIT.done;
}

export function addCopyStore({ program, run }: CommandLine): void {
  program
    .command('copy-store')
    .description('copy the store to PostgreSQL')
    .argument('<file>', 'path of a SQLite file')
    .argument('<url>', 'postgres://…, or env:NAME of a variable with such an address')
    .option('--schema <name>', 'schema in the database; one with rows is refused', 'rolecall')
    .action(run(copyStore));
}

async function copyStore(
  _context: CommandContext,
  file: string,
  address: string,
  { schema }: { readonly schema: string },
): Promise<ExitStatus> {
  const from = path.resolve(file);
  const { databaseArgument } = await import('../config/store-location.ts');
  const { shownDatabase } = await import('../system/postgres-address.ts');
  const { copyStore: copy } = await import('../store/copy-store.ts');
  const { location, isExposed } = databaseArgument(address, schema, process.env);
  if (isExposed) {
    showWarnings([
      'other users of this machine can see the password in the address while the command runs; use env:NAME, PGPASSWORD or ~/.pgpass',
    ]);
  }
  const text = 'copying';
  const copied = await showStep('store', { text }, (observe) =>
    copy(from, location, (done, total) => observe({ type: 'step', text, done, total })),
  );
  if (copied.isInUse) {
    const runs = copied.leases === 0 ? '' : ` (${count(copied.leases, 'run')} held an account)`;
    showWarnings([
      `other processes may use ${from}${runs}, and what they write from now on is not in the copy; before you use it, stop them and copy again to another schema`,
    ]);
  }
  const to = `PostgreSQL ${shownDatabase(location.url)}, schema ${schema}`;
  printLine(
    `copied and verified ${count(copied.runs, 'run')}, ${count(copied.rows, 'row')} in ${count(copied.tables, 'table')}, from ${from} to ${to}`,
  );
  return EXIT.done;
}
