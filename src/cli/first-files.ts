// The files of a first configuration: their places, of which none may exist, and their texts before the account file
// lists what the account contains.
import { existsSync } from 'node:fs';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { shownPath } from '../config/yaml/source-text.ts';
import { StoreError, UsageError, errorCode } from '../core/errors.ts';
import type { SecretRef } from '../core/settings.ts';
import { yamlQuoted, yamlText } from '../core/yaml-text.ts';

/** What `init` writes about the account. */
export interface FirstAccount {
  readonly account: string;
  readonly baseUrl: string;
  /** The name of the address in the service file; null writes the address into the account file. */
  readonly region: string | null;
  /** With the path of a file relative to the account file, or absolute. */
  readonly token: SecretRef;
  /** What the reader of the account file must know. */
  readonly comment?: string;
}

/** The service file. `store` is relative to its folder. */
export function serviceText({ baseUrl, region }: FirstAccount, store: string): string {
  const regions =
    region === null
      ? '# regions: # base addresses that account files can name with `region`\n#   eu: https://eu.planning.example.com\n'
      : `regions: # base addresses that account files name with \`region\`\n  ${yamlText(region)}: ${addressText(baseUrl)}\n`;
  return `# The settings of rolecall. \`rolecall validate\` checks this file and all account files.
# config/README.md in the repository of rolecall describes every setting.

accounts: accounts/*.yaml # one file for each account; its base name is the name of the account
store: ${store} # the journal of all runs; keep it out of git

${regions}
defaults: # for all accounts; an account file can override them
  mode: plan # what the daemon does: plan writes nothing; approve waits for you; apply writes
  schedule: '*/15 * * * *' # when it does it, as five cron fields in UTC
  policy:
    delete: unused # never deletes what people have, unless the account file allows it
    maxDeletes: 10 # with more deletes in one plan, all of them wait for you
`;
}

/** The account file without lists and pin, which are read from the account. */
export function accountText({ account, baseUrl, region, token, comment }: FirstAccount): string {
  const address = region === null ? `baseUrl: ${addressText(baseUrl)}` : `region: ${yamlText(region)}`;
  const reference = 'env' in token ? `env: ${yamlText(token.env)}` : `file: ${yamlText(token.file)}`;
  return `# The account ${account}: rolecall creates what you add here, and deletes what you remove.
# \`rolecall plan\` shows that first. The pin \`accountId\` refuses the token of any other account; an empty account has none yet.
${comment === undefined ? '' : `# ${comment}\n`}
${address}
token: { ${reference} } # where the token is; the token itself is never in this file
`;
}

/** Quotes are needed for few addresses, such as those with brackets. */
function addressText(baseUrl: string): string {
  return /^https?:\/\/[\w.:/-]+$/.test(baseUrl) ? baseUrl : yamlQuoted(baseUrl);
}

export interface FirstPlace {
  /** The service file, absolute. */
  readonly configFile: string;
  /** Its folder. */
  readonly folder: string;
  /** The store, relative to the service file. */
  readonly store: string;
}

/** The place of a first configuration. */
export function firstPlace(configFile: string): FirstPlace {
  const file = path.resolve(configFile);
  const folder = path.dirname(file);
  // The store is data, so it is not in the folder of the configuration unless that folder is the complete project.
  const store = path.basename(folder) === 'config' ? '../data/rolecall.db' : 'data/rolecall.db';
  return { configFile: file, folder, store };
}

/** Throws UsageError when one of the files exists, with what to do instead. */
export function refuseExisting(files: readonly string[]): void {
  const found = files.find((file) => existsSync(file));
  if (found === undefined) return;
  throw new UsageError(
    `${shownPath(found)} exists already, and init replaces no file. To add an account to a configuration, use --account NAME with --region or --base-url, and --token-env or --token-file. To begin again, move the file away and run init again. To start elsewhere, use --config`,
  );
}

/** Writes all files, or none: after a failure the files written so far are removed. Throws StoreError. */
export async function writeNewFiles(texts: ReadonlyMap<string, string>): Promise<void> {
  const written: string[] = [];
  for (const [file, text] of texts) {
    try {
      await mkdir(path.dirname(file), { recursive: true });
      // `wx` fails if the file exists by now.
      await writeFile(file, text, { flag: 'wx' });
      written.push(file);
    } catch (error) {
      await Promise.all(written.map((each) => rm(each, { force: true })));
      throw new StoreError(
        'output_failed',
        `${shownPath(file)} cannot be written (${errorCode(error)}); nothing was written. Check the permissions of the folder`,
      );
    }
  }
}
