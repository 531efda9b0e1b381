// How a repository is reached: the protocol that may be spoken, and the credentials for it.
import { isLoopback } from '../core/loopback.ts';
import { Secret } from '../core/secret.ts';
import type { GitSourceSettings } from '../core/settings.ts';
import { remoteKind, withoutUsers } from '../core/remote-address.ts';

/** What one fetch is given beside its arguments. */
export interface RemoteAccess {
  readonly env: Readonly<Record<string, string>>;
  /** A text of git's without the credentials, in whichever form they may stand in it. */
  readonly scrub: (text: string) => string;
}

/**
 * The way to the repository. For https the secret that `resolve` gives is a token, or `user:password`; for ssh the
 * reference in the settings names the file of the private key, and nothing is resolved. Throws what `resolve` throws.
 */
export async function remoteAccess(
  settings: GitSourceSettings,
  resolve: () => Promise<Secret | undefined>,
): Promise<RemoteAccess> {
  const { url, credentials } = settings;
  const kind = remoteKind(url);
  if (kind === 'ssh') return { env: { GIT_SSH_COMMAND: sshCommand(credentials) }, scrub: withoutUsers };
  if (kind !== 'http') return { env: {}, scrub: withoutUsers };
  const { protocol, origin, hostname } = new URL(url);
  const isPlain = protocol === 'http:';
  // What is fetched decides what is deleted, so it comes over an encrypted line, or from this machine.
  const allow = {
    ...(isPlain && isLoopback(hostname) ? { GIT_ALLOW_PROTOCOL: 'http' } : {}),
    // What stands on this machine is not asked through a proxy.
    ...(isLoopback(hostname) ? { NO_PROXY: '*', no_proxy: '*' } : {}),
  };
  const secret = await resolve();
  if (secret === undefined) return { env: allow, scrub: withoutUsers };
  const value = secret.reveal();
  // What stands before the colon does not matter to most servers when a token follows it; this is what others want.
  const user = value.includes(':') ? value : `x-access-token:${value}`;
  const basic = new Secret(Buffer.from(user).toString('base64'));
  const password = user.slice(user.indexOf(':') + 1);
  // The longest first: what is left of a spelling whose part was taken out is not found any more.
  const hidden = [basic, secret, ...[password, encodeURIComponent(password)].map((text) => new Secret(text))];
  return {
    env: {
      ...allow,
      GIT_CONFIG_COUNT: '1',
      GIT_CONFIG_KEY_0: `http.${origin}/.extraHeader`,
      GIT_CONFIG_VALUE_0: `Authorization: Basic ${basic.reveal()}`,
    },
    // First the secrets, which may look like anything, then what is left of addresses.
    scrub: (text) => withoutUsers(hidden.reduce((rest, one) => one.scrub(rest), text)),
  };
}

/** ssh as a daemon can use it: it asks nothing, and knows the host already. */
function sshCommand(credentials: GitSourceSettings['credentials']): string {
  const options = ['BatchMode=yes', 'StrictHostKeyChecking=yes', 'ConnectTimeout=30', 'ControlPath=none'];
  const key = credentials !== undefined && 'file' in credentials ? credentials.file : undefined;
  const identity = key === undefined ? [] : ['-i', shellQuoted(key), '-o', 'IdentitiesOnly=yes'];
  return ['ssh', ...options.flatMap((option) => ['-o', option]), ...identity].join(' ');
}

/** git gives the command to a shell. */
function shellQuoted(text: string): string {
  return `'${text.replaceAll("'", String.raw`'\''`)}'`;
}
