// The texts of a first configuration: the service file, and the account file before it lists what the account contains.
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
    delete: unused # never deletes what people have, unless the account file approves it
    maxDeletes: 10 # with more deletes in one plan, all of them wait for you
`;
}

/** The account file without lists and pin, which are read from the account. */
export function accountText({ account, baseUrl, region, token, comment }: FirstAccount): string {
  const address = region === null ? `baseUrl: ${addressText(baseUrl)}` : `region: ${yamlText(region)}`;
  const reference = 'env' in token ? `env: ${yamlText(token.env)}` : `file: ${yamlText(token.file)}`;
  return `# The account ${account}: rolecall creates what you add here, and deletes what you remove.
# \`rolecall plan\` shows that first. \`accountId\` is a pin: a token of any other account is refused.
${comment === undefined ? '' : `# ${comment}\n`}
${address}
token: { ${reference} } # where the token is; the token itself is never in this file
`;
}

/** Quotes are needed for few addresses, such as those with brackets. */
function addressText(baseUrl: string): string {
  return /^https?:\/\/[\w.:/-]+$/.test(baseUrl) ? baseUrl : yamlQuoted(baseUrl);
}
