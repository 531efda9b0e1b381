// Completes the options of `init` with questions on the terminal. A token is never asked for, only where it is.
import { existsSync } from 'node:fs';
import { FIRST_ANSWER_CHECKS } from '../config/account-address.ts';
import { UsageError } from '../core/errors.ts';
import type { SecretRef } from '../core/settings.ts';
import { showMessage } from './console.ts';
import type { Pipeline } from './first-pipeline.ts';
import { ask, canAsk } from './user-input.ts';

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
export interface FirstAnswers {
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
