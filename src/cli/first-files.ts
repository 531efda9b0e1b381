// The questions of `init` and the files of a first configuration: their places, of which none may exist, and their texts before
// the account file lists what the account contains. A token is never asked for, only where it is.
import { existsSync } from 'node:fs';
import { FIRST_ANSWER_CHECKS } from '../config/account-address.ts';
import type { SecretRef } from '../core/settings.ts';
import { showMessage, ask, canAsk } from './console.ts';
import type { Pipeline } from './first-pipeline.ts';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { shownPath } from '../config/yaml/source-text.ts';
import { StoreError, UsageError, errorCode } from '../core/errors.ts';
import { yamlQuoted, yamlText } from '../core/yaml-text.ts';

/** The options of `init`. On a terminal it asks for the missing values. */
export interface InitFlags {
  readonly baseUrl?: string;
  readonly region?: string;
  readonly account?: string;
  readonly tokenEnv?: string;
  readonly tokenFile?: string;
  readonly sandbox?: true;
  /** Where the pipelines run that `init` writes too. */
  readonly ci?: Pipeline;
  readonly port: number;
}

/** The answers about the account. The path of a token file is relative to the working directory. */
interface FirstAnswers {
  readonly baseUrl: string;
  readonly account: string;
  readonly token: SecretRef;
}

/** Checks the options and asks once for each that is missing. null when the user cancels. Throws UsageError. */
export async function answersFor(flags: InitFlags, knowsRegions: boolean): Promise<FirstAnswers | null> {
  refuseWrong(flags);
  const { account, region, tokenEnv, tokenFile } = flags;
  // The service file has the address of the region.
  const baseUrl = flags.baseUrl ?? (knowsRegions && region !== undefined ? '' : undefined);
  const isComplete = baseUrl !== undefined && account !== undefined && (tokenEnv ?? tokenFile) !== undefined;
  if (!isComplete && !canAsk()) {
    throw new UsageError(
      'init cannot ask without a terminal; use --base-url URL, --account NAME, and --token-env NAME or --token-file FILE. To rehearse without an account, use --sandbox',
    );
  }
  const checks = FIRST_ANSWER_CHECKS;
  const url = baseUrl ?? (await askFor('Base address of your region, as you received it', checks.baseUrl));
  if (url === null) return null;
  const name = account ?? (await askFor('Name of the account, such as acme-eu', checks.account));
  if (name === null) return null;
  if (tokenFile !== undefined) return { baseUrl: url, account: name, token: { file: tokenFile } };
  const variable = `${name.toUpperCase().replaceAll(/[^A-Z0-9]+/g, '_')}_TOKEN`.replace(/^(?=\d)/, '_');
  const place = tokenEnv ?? (await askFor(PLACE, (text) => placeProblem(text, variable), variable));
  if (place === null) return null;
  const isEnv = tokenEnv !== undefined || isVariable(place);
  return { baseUrl: url, account: name, token: isEnv ? { env: place } : { file: place } };
}

/** Throws UsageError for the first option with a wrong value. */
export function refuseWrong({ baseUrl, region, account, tokenEnv }: InitFlags): void {
  const checks = FIRST_ANSWER_CHECKS;
  const given = [
    ['--base-url', baseUrl, checks.baseUrl],
    ['--region', region, checks.region],
    ['--account', account, checks.account],
    ['--token-env', tokenEnv, checks.tokenVariable],
  ] as const;
  for (const [option, text, check] of given) {
    const problem = text === undefined ? undefined : check(text);
    if (problem !== undefined) throw new UsageError(`${option}: ${problem}`);
  }
}

/** Asks on stderr until `check` finds nothing wrong. Enter alone gives the proposed answer. null when the user cancels. */
async function askFor(
  question: string,
  check: (text: string) => string | undefined,
  proposed = '',
): Promise<string | null> {
  for (;;) {
    const answer = await ask(`${question}${proposed === '' ? '' : ` [${proposed}]`}: `);
    if (typeof answer === 'string') return null;
    const text = answer.line.trim() || proposed;
    const problem = check(text);
    if (problem === undefined) return text;
    showMessage(problem);
  }
}

const PLACE = 'Where is its token? Name of an environment variable, or path of a file';

/** The token is in a variable if the answer can be the name of one, otherwise in a file. */
function isVariable(text: string): boolean {
  return /^[A-Za-z_][A-Za-z0-9_]*$/u.test(text);
}

