// Converts a failure of git to a message that ends with its fix. Only this file matches git's messages, which `runGit`
// requests in English. An unknown message is shown as it is, without credentials.
import type { GitSourceSettings } from '../core/settings.ts';
import { remoteKind, shownRemote } from '../core/remote-address.ts';
import type { GitResult } from './run-git.ts';

export interface GitFailureReason {
  readonly reason: string;
  /** Whether the reason is known; otherwise the repository on this machine may be broken. */
  readonly isKnown: boolean;
}

interface Place {
  readonly settings: GitSourceSettings;
  /** The folder of the checkout. */
  readonly folder: string;
  readonly scrub: (text: string) => string;
}

type Explanation = (shown: string, place: Place) => string;

/** Longer lines are cut, because the patterns take quadratic time for a long line. */
const LONGEST_LINE = 1000;

/** The first match counts, so specific patterns come before general ones. */
const KNOWN: readonly (readonly [RegExp, Explanation])[] = [
  [
    /No space left on device|Disk quota exceeded/iu,
    (_, { folder }) => `the disk of ${folder} is full; free some space on it`,
  ],
  [
    /Read-only file system/iu,
    (_, { folder }) =>
      `${folder} is on a read-only file system; move the store, and with it the checkout, to a writable folder`,
  ],
  [/git is too old/u, () => 'the installed git is too old; install git 2.32 or later'],
  [/ssh: (?:command )?not found|cannot run ssh/iu, () => 'ssh is not installed; install it, or use https://'],
  [
    /No user exists for uid/iu,
    () => 'ssh needs a name for the user of this process; add the user to /etc/passwd',
  ],
  [
    /couldn't find remote ref/iu,
    (shown, { settings }) =>
      `${shown} has no branch ${settings.branch}; correct \`branch\`, or push the branch`,
  ],
  [
    /Host key verification failed|REMOTE HOST IDENTIFICATION HAS CHANGED/iu,
    (shown) =>
      `the ssh host key of ${shown} does not match known_hosts; verify the key and add it to known_hosts (see ssh-keyscan)`,
  ],
  [
    /UNPROTECTED PRIVATE KEY FILE|bad permissions/iu,
    () => 'ssh rejects a private key file that other users can read; set its mode to 0600',
  ],
  [
    /Load key .*(?:invalid format|error in libcrypto|incorrect passphrase)|Identity file .* not accessible/iu,
    () =>
      'the file of `credentials` is not a private key, or it needs a passphrase; use a private key without a passphrase',
  ],
  [
    /shallow/iu,
    (shown) => `the history of ${shown} is incomplete (a shallow clone); use a complete repository`,
  ],
  [
    /Permission denied \(|Authentication failed|could not read (?:Username|Password)|returned error: 40[13]|invalid credentials|Access denied|HTTP Basic/iu,
    (shown, { settings }) =>
      settings.credentials === undefined
        ? `${shown} requires credentials; write a reference to them into \`credentials\``
        : `${shown} rejected the credentials; check that they are valid and can read the repository`,
  ],
  [
    /Could not resolve (?:host|proxy)|Name or service not known|Temporary failure in name resolution|nodename nor servname/iu,
    (shown) => `the host of ${shown} cannot be resolved; check the address and the DNS`,
  ],
  [
    /certificate|SSL|TLS|gnutls/u,
    (shown) =>
      `no encrypted connection to ${shown} is possible; check its certificate (GIT_SSL_CAINFO adds certificate authorities)`,
  ],
  [
    /unable to update url base from redirection|returned error: 30\d|redirect/iu,
    (shown) => `${shown} has moved, and redirects are not followed; write the new address into \`url\``,
  ],
  [/transport '.*' not allowed/iu, (shown) => `${shown} cannot be fetched safely; use https:// or ssh`],
  [
    /Repository not found|does not appear to be a git repository|repository '.*' (?:not found|does not exist)|returned error: 404|project you were looking for could not be found/iu,
    (shown) =>
      `there is no repository at ${shown}, or the credentials have no access to it; check \`url\` and \`credentials\``,
  ],
  [
    /Connection refused|Failed to connect|Couldn't connect|Connection timed out|Operation timed out|No route to host|Network is unreachable|Connection reset|Could not read from remote repository|early EOF|hung up unexpectedly|Empty reply/iu,
    (shown) => `${shown} cannot be reached; check the network, the proxy and the server`,
  ],
  [
    /dubious ownership/iu,
    (shown, { settings, folder }) =>
      `${remoteKind(settings.url) === 'local' ? shown : folder} belongs to another user; change its owner`,
  ],
  [
    // A lock that exists was left by a git that was killed.
    /(?:could not|cannot|unable to) (?:create|write|open|lock)(?!.*File exists)/iu,
    (_, { folder }) => `git cannot write below ${folder}; check its owner and permissions`,
  ],
];

/** Why a git call failed. */
export function explainGitFailure(
  result: Exclude<GitResult, { type: 'done' }>,
  place: Place,
): GitFailureReason {
  const shown = shownRemote(place.settings.url);
  if (result.type === 'stopped') return { reason: 'stopped', isKnown: true };
  if (result.type === 'too_slow') {
    const reason = `git took more than ${result.timeoutMs / 1000} s; check the connection to ${shown}`;
    return { reason, isKnown: true };
  }
  if (result.type === 'not_started') {
    const reason =
      result.code === 'ENOENT'
        ? 'git is not installed; install it'
        : `git cannot be started (${result.code}); check its installation and the folder ${place.folder}`;
    return { reason, isKnown: true };
  }
  const output = place.scrub(withShortLines(result.stderr));
  // Without the addresses and paths that git quotes, since the patterns could match them.
  const unquoted = output.replace(/'[^'\n]*'/gu, "''");
  const known = KNOWN.find(([pattern]) => pattern.test(unquoted));
  const reason = known?.[1](shown, place) ?? `git failed: ${lastErrorLine(output)}`;
  return { reason, isKnown: known !== undefined };
}

function withShortLines(text: string): string {
  return text
    .split('\n')
    .map((line) => line.slice(0, LONGEST_LINE))
    .join('\n');
}

/** The line with the error, shortened and without control characters. */
function lastErrorLine(output: string): string {
  const lines = output
    .split('\n')
    .map((line) => line.replace(/[\p{Cc}\p{Cf}]/gu, ' ').trim())
    .filter((line) => line !== '');
  const worst =
    lines.findLast((line) => /^(?:fatal|error):/u.test(line)) ?? lines.at(-1) ?? 'without a message';
  return worst.replace(/^(?:fatal|error): /u, '').slice(0, 300);
}
