// Checks the answers to `init` about the first account, with the rules of the files that it writes.
import { looksLikeSecret } from '../core/secret-looks.ts';
import { ACCOUNT_NAME } from './account-file.ts';
import { isPlainHttp, parseBaseUrl } from './addresses.ts';
import { REGION_NAME } from './service-schema.ts';

/** A check returns what is wrong with a text and how to fix it, or undefined. No message repeats the text. */
export const FIRST_ANSWER_CHECKS = {
  baseUrl: (text: string): string | undefined => {
    const parsed = parseBaseUrl(text);
    if ('problem' in parsed) return parsed.problem;
    return isPlainHttp(parsed.value)
      ? 'http:// would send the token unencrypted to another machine; use https://'
      : undefined;
  },
  region: (text: string): string | undefined =>
    REGION_NAME.test(text) ? undefined : 'a region has letters, digits, ".", "_" and "-" only, such as eu',
  account: (text: string): string | undefined =>
    ACCOUNT_NAME.test(text)
      ? undefined
      : 'an account name has letters, digits, ".", "_" and "-" only, such as acme-eu; it becomes the name of a file',
  tokenVariable: (text: string): string | undefined => {
    if (!/^[A-Za-z_][A-Za-z0-9_]*$/u.test(text) || (process.env[text] === undefined && looksLikeSecret(text)))
      return 'this is not the name of an environment variable, such as ACME_EU_TOKEN (it is not shown, in case it is a token)';
    return undefined;
  },
} as const;
