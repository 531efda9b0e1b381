// The work of `init`: reads the account with the files that it is about to write, and writes them if that succeeds.
import { existsSync } from 'node:fs';
import path from 'node:path';
import type { ReadAccount } from '../run/observe.ts';
import { dumpAccount } from '../config/dump-account-file.ts';
import { replaceFile } from '../config/files-on-disk.ts';
import { filesFromMemory } from '../config/configuration-files.ts';
import {
  collectConfiguration,
  type CollectedConfiguration,
  loadConfiguration,
} from '../config/load-configuration.ts';
import { withRegion } from '../config/yaml/editable-document.ts';
import { shownPath } from '../config/yaml/source-text.ts';
import { ConfigError, errorsOf } from '../core/errors.ts';
import type { AccountSettings, SecretRef } from '../core/settings.ts';
import { shellWord } from '../core/yaml-text.ts';
import { count } from '../report/formatting.ts';
import { DEFAULT_CONFIG } from './command-line.ts';
import type { CommandContext } from './compose.ts';
import { printLine, showMessage, showWarnings } from './console.ts';
import { EXIT, type ExitStatus } from './exit-status.ts';
import {
  answersFor,
  type InitFlags,
  refuseWrong,
  accountText,
  type FirstAccount,
  type FirstPlace,
  firstPlace,
  refuseExisting,
  serviceText,
  writeNewFiles,
} from './first-files.ts';
import { pipelineFiles, missingToken } from './first-pipeline.ts';
import { listDoubt, openReading, showDoubt } from './read-accounts.ts';

/** The user waits for the answer, and nothing is lost by trying again. */
const RETRIES = 1;

const SANDBOX = {
  region: 'eu',
  variable: 'ROLECALL_SANDBOX_TOKEN',
  /** The default of `sandbox --port`. */
  port: 8090,
} as const;

/** What `init` writes, and where it reads it. */
interface Beginning {
  readonly first: FirstAccount;
  /** The address of a sandbox that is read now, instead of the one that is written. */
  readonly readAt?: string;
  /** Files beside the two of the configuration. */
  readonly more: ReadonlyMap<string, string>;
  readonly next: readonly (readonly [command: string, purpose: string])[];
  close(): Promise<void>;
}

/**
 * Writes the first configuration. Resolves with 1 when the account cannot be read and 130 when the user cancels; nothing
 * is written then. Throws UsageError, also for files that exist.
 */
export async function initialise(context: CommandContext, flags: InitFlags): Promise<ExitStatus> {
  const place = firstPlace(context.configFile);
  const found = existsSync(place.configFile) ? await collectConfiguration(place.configFile) : null;
  const before = found?.files[found.config] ?? '';
  const { account, region, baseUrl, ci } = flags;
  const isNew = found?.loaded.service !== undefined && region !== undefined && baseUrl !== undefined;
  const after = isNew ? withRegion(before, region, baseUrl) : before;
  const present = found && { ...found, files: { ...found.files, [found.config]: after } };
  const isAdding = account !== undefined || (ci !== undefined && (region ?? baseUrl) === undefined);
  if (present !== null && (flags.sandbox === true || !isAdding)) refuseExisting([place.configFile]);
  const known = present?.loaded.accounts.flatMap(({ settings }) => settings ?? []) ?? [];
  if (present !== null && account === undefined) {
    await writeAll({ ...context, ...flags }, known, new Map());
    return EXIT.done;
  }
  const beginning =
    flags.sandbox === true
      ? await rehearsal(place, flags)
      : await realAccount(place, flags, present !== null);
  if (beginning === null) return cancelled();
  try {
    const { first, readAt, more, next } = beginning;
    const folder = known[0] === undefined ? path.join(place.folder, 'accounts') : path.dirname(known[0].file);
    const accountFile = path.join(folder, `${first.account}.yaml`);
    refuseExisting([accountFile, ...more.keys()]);
    const draft = await loadDraft(place, first, accountFile, present);
    const content = await readFirstAccount(context, draft, readAt);
    if (typeof content === 'number') return content;
    const texts = new Map([
      ...(present === null ? [[place.configFile, serviceText(first, place.store)] as const] : []),
      [accountFile, await completeAccountFile(draft, content)],
      ...more,
    ]);
    await writeAll({ ...context, ...flags }, [...known, draft.settings], texts, async () => {
      if (after === before) return;
      await replaceFile(place.configFile, before, after);
      printLine(`added the region ${region ?? ''} to ${shownPath(place.configFile)}`);
    });
    printRead(first.account, content);
    if ('env' in first.token) missingToken(context.configFile, first.token.env).forEach(printLine);
    printNext(next, context.configFile);
    return EXIT.done;
  } finally {
    await beginning.close();
  }
}

