// An account file made from what an account holds, for `dump` and `init` (contract, section 3).
import { compareCodePoints } from '../core/names.ts';
import type { AccountSettings, SecretRef } from '../core/settings.ts';
import { RUNNER_COMMAND, STRAY_MARK, UNSEEN } from '../core/unseen.ts';
import { isPlainHttp } from './addresses.ts';
import { nameProblem, normalName } from './name-text.ts';

export interface AccountFileInput {
  readonly account: {
    readonly region?: string;
    readonly baseUrl: string;
    readonly token: SecretRef;
    readonly mode?: AccountSettings['mode'];
    readonly schedule?: string;
  };
  /** Becomes the pin; null when nothing that was listed carries one. */
  readonly accountId: string | null;
  /** Names as the service shows them. */
  readonly skills: readonly string[];
  readonly roles: readonly string[];
}

/**
 * The text of an account file that asks for exactly the names given, in NFC, each once, by code points. A name that a
 * file may not hold is protected by a glob of its own instead.
 */
export function accountFileText({ account, accountId, skills, roles }: AccountFileInput): string {
  const { region, baseUrl, token, mode, schedule } = account;
  const lines = region === undefined ? [`baseUrl: ${quote(baseUrl)}`] : [`region: ${scalar(region)}`];
  // Whether a region's address is plain http is known here only by the address that it stands for.
  if (isPlainHttp(baseUrl)) lines.push('allowInsecure: true');
  if (accountId !== null) lines.push(`accountId: ${quote(accountId)}`);
  lines.push(
    'env' in token ? `token: { env: ${quote(token.env)} }` : `token: { file: ${quote(token.file)} }`,
  );
  if (mode !== undefined) lines.push(`mode: ${mode}`);
  if (schedule !== undefined) lines.push(`schedule: ${quote(schedule)}`);
  const names = [...skills, ...roles].map(normalName);
  const unwritable = sortedOnce(names.filter((name) => nameProblem(name) !== undefined));
  if (unwritable.length > 0) {
    lines.push(
      'policy:',
      '  # A file may not hold these names: they are empty, or have control characters, heaps of combining marks, or',
      '  # white space at an end.',
      '  # They are kept as they are until somebody mends them in the service.',
      '  protect:',
      ...unwritable.map((name) => `    - ${quote(escapeGlob(name))}`),
    );
  }
  return `${[...lines, ...nameList('skills', skills), ...nameList('roles', roles)].join('\n')}\n`;
}

/** The glob that matches `name`, and nothing else where a glob may hold all of it. */
export function escapeGlob(name: string): string {
  return name.replace(/[\\*?]/gu, '\\$&').replace(/\p{M}{31,}/gu, '*');
}

/** A name or another text as one line of YAML: plain where no reader of YAML could take it for anything else. */
export function scalar(text: string): string {
  const plain =
    /^[\p{L}\p{Nl}][\p{L}\p{M}\p{N}+./&()_-]*(?: [\p{L}\p{M}\p{N}+./&()_-]+)*$/u.test(text) &&
    !/^(?:true|false|null|yes|no|on|off|y|n)$/iu.test(text) &&
    text.search(QUOTED) === -1;
  return plain ? text : quote(text);
}

function nameList(key: string, names: readonly string[]): readonly string[] {
  const writable = sortedOnce(names.map(normalName).filter((name) => nameProblem(name) === undefined));
  return writable.length === 0
    ? [`${key}: []`]
    : [`${key}:`, ...writable.map((name) => `  - ${scalar(name)}`)];
}

function sortedOnce(names: readonly string[]): readonly string[] {
  return [...new Set(names)].toSorted(compareCodePoints);
}

const QUOTED = new RegExp(`${UNSEEN}|${STRAY_MARK}|${RUNNER_COMMAND}`, 'gu');

/** In double quotes, with whatever would not show, would break the line or would command a runner of CI, escaped. */
function quote(text: string): string {
  const inner = JSON.stringify(text).slice(1, -1);
  return `"${inner.replace(QUOTED, escapePoint)}"`;
}

function escapePoint(character: string): string {
  const hex = (character.codePointAt(0) ?? 0).toString(16);
  return hex.length > 4 ? `\\U${hex.padStart(8, '0')}` : `\\u${hex.padStart(4, '0')}`;
}
