// Finds the address that an account's token is sent to: from `region` or `baseUrl`, exactly one of them.
import { firstFew } from '../core/amounts.ts';
import type { ConfigIssue } from '../core/errors.ts';
import { holdsToken, looksLikeSecret, NOT_SHOWN } from '../core/secret-looks.ts';
import { baseUrl } from './field-formats.ts';
import { isPlainHttp, parseBaseUrl } from './addresses.ts';
import { nearestWord } from '../core/did-you-mean.ts';
import { issueAt, report, reportKey, type YamlFile, quoted } from './yaml/yaml-file.ts';

/** Names of accounts are names of files and parts of addresses. */
export const ACCOUNT_NAME = /^(?!\.)[A-Za-z0-9._-]+$/u;

export const REGION_NAME = /^[A-Za-z0-9._-]+$/u;

/** Base addresses by region; undefined when `regions` is invalid, and then no region is checked. */
type Regions = Readonly<Record<string, string>> | undefined;

/** A base address, and the position that sets it. */
export interface AccountAddress {
  readonly baseUrl: string;
  readonly place: ConfigIssue;
}

const MAX_SHOWN_REGIONS = 20;

/** The base address if it is valid. Reports what the schema can't find. */
export function accountAddress(
  file: YamlFile,
  raw: Readonly<Record<string, unknown>>,
  regions: Regions,
): AccountAddress | undefined {
  const keys = (['region', 'baseUrl'] as const).filter((key) => Object.hasOwn(raw, key));
  // Problems of both keys are reported.
  const [address] = keys.map((key) => keyAddress(file, raw, key, regions));
  if (keys.length === 1) return address;
  if (keys.length === 0) report(file, [], '`region` or `baseUrl` is missing; add one of them');
  else
    reportKey(file, ['baseUrl'], 'an account has either `region` or `baseUrl`, not both; remove one of them');
  return undefined;
}

function keyAddress(
  file: YamlFile,
  raw: Readonly<Record<string, unknown>>,
  key: 'region' | 'baseUrl',
  regions: Regions,
): AccountAddress | undefined {
  const address =
    key === 'region' ? regionAddress(file, raw['region'], regions) : baseUrl.safeParse(raw['baseUrl']).data;
  if (address === undefined) return undefined;
  if (!isPlainHttp(address) || raw['allowInsecure'] === true)
    return { baseUrl: address, place: issueAt(file, [key]) };
  const message =
    'http:// would send the token unencrypted to another machine; use https://, or set `allowInsecure: true`';
  report(file, [key], message);
  return undefined;
}

function regionAddress(file: YamlFile, region: unknown, regions: Regions): string | undefined {
  if (typeof region !== 'string' || regions === undefined) return undefined;
  if (Object.hasOwn(regions, region)) return regions[region];
  const known = Object.keys(regions).toSorted();
  const near = nearestWord(region, known);
  const fix =
    known.length === 0
      ? '`regions` in rolecall.yaml is empty: add the region there, or use `baseUrl`'
      : `known regions: ${someOf(known)}${near === undefined ? '' : `; did you mean ${near}?`}`;
  report(file, ['region'], `unknown region ${quoted(region)}; ${fix}`);
  return undefined;
}

function someOf(regions: readonly string[]): string {
  const shown = regions.map((region) => (holdsToken(region) ? NOT_SHOWN : region));
  return firstFew(shown, MAX_SHOWN_REGIONS);
}

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
