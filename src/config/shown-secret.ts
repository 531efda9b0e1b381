// How messages name the place of a secret. Somebody may have pasted the secret itself in place of a variable's name or a
// file's path, so a name that leads to nothing is repeated only when it looks like a name.
import { existsSync } from 'node:fs';
import path from 'node:path';
import { looksLikeSecret } from '../core/secret-looks.ts';
import type { SecretRef } from '../core/settings.ts';
import { shownPath } from './source-text.ts';

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
