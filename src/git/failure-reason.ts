// What kept git from doing its work, as a sentence that ends in the mend. Its own words are matched here and nowhere
// else, in the one language that it is asked to speak; what is not known is passed on, without credentials.
import type { GitSourceSettings } from '../core/settings.ts';
import { remoteKind, shownRemote } from '../core/remote-address.ts';
import type { GitResult } from './run-git.ts';

export interface GitFailureReason {
  readonly reason: string;
  /** The repository on this machine is broken, and has to be made anew. */
  readonly isDamaged: boolean;
}

interface Place {
  readonly settings: GitSourceSettings;
  /** The folder of the checkout. */
  readonly folder: string;
  readonly scrub: (text: string) => string;
}

type Sentence = (shown: string, place: Place) => string;

const DAMAGED =
  /object file .* is empty|(?:loose object|packed object|packfile|pack) .* (?:is|seems) (?:corrupt|damaged)|bad object|missing (?:blob|tree|commit)|unable to read (?:tree|sha1|[0-9a-f]{40})|not a git repository|bad (?:config|tree)|did not send all necessary objects|index file (?:corrupt|smaller)|bad signature|inflate: |object .* cannot be read|broken (?:HEAD|ref)|not a valid object/iu;

/** The first that matches is what it is; the order is from the certain to the vague. */
const KNOWN: readonly (readonly [RegExp, Sentence])[] = [
  [
    /No space left on device|Disk quota exceeded/iu,
    (_, { folder }) => `the disk of ${folder} is full; make room on it`,
  ],
  [
    /Read-only file system/iu,
    (_, { folder }) => `${folder} is on a read-only file system; give the checkout a folder to write to`,
  ],
  [/git is too old/u, () => 'the git that is installed here is too old; install 2.32 or later'],
  [
    /ssh: (?:command )?not found|cannot run ssh/iu,
    () => 'ssh is not installed here; install it, or use https://',
  ],
  [
    /No user exists for uid/iu,
    () => 'ssh does not work for a user that the system has no name for; add one to /etc/passwd',
  ],
  [
    /couldn't find remote ref/iu,
    (shown, { settings }) => `${shown} has no branch ${settings.branch}; mend \`branch\`, or push it`,
  ],
  [
    /Host key verification failed|REMOTE HOST IDENTIFICATION HAS CHANGED/iu,
    (shown) =>
      `the ssh host key of ${shown} is not the known one; add the right one to known_hosts (see ssh-keyscan)`,
  ],
  [
    /UNPROTECTED PRIVATE KEY FILE|bad permissions/iu,
    () => 'ssh does not use a key file that others may read; give it the mode 0600',
  ],
  [
    /Load key .*(?:invalid format|error in libcrypto|incorrect passphrase)|Identity file .* not accessible/iu,
    () => 'the file of `credentials` is no private key that ssh can use without a passphrase',
  ],
  [
    /shallow/iu,
    (shown) => `the history of ${shown} is cut off (a shallow clone); fetch from a complete repository`,
  ],
  [
    /Permission denied \(|Authentication failed|could not read (?:Username|Password)|returned error: 40[13]|invalid credentials|Access denied|HTTP Basic/iu,
    (shown, { settings }) =>
      settings.credentials === undefined
        ? `${shown} asks for credentials; put a reference to them into \`credentials\``
        : `${shown} refuses the credentials; check that they are valid and may read the repository`,
  ],
  [
    /Could not resolve (?:host|proxy)|Name or service not known|Temporary failure in name resolution|nodename nor servname/iu,
    (shown) => `the host of ${shown} is not known here; check the address and the name server`,
  ],
  [
    /certificate|SSL|TLS|gnutls/u,
    (shown) =>
      `no encrypted connection to ${shown} could be made; check its certificate (GIT_SSL_CAINFO names further authorities)`,
  ],
  [
    /unable to update url base from redirection|returned error: 30\d|redirect/iu,
    (shown) => `${shown} has moved, and redirects are not followed; put the new address into \`url\``,
  ],
  [/transport '.*' not allowed/iu, (shown) => `${shown} cannot be fetched safely; use https:// or ssh`],
  [
    /Repository not found|does not appear to be a git repository|repository '.*' (?:not found|does not exist)|returned error: 404|project you were looking for could not be found/iu,
    (shown) =>
      `there is no repository at ${shown}, or the credentials may not see it; check \`url\` and \`credentials\``,
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
    /(?:could not|cannot|unable to) (?:create|write|open|lock)/iu,
    (_, { folder }) => `git cannot write below ${folder}; check its owner and permissions`,
  ],
];

/** Why a call of git did not end as it should. */
export function explainGitFailure(result: Exclude<GitResult, { type: 'done' }>, place: Place): GitFailureReason {
  const shown = shownRemote(place.settings.url);
  if (result.type === 'stopped') return sound('stopped');
  if (result.type === 'too_slow') {
    return sound(`git took more than ${result.timeoutMs / 1000} s; check the connection to ${shown}`);
  }
  if (result.type === 'not_started') {
    const isMissing = result.code === 'ENOENT';
    return sound(isMissing ? 'git is not installed here; install it' : `git cannot be run (${result.code})`);
  }
  const said = place.scrub(linesCut(result.stderr));
  // Without the addresses and paths that git quotes: their words are no words of git's.
  const words = said.replace(/'[^'\n]*'/gu, "''");
  const known = KNOWN.find(([pattern]) => pattern.test(words));
  const reason = known?.[1](shown, place) ?? `git failed: ${lastErrorLine(said)}`;
  // What the server says of its own repository is about that one.
  return { reason, isDamaged: known === undefined && DAMAGED.test(words.replace(/^remote:.*$/gmu, '')) };
}

/** What follows in so long a line says nothing about the failure, and patterns would search it from every word. */
const LONGEST_LINE = 1000;

function linesCut(text: string): string {
  return text
    .split('\n')
    .map((line) => line.slice(0, LONGEST_LINE))
    .join('\n');
}

function sound(reason: string): GitFailureReason {
  return { reason, isDamaged: false };
}

/** The line that says what went wrong, short and without characters that a terminal obeys. */
function lastErrorLine(said: string): string {
  const lines = said
    .split('\n')
    .map((line) => line.replace(/[\p{Cc}\p{Cf}]/gu, ' ').trim())
    .filter((line) => line !== '');
  const worst = lines.findLast((line) => /^(?:fatal|error):/u.test(line)) ?? lines.at(-1) ?? 'without a word';
  return worst.replace(/^(?:fatal|error): /u, '').slice(0, 300);
}
