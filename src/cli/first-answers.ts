// Completes the options of `init` with questions on the terminal. A token is never asked for, only where it is.
import { existsSync } from 'node:fs';
import { UsageError } from '../core/errors.ts';
import { looksLikeSecret } from '../core/secret-looks.ts';
import type { SecretRef } from '../core/settings.ts';
import { canAsk, promptTerminal } from './console.ts';
import type { AnswerChecks } from './environment.ts';
import type { InitFlags } from './init.ts';

/** The answers about the account. The path of a token file is relative to the working directory. */
export interface FirstAnswers {
  readonly baseUrl: string;
  readonly account: string;
  readonly token: SecretRef;
}

/** Checks the options and asks for what is missing. null when the user cancels. Throws UsageError. */
export async function answersFor(flags: InitFlags, checks: AnswerChecks): Promise<FirstAnswers | null> {
  refuseWrong(flags, checks);
  const { baseUrl, account, tokenEnv, tokenFile } = flags;
  const token =
    tokenEnv === undefined ? (tokenFile === undefined ? undefined : { file: tokenFile }) : { env: tokenEnv };
  if (baseUrl !== undefined && account !== undefined && token !== undefined)
    return { baseUrl, account, token };
  if (!canAsk()) throw missingOptions({ baseUrl, account, token });
  return await ask({ baseUrl, account, token }, checks);
}

function refuseWrong(
  { baseUrl, region, account, tokenEnv, tokenFile }: InitFlags,
  checks: AnswerChecks,
): void {
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

type Partly<T> = { readonly [Key in keyof T]: T[Key] | undefined };

function missingOptions({ baseUrl, account, token }: Partly<FirstAnswers>): UsageError {
  const missing = [
    ...(baseUrl === undefined ? ['--base-url URL'] : []),
    ...(account === undefined ? ['--account NAME'] : []),
    ...(token === undefined ? ['--token-env NAME (or --token-file FILE)'] : []),
  ];
  return new UsageError(
    `init cannot ask without a terminal; add ${missing.join(', ')}. To rehearse without an account, use --sandbox`,
  );
}

/** Asks on stderr, so that the result on stdout can be redirected. */
async function ask(known: Partly<FirstAnswers>, checks: AnswerChecks): Promise<FirstAnswers | null> {
  const { intro, isCancel, text } = await import('@clack/prompts');
  const output = promptTerminal();
  const answer = async (options: Omit<Parameters<typeof text>[0], 'output'>): Promise<string | null> => {
    const given = await text({ ...options, output });
    return isCancel(given) ? null : given.trim();
  };
  intro('A first configuration of rolecall. Nothing is written before you agree. Ctrl-C cancels.', {
    output,
  });
  const baseUrl =
    known.baseUrl ??
    (await answer({
      message: 'Base address of your region, as you received it; for example https://eu.planning.example.com',
      validate: (given) => checks.baseUrl((given ?? '').trim()),
    }));
  if (baseUrl === null) return null;
  const account =
    known.account ??
    (await answer({
      message: 'Name of the account, for its file and for reports; for example acme-eu',
      validate: (given) => checks.account((given ?? '').trim()),
    }));
  if (account === null) return null;
  if (known.token !== undefined) return { baseUrl, account, token: known.token };
  const where = await answer({
    message:
      'Where is its token? Name of an environment variable, or path of a file. Enter accepts the name below',
    initialValue: variableFor(account),
    validate: (given) => placeProblem((given ?? '').trim()),
  });
  return where === null ? null : { baseUrl, account, token: tokenPlace(where) };
}

function variableFor(account: string): string {
  const name = account.toUpperCase().replaceAll(/[^A-Z0-9]+/g, '_');
  return `${/^\d/.test(name) ? '_' : ''}${name}_TOKEN`;
}

/** A variable if it can be the name of one, otherwise a file. */
function tokenPlace(text: string): SecretRef {
  return isVariable(text) ? { env: text } : { file: text };
}

function isVariable(text: string): boolean {
  return /^[A-Za-z_][A-Za-z0-9_]*$/u.test(text);
}

function placeProblem(text: string): string | undefined {
  if (isVariable(text) ? process.env[text] !== undefined : text !== '' && existsSync(text)) return undefined;
  if (text === '') return 'Name the variable or the file that contains the token';
  // The user may have pasted the token itself.
  const shown =
    looksLikeSecret(text) || (isVariable(text) && !/^[A-Z][A-Z0-9_]*$/u.test(text)) ? 'This' : text;
  return isVariable(text)
    ? `${shown} is not set here. Name a variable that is set, or press Ctrl-C, run export NAME=TOKEN, and start again`
    : `${shown} does not exist. Name a file that contains the token, or an environment variable`;
}
