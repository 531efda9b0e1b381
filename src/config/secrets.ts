// Secrets are looked up here and nowhere else. No message of this file repeats a value.
import { readFileSync, statSync } from 'node:fs';
import { open } from 'node:fs/promises';
import type { ConfigIssue } from '../core/errors.ts';
import { SecretError } from '../core/errors.ts';
import { Secret } from '../core/secret.ts';
import type { SecretRef } from '../core/settings.ts';
import type { LoadedConfiguration } from './load-configuration.ts';
import { errorCode, shownPath } from './source-text.ts';

/** No token and no key is longer. */
const MAX_SECRET_BYTES = 64 * 1024;
const TOO_LARGE = `has more than ${MAX_SECRET_BYTES / 1024} KiB, which no secret has`;

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
    value = 'env' in ref ? process.env[ref.env] : stripped(await readSecret(ref.file));
  } catch (error) {
    throw refuse(readProblem(error));
  }
  if (value !== undefined && value.length > MAX_SECRET_BYTES) throw refuse(TOO_LARGE);
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
    const found = statSync(file);
    if (!found.isFile()) return undefined;
    return found.size > MAX_SECRET_BYTES ? TOO_LARGE : judge(stripped(readFileSync(file, 'utf8')));
  } catch (error) {
    return readProblem(error);
  }
}

/** At most a little more than a secret may have: a device such as /dev/zero has no end. It may be a pipe. */
async function readSecret(file: string): Promise<string> {
  const handle = await open(file);
  try {
    const bytes = Buffer.alloc(MAX_SECRET_BYTES + 1);
    let length = 0;
    while (length < bytes.length) {
      const { bytesRead } = await handle.read(bytes, length, bytes.length - length);
      if (bytesRead === 0) break;
      length += bytesRead;
    }
    return bytes.toString('utf8', 0, length);
  } finally {
    await handle.close();
  }
}

function readProblem(error: unknown): string {
  const code = errorCode(error);
  return code === 'ENOENT' || code === 'ENOTDIR' ? 'is not there' : `cannot be read (${code})`;
}

/** A secret without the byte order mark and the line ends that editors add. */
export function stripped(text: string): string {
  let end = text.length;
  while (end > 0 && '\r\n'.includes(text[end - 1] ?? '')) end -= 1;
  return text.slice(text.startsWith('\uFEFF') ? 1 : 0, end);
}