/** The text is not repeated: the user may have pasted the token itself. */
function placeProblem(text: string, variable: string): string | undefined {
  if (isVariable(text) ? process.env[text] !== undefined : existsSync(text)) return undefined;
  return `There is no such variable or file. Name one that contains the token, or press Ctrl-C, run export ${variable}=…, and start again`;
}

/** What `init` writes about the account. The path of a token file is relative to the account file, or absolute. */
export interface FirstAccount extends FirstAnswers {
  /** The name of the address in the service file; null writes the address into the account file. */
  readonly region: string | null;
  /** What the reader of the account file must know. */
  readonly comment?: string;
}

/** The service file. `store` is relative to its folder. */
export function serviceText({ baseUrl, region }: FirstAccount, store: string): string {
  const regions =
    region === null
      ? '# regions: # base addresses that account files can name with `region`\n#   eu: https://eu.planning.example.com\n'
      : `regions: # base addresses that account files name with \`region\`\n  ${yamlText(region)}: ${addressText(baseUrl)}\n`;
  return `# The settings of rolecall. \`rolecall validate\` checks this file and all account files.
# config/README.md in the repository of rolecall describes every setting.

accounts: accounts/*.yaml # one file for each account; its base name is the name of the account
store: ${store} # the journal of all runs; keep it out of git

${regions}
defaults: # for all accounts; an account file can override them
  mode: plan # what the daemon does: plan writes nothing; approve waits for you; apply writes
  schedule: '*/15 * * * *' # when it does it, as five cron fields in UTC
  policy:
    delete: unused # never deletes what people have, unless the account file allows it
    maxDeletes: 10 # with more deletes in one plan, all of them wait for you
`;
}

/** The account file without lists and pin, which are read from the account. */
export function accountText({ account, baseUrl, region, token, comment }: FirstAccount): string {
  const address = region === null ? `baseUrl: ${addressText(baseUrl)}` : `region: ${yamlText(region)}`;
  const reference = 'env' in token ? `env: ${yamlText(token.env)}` : `file: ${yamlText(token.file)}`;
  return `# The account ${account}: rolecall creates what you add here, and deletes what you remove.
# \`rolecall plan\` shows that first. The pin \`accountId\` refuses the token of any other account; an empty account has none yet.
${comment === undefined ? '' : `# ${comment}\n`}
${address}
token: { ${reference} } # where the token is; the token itself is never in this file
`;
}

/** Quotes are needed for few addresses, such as those with brackets. */
function addressText(baseUrl: string): string {
  return /^https?:\/\/[\w.:/-]+$/.test(baseUrl) ? baseUrl : yamlQuoted(baseUrl);
}

export type FirstPlace = ReturnType<typeof firstPlace>;

/** The place of a first configuration: the service file (absolute), its folder, and the store, relative to the file. */
export function firstPlace(configFile: string) {
  const file = path.resolve(configFile);
  const folder = path.dirname(file);
  // The store is data, so it is not in the folder of the configuration unless that folder is the complete project.
  const store = path.basename(folder) === 'config' ? '../data/rolecall.db' : 'data/rolecall.db';
  return { configFile: file, folder, store };
}

/** Throws UsageError when one of the files exists, with what to do instead. */
export function refuseExisting(files: readonly string[]): void {
  const found = files.find((file) => existsSync(file));
  if (found === undefined) return;
  throw new UsageError(
    `${shownPath(found)} exists already, and init replaces no file. To add an account to a configuration, use --account NAME with --region or --base-url, and --token-env or --token-file. To begin again, move the file away and run init again. To start elsewhere, use --config`,
  );
}

/** Writes all files, or none: after a failure the files written so far are removed. Throws StoreError. */
export async function writeNewFiles(texts: ReadonlyMap<string, string>): Promise<void> {
  const written: string[] = [];
  for (const [file, text] of texts) {
    try {
      await mkdir(path.dirname(file), { recursive: true });
      // `wx` fails if the file exists by now.
      await writeFile(file, text, { flag: 'wx' });
      written.push(file);
    } catch (error) {
      await Promise.all(written.map((each) => rm(each, { force: true })));
      throw new StoreError(
        'output_failed',
        `${shownPath(file)} cannot be written (${errorCode(error)}); nothing was written. Check the permissions of the folder`,
      );
    }
  }
}