/** Writes the files, with `--ci` those of the pipelines too, and lists what remains to do for these. */
async function writeAll(
  { version, configFile, ci }: CommandContext & InitFlags,
  accounts: readonly AccountSettings[],
  texts: ReadonlyMap<string, string>,
  addRegion?: () => Promise<void>,
): Promise<void> {
  const request = { version, configFile: path.resolve(configFile), accounts };
  const pipeline = ci === undefined ? null : pipelineFiles({ pipeline: ci, ...request });
  const all = new Map([...texts, ...(pipeline?.texts ?? [])]);
  refuseExisting([...all.keys()]);
  await addRegion?.();
  await writeNewFiles(all);
  for (const file of all.keys()) printLine(`wrote ${shownPath(file)}`);
  if (pipeline === null) return;
  printLine('');
  printLine('In the settings of the repository and in the new files:');
  for (const step of pipeline.steps) printLine(`  - ${step}`);
}

/** `isKnown`: the regions of a configuration that exists already may be named. */
async function realAccount(place: FirstPlace, flags: InitFlags, isKnown: boolean): Promise<Beginning | null> {
  const answers = await answersFor(flags, isKnown);
  if (answers === null) return null;
  const token = seenFrom(path.join(place.folder, 'accounts'), answers.token);
  return {
    first: { ...answers, region: flags.region ?? null, token },
    more: new Map(),
    next: [
      [`rolecall plan ${answers.account}`, 'compare the account with its file'],
      [`rolecall apply ${answers.account}`, 'after a change of the file: show the plan, ask, apply it'],
      ['rolecall serve', 'plan on a schedule, with pages at http://127.0.0.1:8080'],
    ],
    close: () => Promise.resolve(),
  };
}

/** The lists come from a sandbox in this process. The user starts the same one later, on the port of the files. */
async function rehearsal(place: FirstPlace, flags: InitFlags): Promise<Beginning> {
  refuseWrong(flags);
  const { account = 'acme', port } = flags;
  const { startSandbox } = await import('../sandbox/sandbox.ts');
  const { demoSeed } = await import('../sandbox/seed.ts');
  const seed = demoSeed(account);
  const sandbox = await startSandbox({ seed });
  const token = sandbox.accounts[0]?.token ?? '';
  process.env[SANDBOX.variable] = token;
  const seedFile = path.join(place.folder, 'sandbox.json');
  const option = port === SANDBOX.port ? '' : ` --port ${port}`;
  return {
    first: {
      account,
      baseUrl: `http://127.0.0.1:${port}/${SANDBOX.region}`,
      region: SANDBOX.region,
      token: { env: SANDBOX.variable },
      comment: 'This is the account of the local sandbox, with invented people. No real account is reached.',
    },
    readAt: sandbox.regions[SANDBOX.region],
    more: new Map([[seedFile, `${JSON.stringify(seed, null, 2)}\n`]]),
    next: [
      [
        `rolecall sandbox --seed ${shellWord(shownPath(seedFile))}${option}`,
        'in another terminal; Ctrl-C stops it',
      ],
      [`export ${SANDBOX.variable}=${token}`, 'the token of the sandbox, which is no secret'],
      ['rolecall plan', 'nothing to do yet: change the account file, then plan again'],
    ],
    close: () => sandbox.close(),
  };
}

