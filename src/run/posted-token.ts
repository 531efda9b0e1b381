// Decides which token is sent to which address when somebody posts a configuration. Anybody who may post files could
// otherwise have this daemon send a token to an address of their choice.
import { UNKNOWN_ACCOUNT } from '../core/plan.ts';
import type { AccountSettings } from '../core/settings.ts';

/** The folder in which posted files appear to be. It does not exist; its depth leaves room for `..` in references. */
export const POSTED_ROOT = '/posted/a/b/c/d/e/f/g/h';
/** The beginning of every path that posted files can refer to with relative references. */
const POSTED_TOP = '/posted/';

const UNKNOWN =
  'this daemon does not have the account yet: it is planned once the daemon’s own configuration has it';

export type TokenUse =
  | { readonly settings: AccountSettings }
  | { readonly refusal: { readonly code: string; readonly message: string } };

/**
 * The settings to plan a posted account with, or why it is not planned. `own` is the account in the daemon's own
 * configuration: address, token and its rules are always those, and posted files that name others are refused.
 */
export function tokenUse(posted: AccountSettings, own: AccountSettings | undefined): TokenUse {
  if (own === undefined) return { refusal: { code: UNKNOWN_ACCOUNT, message: UNKNOWN } };
  if (posted.baseUrl !== own.baseUrl) return differs('the address');
  if (!isSameReference(posted, own)) return differs('the token reference');
  const { baseUrl, token, tokenRules } = own;
  // Posted rules would have other secrets of the machine compared with the token.
  const { tokenRules: _, ...others } = posted;
  return { settings: { ...others, baseUrl, token, ...(tokenRules === undefined ? {} : { tokenRules }) } };
}

function differs(what: string): TokenUse {
  const message = `${what} of the account differs from the daemon’s own configuration, and the daemon uses a token only as its own configuration allows; change it there first, then plan again`;
  return { refusal: { code: 'identity_mismatch', message } };
}

function isSameReference(posted: AccountSettings, own: AccountSettings): boolean {
  if ('env' in posted.token || 'env' in own.token) {
    return 'env' in posted.token && 'env' in own.token && posted.token.env === own.token.env;
  }
  if (posted.token.file === own.token.file) return true;
  return (
    posted.token.file.startsWith(POSTED_TOP) &&
    relativePath(posted.file, posted.token.file) === relativePath(own.file, own.token.file)
  );
}

/** The path of `file` relative to the folder of `from`. Both are absolute, without `.` and `..`. */
function relativePath(from: string, file: string): string {
  const folders = from.split('/').slice(0, -1);
  const parts = file.split('/');
  const firstDifference = folders.findIndex((folder, index) => folder !== parts[index]);
  const shared = firstDifference === -1 ? folders.length : firstDifference;
  return [...folders.slice(shared).map(() => '..'), ...parts.slice(shared)].join('/');
}
