// Converts a failure of git to a message that ends with its fix. Only this file matches git's messages, which `runGit`
// requests in English. An unknown message is shown as it is, without credentials.
import type { GitSourceSettings } from '../core/settings.ts';
import { shownRemote } from '../core/remote-address.ts';
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

/** Longer lines are cut, because the patterns take quadratic time for a long line. */
const LONGEST_LINE = 1000;

/**
 * What the output of git means, and the fix. REMOTE, BRANCH and FOLDER (of the checkout) are replaced. The first match
 * counts, so specific patterns come before general ones. What is not listed is shown in git's own words.
 */
const KNOWN: readonly (readonly [RegExp, string])[] = [
  [/No space left on device|Disk quota exceeded/iu, 'the disk of FOLDER is full; free some space on it'],
  [/git is too old/u, 'the installed git is too old; install git 2.32 or later'],
  [/ssh: (?:command )?not found|cannot run ssh/iu, 'ssh is not installed; install it, or use https://'],
  [/couldn't find remote ref/iu, 'REMOTE has no branch BRANCH; correct `branch`, or push the branch'],
  [
    /Host key verification failed|REMOTE HOST IDENTIFICATION HAS CHANGED/iu,
    'the ssh host key of REMOTE does not match known_hosts; verify the key and add it to known_hosts (see ssh-keyscan)',
  ],
  [/shallow/iu, 'the history of REMOTE is incomplete (a shallow clone); use a complete repository'],
  [
    /Permission denied \(|Authentication failed|could not read (?:Username|Password)|returned error: 40[13]|invalid credentials|Access denied|HTTP Basic/iu,
    'REMOTE rejected the credentials, or requires some; check that `credentials` are valid and can read the repository (a key has no passphrase, and mode 0600)',
  ],
  [
    /Repository not found|does not appear to be a git repository|repository '.*' (?:not found|does not exist)|returned error: (?:30\d|404)|redirect|project you were looking for could not be found/iu,
    'there is no repository at REMOTE, or the credentials have no access to it; check `url` and `credentials`',
  ],
  [
    /certificate|SSL|TLS|gnutls|transport '.*' not allowed|Could not resolve|Name or service not known|Temporary failure in name resolution|nodename nor servname|Connection refused|Failed to connect|Couldn't connect|timed out|No route to host|Network is unreachable|Connection reset|Could not read from remote repository|early EOF|hung up unexpectedly|Empty reply/iu,
    'REMOTE cannot be reached; check the address, the DNS, the network, the proxy, the server and its certificate (GIT_SSL_CAINFO adds certificate authorities)',
  ],
  [
    // A lock that exists was left by a git that was killed.
    /dubious ownership|Read-only file system|(?:could not|cannot|unable to) (?:create|write|open|lock)(?!.*File exists)/iu,
    'git cannot use FOLDER; check its owner, its permissions and its file system',
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
  if (known === undefined) return { reason: `git failed: ${lastErrorLine(output)}`, isKnown: false };
  const values = new Map([
    ['REMOTE', shown],
    ['BRANCH', place.settings.branch],
    ['FOLDER', place.folder],
  ]);
  const reason = known[1].replace(/REMOTE|BRANCH|FOLDER/gu, (word) => values.get(word) ?? word);
  return { reason, isKnown: true };
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
