// Secrets are looked up here and nowhere else. No message of this file repeats a value.
import { readFileSync, statSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import type { ConfigIssue } from '../core/errors.ts';
import { SecretError } from '../core/errors.ts';
import { Secret } from '../core/secret.ts';
import type { SecretRef } from '../core/settings.ts';
import type { LoadedConfiguration } from './load-configuration.ts';
import { errorCode, shownPath } from './source-text.ts';

/**
 * A warning for each secret of the configuration that is not there or cannot be sent, at the place that refers to it
 * (contract, section 2); `validate --require-secrets` raises them to errors. Nothing is sent anywhere.
 */
export function checkSecrets(
  { secrets }: Pick<LoadedConfiguration, 'secrets'>,
  env: Readonly<Record<string, string | undefined>>,
): ConfigIssue[] {
  return secrets.flatMap(({ ref, what, isKeyFile, file, line, column }): ConfigIssue[] => {
    const judge = isKeyFile === true ? emptyProblem : valueProblem;
    const problem = 'env' in ref ? judge(env[ref.env]) : fileProblem(ref.file, judge);
    if (problem === undefined) return [];
    return [{ file, line, column, message: `${what}: ${sourceOf(ref)} ${problem}`, severity: 'warning' }];
  });
}

/**
 * The secret itself, from the environment or its file (trailing line breaks of a file are stripped). `what` says in the
 * error what it is for. Throws SecretError, naming the variable or the file only.
 */
export async function resolveSecret(ref: SecretRef, what: string): Promise<Secret> {
  const refuse = (problem: string): SecretError => new SecretError(`${what}: ${sourceOf(ref)} ${problem}`);
  let value: string | undefined;
  try {
    value = 'env' in ref ? process.env[ref.env] : stripped(await readFile(ref.file, 'utf8'));
  } catch (error) {
    throw refuse(readProblem(error));
  }
  const problem = valueProblem(value);
  if (value === undefined || problem !== undefined) throw refuse(problem ?? 'is not set');
  return new Secret(value);
}

function sourceOf(ref: SecretRef): string {
  return 'env' in ref ? `the environment variable ${ref.env}` : `the file ${shownPath(ref.file)}`;
}

type Judge = (value: string | undefined) => string | undefined;

function emptyProblem(value: string | undefined): string | undefined {
  if (value === undefined) return 'is not set';
  return value === '' ? 'is empty' : undefined;
}

function valueProblem(value: string | undefined): string | undefined {
  if (value === undefined || value === '') return emptyProblem(value);
  if (!/^[\x20-\x7e]+$/u.test(value))
    return 'holds characters that a header cannot carry, such as a line break';
  if (value.trim() !== value) return 'begins or ends with white space';
  return undefined;
}

function fileProblem(file: string, judge: Judge): string | undefined {
  try {
    // What is no regular file, such as a pipe, may be readable once only.
    return statSync(file).isFile() ? judge(stripped(readFileSync(file, 'utf8'))) : undefined;
  } catch (error) {
    return readProblem(error);
  }
}

function readProblem(error: unknown): string {
  const code = errorCode(error);
  return code === 'ENOENT' || code === 'ENOTDIR' ? 'is not there' : `cannot be read (${code})`;
}

function stripped(text: string): string {
  return text.replace(/^\uFEFF/u, '').replace(/[\r\n]+$/u, '');
}
