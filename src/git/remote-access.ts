// The protocol and the credentials for a remote repository, as environment variables for git.
import { isLoopback } from '../core/loopback.ts';
import { Secret } from '../core/secret.ts';
import type { GitSourceSettings } from '../core/settings.ts';
import { remoteKind, withoutUsers } from '../core/remote-address.ts';

/** What a fetch needs besides its arguments. */
export interface RemoteAccess {
  readonly env: Readonly<Record<string, string>>;
  /** Removes the credentials from a text of git, in each form that they may have in it. */
  readonly scrub: (text: string) => string;
}

/**
 * The access to the repository. For https the secret of `resolve` is a token, or `user:password`. For ssh the reference
 * in the settings is the file of the private key, and `resolve` is not called. Throws what `resolve` throws.
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
  // The fetched files decide what is deleted, so plain http is allowed only for this machine.
  const allow = {
    ...(isPlain && isLoopback(hostname) ? { GIT_ALLOW_PROTOCOL: 'http' } : {}),
    // A repository on this machine must not be requested through a proxy.
    ...(isLoopback(hostname) ? { NO_PROXY: '*', no_proxy: '*' } : {}),
  };
  const secret = await resolve();
  if (secret === undefined) return { env: allow, scrub: withoutUsers };
  const value = secret.reveal();
  // Most servers ignore the user name of a token; the others require this one.
  const user = value.includes(':') ? value : `x-access-token:${value}`;
  const basic = new Secret(Buffer.from(user).toString('base64'));
  const password = user.slice(user.indexOf(':') + 1);
  // The longest form first: after a part of it was removed, the rest would not be found.
  const hidden = [basic, secret, ...[password, encodeURIComponent(password)].map((text) => new Secret(text))];
  return {
    env: {
      ...allow,
      GIT_CONFIG_COUNT: '1',
      GIT_CONFIG_KEY_0: `http.${origin}/.extraHeader`,
      GIT_CONFIG_VALUE_0: `Authorization: Basic ${basic.reveal()}`,
    },
    // The secrets first: they may contain the characters that `withoutUsers` splits an address at.
    scrub: (text) => withoutUsers(hidden.reduce((rest, one) => one.scrub(rest), text)),
  };
}

/** The ssh command of a daemon: no prompts, and only hosts in known_hosts. */
function sshCommand(credentials: GitSourceSettings['credentials']): string {
  const options = ['BatchMode=yes', 'StrictHostKeyChecking=yes', 'ConnectTimeout=30', 'ControlPath=none'];
  const key = credentials !== undefined && 'file' in credentials ? credentials.file : undefined;
  const identity = key === undefined ? [] : ['-i', shellQuoted(key), '-o', 'IdentitiesOnly=yes'];
  return ['ssh', ...options.flatMap((option) => ['-o', option]), ...identity].join(' ');
}

/** Quoted for the shell, because git runs the command with one. */
function shellQuoted(text: string): string {
  return `'${text.replaceAll("'", String.raw`'\''`)}'`;
}
