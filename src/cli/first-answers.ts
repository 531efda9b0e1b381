// Completes the options of `init` with questions on the terminal. A token is never asked for, only where it is.
import { existsSync } from 'node:fs';
import { FIRST_ANSWER_CHECKS } from '../config/account-address.ts';
import { UsageError } from '../core/errors.ts';
import { looksLikeSecret } from '../core/secret-looks.ts';
import type { SecretRef } from '../core/settings.ts';
import { showMessage } from './console.ts';
import { ask, canAsk } from './user-input.ts';

/** The options of `init`. On a terminal it asks for the missing values. */
export interface InitFlags {
  readonly baseUrl?: string;
  readonly region?: string;
  readonly account?: string;
  readonly tokenEnv?: string;
  readonly tokenFile?: string;
  readonly sandbox?: true;
  readonly port: number;
}

/** The answers about the account. The path of a token file is relative to the working directory. */
export interface FirstAnswers {
  readonly baseUrl: string;
  readonly account: string;
  readonly token: SecretRef;
}

/** Checks the options and asks once for each that is missing. null when the user cancels. Throws UsageError. */
export async function answersFor(flags: InitFlags): Promise<FirstAnswers | null> {
  refuseWrong(flags);
  const { baseUrl, account, tokenEnv, tokenFile } = flags;
  const missing = [
    ...(baseUrl === undefined ? ['--base-url URL'] : []),
    ...(account === undefined ? ['--account NAME'] : []),
    ...((tokenEnv ?? tokenFile) === undefined ? ['--token-env NAME (or --token-file FILE)'] : []),
  ];
  if (missing.length > 0 && !canAsk()) {
    throw new UsageError(
      `init cannot ask without a terminal; add ${missing.join(', ')}. To rehearse without an account, use --sandbox`,
    );
  }
  const url = baseUrl ?? (await askFor(BASE_URL));
  const name = url === null ? null : (account ?? (await askFor(ACCOUNT)));
  if (url === null || name === null) return null;
  if (tokenEnv !== undefined) return { baseUrl: url, account: name, token: { env: tokenEnv } };
  const place = tokenFile ?? (await askFor({ ...TOKEN, proposed: variableFor(name) }));
  if (place === null) return null;
  const token = tokenFile === undefined && isVariable(place) ? { env: place } : { file: place };
  return { baseUrl: url, account: name, token };
}

/** Throws UsageError that names every option with a wrong value. */
export function refuseWrong({ baseUrl, region, account, tokenEnv, tokenFile }: InitFlags): void {
  const checks = FIRST_ANSWER_CHECKS;
  const given = [
    ['--base-url', baseUrl, checks.baseUrl],
    ['--region', region, checks.region],
    ['--account', account, checks.account],
    ['--token-env', tokenEnv, checks.tokenVariable],
    [
      '--token-file',
      tokenFile,
      (file: string) => (file === '' ? 'the path of the file is empty' : undefined),
    ],
  ] as const;
  const problems = given.flatMap(([option, text, check]) => {
    const problem = text === undefined ? undefined : check(text);
    return problem === undefined ? [] : [`${option}: ${problem}`];
  });
  if (problems.length > 0) throw new UsageError(problems.join('\n'));
}

interface Question {
  readonly message: string;
  /** The answer that Enter alone gives. */
  readonly proposed?: string;
  /** What is wrong with an answer and how to fix it, or undefined. */
  readonly check: (text: string) => string | undefined;
}

const BASE_URL: Question = {
  message: 'Base address of your region, as you received it; for example https://eu.planning.example.com',
  check: FIRST_ANSWER_CHECKS.baseUrl,
};
const ACCOUNT: Question = {
  message: 'Name of the account, for its file and for reports; for example acme-eu',
  check: FIRST_ANSWER_CHECKS.account,
};
const TOKEN: Question = {
  message: 'Where is its token? Name of an environment variable, or path of a file',
  check: placeProblem,
};

/** Asks on stderr until the answer is right. null when the user cancels. */
async function askFor({ message, proposed, check }: Question): Promise<string | null> {
  for (;;) {
    const answer = await ask(`${message}${proposed === undefined ? '' : ` [${proposed}]`}: `);
    if (typeof answer === 'string') return null;
    const text = answer.line.trim() || (proposed ?? '');
    const problem = check(text);
    if (problem === undefined) return text;
    showMessage(problem);
  }
}

function variableFor(account: string): string {
  const name = account.toUpperCase().replaceAll(/[^A-Z0-9]+/g, '_');
  return `${/^\d/.test(name) ? '_' : ''}${name}_TOKEN`;
}

/** The token is in a variable if the answer can be the name of one, otherwise in a file. */
function isVariable(text: string): boolean {
  return /^[A-Za-z_][A-Za-z0-9_]*$/u.test(text);
}

function placeProblem(text: string): string | undefined {
  if (text === '') return 'Name the variable or the file that contains the token';
  if (isVariable(text) ? process.env[text] !== undefined : existsSync(text)) return undefined;
  // The user may have pasted the token itself.
  const isShown = !looksLikeSecret(text) && (!isVariable(text) || /^[A-Z][A-Z0-9_]*$/u.test(text));
  const shown = isShown ? text : 'This';
  return isVariable(text)
    ? `${shown} is not set here. Name a variable that is set, or press Ctrl-C, run export NAME=TOKEN, and start again`
    : `${shown} does not exist. Name a file that contains the token, or an environment variable`;
}
