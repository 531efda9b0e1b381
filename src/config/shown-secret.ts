// How messages name the place of a secret. Somebody may have pasted the secret itself in place of a variable's name or a
// file's path, so a name that leads to nothing is repeated only when it looks like a name.
import { existsSync } from 'node:fs';
import path from 'node:path';
import type { SecretRef } from '../core/settings.ts';
import { shownPath } from './source-text.ts';

const LONGEST_NAME = 64;
const LONGEST_WORD = 24;
const MOST_DIGITS = 8;
/** Changes between letters and digits: K8S_TOKEN_2 has three. */
const MOST_SWITCHES = 3;

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

/** Whether a word is longer, or more mixed of letters and digits, than names of variables and files are. */
function looksLikeSecret(name: string): boolean {
  const words = name.split(/[^A-Za-z0-9]+/u).filter((word) => word !== '');
  const digits = name.replace(/[^0-9]/gu, '').length;
  const switches = words.reduce((sum, word) => sum + (word.match(/\d+|\D+/gu)?.length ?? 1) - 1, 0);
  return (
    name.length > LONGEST_NAME ||
    digits > MOST_DIGITS ||
    switches > MOST_SWITCHES ||
    words.some((word) => word.length > LONGEST_WORD || isMixedCase(word)) ||
    // A name of one word and of this length is no file's name, which has parts.
    (words.length === 1 && name.length >= 16)
  );
}

/** Neither one case, nor a capital letter and small ones. */
function isMixedCase(word: string): boolean {
  return /[a-z]/u.test(word) && /[A-Z]/u.test(word) && !/^[A-Z][a-z0-9]*$/u.test(word);
}
