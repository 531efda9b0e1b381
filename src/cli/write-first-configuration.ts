// The work of `init`: reads the account with the files that it is about to write, and writes them if that succeeds.
import { existsSync } from 'node:fs';
import path from 'node:path';
import { UsageError } from '../core/errors.ts';
import type { SecretRef } from '../core/settings.ts';
import { shellWord } from '../report/command-hints.ts';
import { count } from '../report/formatting.ts';
import type { CommandContext } from './command-line.ts';
import { canAsk, printLine, promptTerminal, repeatConfig, showMessage, suggestedCommand } from './console.ts';
import type { Environment } from './environment.ts';
import { EXIT, type ExitStatus } from './exit-status.ts';
import { answersFor, type FirstAnswers } from './first-answers.ts';
import type { FirstAccount } from './first-files.ts';
import {
  type FirstPlace,
  firstPlace,
  refuseExistingConfiguration,
  refuseExistingFiles,
  shownFile,
  writeNewFiles,
} from './first-place.ts';
import type { InitFlags } from './init.ts';
import { completeAccountFile, draftOf, type FirstReading, readFirstAccount } from './read-first-account.ts';

const SANDBOX = {
  account: 'acme',
  region: 'eu',
  variable: 'ROLECALL_SANDBOX_TOKEN',
  /** The default of `sandbox --port`. */
  port: 8090,
} as const;

/**
 * Writes the first configuration. Resolves with 1 when the account cannot be read and 130 when the user cancels; nothing
 * is written then. Throws UsageError, also for files that exist.
 */
export async function initialise(
  { environment, configFile }: CommandContext,
  flags: InitFlags,
): Promise<ExitStatus> {
  const place = firstPlace(configFile, flags.dir);
  if (flags.dir !== undefined) repeatConfig(shownFile(place.configFile));
  refuseExistingConfiguration(place);
  return flags.sandbox === true
    ? await rehearse(environment, place, flags)
    : await adopt(environment, place, flags);
}

async function adopt(environment: Environment, place: FirstPlace, flags: InitFlags): Promise<ExitStatus> {
  const answers = await answersFor(flags, await environment.answerChecks());
  if (answers === null) return cancelled();
  const token = seenFrom(path.join(place.folder, 'accounts'), answers.token);
  const first: FirstAccount = { ...answers, region: flags.region ?? null, token };
  refuseExistingFiles([accountFileOf(place, first)]);
  const reading = await readFirstAccount(environment, draftOf(place, first));
  if (typeof reading === 'number') {
    showAgain(answers, flags);
    return reading;
  }
  const texts = await textsOf(environment, reading);
  if (flags.yes !== true && canAsk() && !(await agrees(reading, [...texts.keys()]))) return cancelled();
  await writeNewFiles(texts);
  printWritten(reading, [...texts.keys()]);
  printNext([
    [suggestedCommand(`rolecall plan ${first.account}`), 'compare the account with its file'],
    [
      suggestedCommand(`rolecall apply ${first.account}`),
      'after a change of the file: show the plan, ask, apply it',
    ],
    [suggestedCommand('rolecall serve'), 'plan on a schedule, with pages at http://127.0.0.1:8080'],
  ]);
  return EXIT.done;
}

/** The lists come from a sandbox in this process. The user starts the same one later, on the port of the files. */
async function rehearse(environment: Environment, place: FirstPlace, flags: InitFlags): Promise<ExitStatus> {
  const { account = SANDBOX.account, port } = flags;
  const problem = (await environment.answerChecks()).account(account);
  if (problem !== undefined) throw new UsageError(`--account: ${problem}`);
  const seedFile = path.join(place.folder, 'sandbox.json');
  const firstAt = (url: string): FirstAccount => ({
    account,
    baseUrl: `${url}/${SANDBOX.region}`,
    region: SANDBOX.region,
    token: { env: SANDBOX.variable },
    comment: 'This is the account of the local sandbox, with invented people. No real account is reached.',
  });
  const first = firstAt(`http://127.0.0.1:${port}`);
  refuseExistingFiles([accountFileOf(place, first), seedFile]);
  const rehearsal = await environment.startRehearsal(account);
  try {
    const token = rehearsal.accounts[0]?.token ?? '';
    process.env[SANDBOX.variable] = token;
    const reading = await readFirstAccount(environment, draftOf(place, firstAt(rehearsal.url)));
    if (typeof reading === 'number') return reading;
    const texts = await textsOf(environment, { ...reading, draft: draftOf(place, first) });
    await writeNewFiles(new Map([...texts, [seedFile, rehearsal.seed]]));
    printWritten(reading, [...texts.keys(), seedFile]);
    const option = port === SANDBOX.port ? '' : ` --port ${port}`;
    printNext([
      [
        `rolecall sandbox --seed ${shellWord(shownFile(seedFile))}${option}`,
        'in another terminal; Ctrl-C stops it',
      ],
      [`export ${SANDBOX.variable}=${token}`, 'the token of the sandbox, which is no secret'],
      [suggestedCommand('rolecall plan'), 'nothing to do yet: change the account file, then plan again'],
    ]);
    return EXIT.done;
  } finally {
    await rehearsal.close();
  }
}

