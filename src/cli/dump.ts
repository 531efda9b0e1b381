// rolecall dump: prints an account file with the current skills and roles, to adopt an account or to accept drift.
import { existsSync } from 'node:fs';
import { shownPath } from '../config/yaml/source-text.ts';
import { Option } from 'commander';
import { count, firstFew } from '../core/amounts.ts';
import { type DesiredCatalog, type Kind, KINDS } from '../core/catalog.ts';
import { nameKeys } from '../core/diff.ts';
import type { ReadAccount } from '../run/observe.ts';
import { formatConfigIssue, UsageError } from '../core/errors.ts';
import { checkoutOf } from '../git/checkout.ts';
import { nameKey } from '../core/names.ts';
import { accountNamed, loadAccounts, settingsOf } from './load-accounts.ts';
import { acceptOption, type CommandLine } from './command-line.ts';
import type { Acceptance } from '../run/request.ts';
import type { CommandContext } from './compose.ts';
import { openOutput, showMessage, showWarnings } from './console.ts';
import { EXIT, type ExitStatus, failureExit } from './exit-status.ts';

interface DumpFlags {
  readonly output?: string;
  /** Whether `output` may replace a file. */
  readonly force?: true;
  /** Whether the account's own file is replaced. */
  readonly write?: true;
  readonly accept?: Acceptance;
}

export function addDump({ program, run }: CommandLine): void {
  program
    .command('dump')
    .description('write the current skills and roles into the account file')
    .argument('<account>', 'name of the account; its file must set address and token')
    .addOption(new Option('--write', 'change the account file in place').conflicts(['output', 'force']))
    .addOption(acceptOption())
    .option('-o, --output <file>', 'write to a new file')
    .option('--force', 'let --output replace an existing file')
    .action(run(dump));
}

/** The kinds to write: those that the file manages, or both when it manages none. */
function writtenKinds(desired: DesiredCatalog): readonly Kind[] {
  const managed = KINDS.filter((kind) => desired[kind] !== undefined);
  return managed.length === 0 ? KINDS : managed;
}

/** The names that the last good lists had, or the file so far, and that the new file does not contain. */
function droppedNames(desired: DesiredCatalog, { observed, missing }: ReadAccount): string[] {
  return writtenKinds(desired).flatMap((kind) => {
    const listed = new Set(observed[kind].flatMap(nameKeys));
    const named = (desired[kind] ?? []).map(({ name }) => name).filter((name) => !listed.has(nameKey(name)));
    const names = new Map([...named, ...missing[kind]].map((name) => [nameKey(name), name]));
    return [...names.values()].map((name) => `${kind} “${name}”`);
  });
}

const MOST_NAMES = 1000;

/** A list may be incomplete without looking so: the reader must see what the next apply would delete then. */
function showDropped(account: string, names: readonly string[]): void {
  if (names.length === 0) return;
  showMessage(
    `${account}: the account does not list ${firstFew(names, MOST_NAMES)}, which the file or the last good lists had, so the new file does not ask for them. Check this before you apply it: if the lists were incomplete, apply would delete them`,
  );
}

async function dump(context: CommandContext, name: string, options: DumpFlags): Promise<ExitStatus> {
  const { dumpAccount } = await import('../config/dump-account-file.ts');
  const { replaceFile } = await import('../config/files-on-disk.ts');
  const { listDoubt, openReading, showDoubt } = await import('./read-accounts.ts');
  const loaded = await loadAccounts(context.configFile);
  const { service, accounts } = loaded;
  const account = accountNamed(accounts, name);
  const settings = settingsOf(account);
  if (options.write === true && service.source !== undefined) {
    throw new UsageError(
      `--write cannot change the file of ${name}, which is in the daemon’s checkout; use --output FILE and commit that file to the repository`,
    );
  }
  if (options.output !== undefined && options.force !== true && existsSync(options.output)) {
    throw new UsageError(`${options.output} exists already and was not changed; use --force to replace it`);
  }
  const output = options.write === true ? null : openOutput({ format: 'text', output: options.output });
  const reading = await openReading(context, loaded, options.accept);
  try {
    const content = await reading.read(account);
    const { observed } = content;
    const doubt = listDoubt(content);
    showWarnings(observed.warnings.map(({ message }) => message));
    if (content.implausible !== null && output === null && options.accept?.has('suspicious_list') !== true) {
      showMessage(
        `error: ${name}: ${doubt ?? ''}. The file was not changed. Run the command again later; if the lists are right, run \`rolecall dump ${name} --write --accept suspicious_list\``,
      );
      return EXIT.failed;
    }
    showDoubt(name, doubt);
    const { text, before, notes, errors } = await dumpAccount(
      { configFile: context.configFile, account, checkout: await checkoutOf(service) },
      { ...content, policy: settings.policy },
    );
    for (const note of notes) showMessage(`${name}: ${note}`);
    showDropped(name, droppedNames(settings.desired, content));
    if (output !== null) {
      await output.print(text);
      await output.close();
    } else if (errors.length === 0) {
      if (text !== before) await replaceFile(account.file, before, text);
      const written = writtenKinds(settings.desired);
      const entries = written.map((kind) => count(observed[kind].length, kind)).join(' and ');
      const file = shownPath(account.file);
      showMessage(
        text === before
          ? `${name}: nothing to change: ${file} describes the account’s ${entries} already`
          : `${name}: changed ${file}, which describes the account’s ${entries} now`,
      );
    }
    if (errors.length === 0 && output === null && content.implausible !== null) {
      showMessage(
        `${name}: plans stay blocked until the lists are accepted: run \`rolecall apply ${name} --accept suspicious_list\`, which creates nothing while the file matches them`,
      );
    }
    if (errors.length === 0) return EXIT.done;
    showMessage(
      `error: ${name}: the new file is not valid${output === null ? ', so the old one was not changed' : ''}:`,
    );
    for (const issue of errors) showMessage(`error: ${formatConfigIssue(issue)}`);
    return EXIT.invalidConfiguration;
  } catch (error) {
    if (error instanceof UsageError) throw error;
    const failure = reading.reportFailure(name, error);
    return reading.isInterrupted() ? EXIT.interrupted : failureExit(failure.code);
  } finally {
    await reading.close();
  }
}
