// References to secrets, and how messages name them. A user may have pasted the secret itself instead of the name of a
// variable or the path of a file, so a message names a missing target only if it does not look like a secret.
import { existsSync } from 'node:fs';
import path from 'node:path';
import { looksLikeSecret } from '../core/secret-looks.ts';
import type { SecretRef } from '../core/settings.ts';
import { shownPath } from './yaml/source-text.ts';

/** `ref` with its path made absolute, relative to the folder of the file that it is in. */
export function absoluteRef(ref: SecretRef, folder: string): SecretRef {
  return 'env' in ref ? { env: ref.env } : { file: path.resolve(folder, ref.file) };
}

/** Equal for references to the same variable or file. */
export function refKey(ref: SecretRef): string {
  return 'env' in ref ? `env ${ref.env}` : `file ${ref.file}`;
}

/** The password of `user:password`, otherwise the value itself; git credentials may have both forms. */
export function passwordOf(value: string): string {
  return value.slice(value.indexOf(':') + 1);
}

/** How messages name a reference. `isFound`: the variable or file exists, so its name is not a secret. */
export function shownRef(ref: SecretRef, isFound: boolean): string {
  if ('file' in ref) return shownFile(ref.file, isFound);
  return isFound || (/^[A-Z][A-Z0-9_]*$/u.test(ref.env) && !looksLikeSecret(ref.env))
    ? `the environment variable ${ref.env}`
    : 'the environment variable (its name is not shown because it looks like a secret; write the name of a variable)';
}

function shownFile(file: string, isFound: boolean): string {
  if (isFound) return `the file ${shownPath(file)}`;
  let known = path.dirname(file);
  while (!existsSync(known) && path.dirname(known) !== known) known = path.dirname(known);
  const unknown = path.relative(known, file).split(path.sep);
  return unknown.some(looksLikeSecret)
    ? `a file in ${shownPath(known)} (its name is not shown because it looks like a secret; write the path of a file)`
    : `the file ${shownPath(file)}`;
}