/** The configuration as if its files were written, with the source of these files. Throws ConfigError. */
async function loadDraft(
  { configFile, folder, store }: FirstPlace,
  first: FirstAccount,
  accountFile: string,
  present: CollectedConfiguration | null,
) {
  const root = present === null ? folder : configFile.slice(0, -present.config.length - 1);
  const before = present?.files ?? { [path.basename(configFile)]: serviceText(first, store) };
  const added = path.relative(root, accountFile).split(path.sep).join('/');
  const files = filesFromMemory(root, { ...before, [added]: accountText(first) });
  const configuration = await loadConfiguration(configFile, { files });
  const { service, accounts, issues } = configuration;
  const account = accounts.find(({ file }) => file === accountFile);
  if (service === undefined || account?.settings === undefined)
    throw new ConfigError(errorsOf((service && account?.issues) ?? issues));
  return { configuration, service, account, settings: account.settings, files };
}

type Draft = Awaited<ReturnType<typeof loadDraft>>;

/** Reads the account at this address; only lists are requested. After a failure, which is shown, the exit status. */
async function readFirstAccount(
  context: CommandContext,
  { configuration, service, account, settings }: Draft,
  baseUrl = settings.baseUrl,
): Promise<ReadAccount | ExitStatus> {
  const impatient = { ...service, api: { ...service.api, retries: RETRIES } };
  const reading = await openReading(context, { configuration, service: impatient });
  try {
    const content = await reading.read({ ...account, settings: { ...settings, baseUrl } });
    showWarnings(content.observed.warnings.map(({ message }) => message));
    const doubt = listDoubt(content);
    if (content.implausible === null) {
      showDoubt(account.name, doubt);
      return content;
    }
    showMessage(`error: ${account.name}: ${doubt ?? ''}; nothing was written. Run the command again later.`);
    return EXIT.failed;
  } catch (error) {
    if (reading.isInterrupted()) return cancelled();
    const { code } = reading.reportFailure(account.name, error);
    const { token } = settings;
    const isUnset = code === 'secret_missing' && 'env' in token;
    const fix = isUnset ? ` Set it in this shell with \`export ${token.env}=…\`.` : '';
    showMessage(`error: the account could not be read, so nothing was written.${fix}`);
    return EXIT.failed;
  } finally {
    await reading.close();
  }
}

/** The account file with the lists and the pin. Throws ConfigError when it would not be valid. */
async function completeAccountFile(
  { service, account, settings, files }: Draft,
  content: ReadAccount,
): Promise<string> {
  const { text, notes, errors } = await dumpAccount(
    { configFile: service.file, account, files },
    { ...content, policy: settings.policy },
  );
  if (errors.length > 0) throw new ConfigError(errors);
  for (const note of notes) showMessage(`${account.name}: ${note}`);
  return text;
}

function cancelled(): ExitStatus {
  showMessage('Cancelled. Nothing was written.');
  return EXIT.interrupted;
}

function printRead(account: string, content: ReadAccount): void {
  const { remoteAccountId, observed } = content;
  const id = remoteAccountId === null ? '' : ` of account ${remoteAccountId}`;
  const entries = `${count(observed.skill.length, 'skill')} and ${count(observed.role.length, 'role')}`;
  printLine(`${account} lists the ${entries}${id}, so the first plan is empty`);
}

/** The commands, with the `--config` of the files. */
function printNext(steps: Beginning['next'], configFile: string): void {
  const config = configFile === DEFAULT_CONFIG ? '' : ` --config ${shellWord(configFile)}`;
  printLine('');
  printLine('Next:');
  // Below the command: in some shells a line that is pasted cannot contain a comment.
  for (const [command, purpose] of steps) {
    printLine(`  ${command.replace(/^rolecall(?= )/, () => `rolecall${config}`)}`);
    printLine(`    ${purpose}`);
  }
}

/** A token file that is not below the project keeps its absolute path. */
function seenFrom(folder: string, token: SecretRef): SecretRef {
  if ('env' in token || path.isAbsolute(token.file)) return token;
  return { file: path.relative(folder, path.resolve(token.file)) };
}
