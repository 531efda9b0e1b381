// References to secrets, and how messages name them. A user may have pasted the secret itself in place of a variable's
// name or a file's path, so a name that leads to nothing is repeated only when it looks like a name.
import { existsSync } from 'node:fs';
import path from 'node:path';
import { looksLikeSecret } from '../core/secret-looks.ts';
import type { SecretRef } from '../core/settings.ts';
import { shownPath } from '../yaml/source-text.ts';

/** `ref` with its path made absolute, relative to the folder of the file that it is in. */
export function absoluteRef(ref: SecretRef, folder: string): SecretRef {
  return 'env' in ref ? { env: ref.env } : { file: path.resolve(folder, ref.file) };
}

/** The same text for references to the same place. */
export function refKey(ref: SecretRef): string {
  return 'env' in ref ? `env ${ref.env}` : `file ${ref.file}`;
}

/** The password of `user:password`; git takes either. Else the value itself. */
export function passwordOf(value: string): string {
  return value.slice(value.indexOf(':') + 1);
}

/** A secret that the configuration refers to, with the place that refers to it. */
export interface SecretUse {
  readonly ref: SecretRef;
  /** What it is for, such as `token of acme-eu`. */
  readonly what: string;
  /** The account it belongs to; absent for the service's own. */
  readonly account?: string;
  /** It names the file of a private key, which another program reads: several lines, and never sent. */
  readonly isKeyFile?: boolean;
  /** The file as issues name it, with the position of the reference. */
  readonly file: string;
  readonly line: number;
  readonly column: number;
}

/** `isFound` says whether something is at the place, which then is a name and no secret. */
export function shownRef(ref: SecretRef, isFound: boolean): string {
  if ('file' in ref) return shownFile(ref.file, isFound);
  return isFound || (/^[A-Z][A-Z0-9_]*$/u.test(ref.env) && !looksLikeSecret(ref.env))
    ? `the environment variable ${ref.env}`
    : 'the environment variable (its name is not shown, since it looks like a secret: write the name of a variable)';
}

function shownFile(file: string, isFound: boolean): string {
  if (isFound) return `the file ${shownPath(file)}`;
  let known = path.dirname(file);
  while (!existsSync(known) && path.dirname(known) !== known) known = path.dirname(known);
  const unknown = path.relative(known, file).split(path.sep);
  return unknown.some(looksLikeSecret)
    ? `a file in ${shownPath(known)} (its name is not shown, since it looks like a secret: write the path of a file)`
    : `the file ${shownPath(file)}`;
}