/** The texts of the two files, by their paths. */
async function textsOf(environment: Environment, reading: FirstReading): Promise<Map<string, string>> {
  const { configFile, texts } = reading.draft;
  const { text } = await completeAccountFile(environment, reading);
  return new Map([
    [configFile, texts[path.basename(configFile)] ?? ''],
    [reading.account.file, text],
  ]);
}

async function agrees(reading: FirstReading, files: readonly string[]): Promise<boolean> {
  const { confirm } = await import('@clack/prompts');
  const { remoteAccountId, observed } = reading.content;
  const account = remoteAccountId === null ? 'The account' : `Account ${remoteAccountId}`;
  const people = count(observed.resources.length, 'person', 'people');
  const message = `${account} contains ${entriesOf(reading.content)}, and lists ${people}. Write ${files.map(shownFile).join(' and ')}?`;
  return (await confirm({ message, output: promptTerminal() })) === true;
}

/** The answers as options, so that they need not be typed again. The hint repeats `--dir` as `--config`. */
function showAgain({ baseUrl, account, token }: FirstAnswers, { region, ...flags }: InitFlags): void {
  const wasAsked = [flags.baseUrl, flags.account, flags.tokenEnv ?? flags.tokenFile].includes(undefined);
  if (!wasAsked) return;
  // What was named as the place of the token may be the token.
  const place =
    'env' in token && process.env[token.env] !== undefined ? `--token-env ${token.env}` : '--token-env NAME';
  const options = [
    `--base-url ${shellWord(baseUrl)}`,
    ...(region === undefined ? [] : [`--region ${region}`]),
    `--account ${account}`,
    'file' in token && existsSync(token.file) ? `--token-file ${shellWord(token.file)}` : place,
  ];
  showMessage(`To try again with the same answers, run \`rolecall init ${options.join(' ')}\``);
}

function cancelled(): ExitStatus {
  showMessage('Cancelled. Nothing was written.');
  return EXIT.interrupted;
}

function printWritten(reading: FirstReading, files: readonly string[]): void {
  for (const file of files) printLine(`wrote ${shownFile(file)}`);
  const { account, content } = reading;
  const id = content.remoteAccountId === null ? '' : ` of account ${content.remoteAccountId}`;
  printLine(`${account.name} lists the ${entriesOf(content)}${id}, so the first plan is empty`);
}

function entriesOf({ observed }: FirstReading['content']): string {
  return `${count(observed.skill.length, 'skill')} and ${count(observed.role.length, 'role')}`;
}

function printNext(steps: readonly (readonly [command: string, purpose: string])[]): void {
  printLine('');
  printLine('Next:');
  // Below the command: in some shells a line that is pasted cannot contain a comment.
  for (const [command, purpose] of steps) {
    printLine(`  ${command}`);
    printLine(`    ${purpose}`);
  }
}

function accountFileOf(place: FirstPlace, { account }: FirstAccount): string {
  return path.join(place.folder, 'accounts', `${account}.yaml`);
}

/** A token file that is not below the project keeps its absolute path. */
function seenFrom(folder: string, token: SecretRef): SecretRef {
  if ('env' in token || path.isAbsolute(token.file)) return token;
  return { file: path.relative(folder, path.resolve(token.file)) };
}
