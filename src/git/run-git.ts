// Runs git. Every call has a fixed environment, a deadline that also ends git's helper processes, and bounded output.
// No setting of a repository and no variable of the environment can make git run a program.
//
// This is a thin runner of our own because one place must enforce these rules for every call. The library that was
// tried, simple-git, refuses options that this needs, such as credentials in the environment.
import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { errorCode } from '../core/errors.ts';

export interface GitCall {
  /** The working directory; must exist. */
  readonly folder: string;
  readonly args: readonly string[];
  /** Added to the fixed environment. Credentials are passed here, never in `args`, which other users can list. */
  readonly env?: Readonly<Record<string, string>>;
  readonly timeoutMs?: number;
  readonly signal?: AbortSignal | undefined;
  /** Limit in characters for stdout; git is ended when it is reached. */
  readonly maxOutput?: number;
  /**
   * The repository is not the daemon's own. Nothing may be fetched. The git configuration of the machine is used, since
   * it decides which repositories may be read (`safe.directory`).
   */
  readonly isForeign?: boolean;
}

/** A failed git call. Its message and output may contain credentials. */
export class GitFailure extends Error {
  override readonly name = 'GitFailure';
  /** Null if git did not end by itself; then the message is the reason. */
  readonly status: number | null;
  readonly output: string;

  constructor(message: string, status: number | null = null, output = '') {
    super(message);
    this.status = status;
    this.output = output;
  }
}

const TIMEOUT_MS = 30_000;
/** Time for git to remove temporary files and locks before it is killed. */
const GRACE_MS = 3000;
const MAX_OUTPUT = 64 * 1024;

/** Settings that neither a repository nor the machine's git configuration may change. */
const SETTINGS = [
  'core.hooksPath=/dev/null',
  'core.fsmonitor=false',
  'core.autocrlf=false',
  'core.attributesFile=/dev/null',
  // Programs that a git command could start.
  'core.sshCommand=false',
  'core.gitProxy=',
  'core.askPass=',
  'core.editor=false',
  'core.pager=cat',
  'core.alternateRefsCommand=',
  'diff.external=',
  'gpg.program=false',
  'gpg.ssh.program=false',
  'gpg.x509.program=false',
  'log.showSignature=false',
  // An accepted commit must survive a power failure.
  'core.fsync=all',
  // A helper could supply other credentials, and would store ours.
  'credential.helper=',
  // The token must be sent only to the configured repository.
  'http.followRedirects=false',
  'fetch.recurseSubmodules=no',
  'submodule.recurse=false',
  // No background process may continue after the call.
  'gc.autoDetach=false',
  'maintenance.autoDetach=false',
].flatMap((setting) => ['-c', setting]);

const PROXIES = ['HTTP_PROXY', 'HTTPS_PROXY', 'ALL_PROXY', 'NO_PROXY'];
/** Certificate authorities, for git servers with a private one. */
const AUTHORITIES = ['GIT_SSL_CAINFO', 'GIT_SSL_CAPATH', 'SSL_CERT_FILE', 'SSL_CERT_DIR'];
const INHERITED = [
  'PATH',
  'HOME',
  'XDG_CONFIG_HOME',
  'TMPDIR',
  'USERPROFILE',
  'SYSTEMROOT',
  'SSH_AUTH_SOCK',
].concat(
  AUTHORITIES,
  PROXIES.flatMap((name) => [name, name.toLowerCase()]),
);

/** No prompts, no patterns in paths, and messages in English. */
const ENVIRONMENT = {
  LC_ALL: 'C',
  GIT_TERMINAL_PROMPT: '0',
  GIT_LITERAL_PATHSPECS: '1',
  // git must not fetch a missing object from an address that the repository names.
  GIT_NO_LAZY_FETCH: '1',
};

/** No configuration of the machine. */
const OWN_ENVIRONMENT = {
  ...ENVIRONMENT,
  GIT_CONFIG_NOSYSTEM: '1',
  GIT_CONFIG_GLOBAL: '/dev/null',
  GIT_ALLOW_PROTOCOL: 'file:https:ssh',
};

/** A foreign repository is read as it is stored: without locks, replaced objects and protocols. */
const FOREIGN_ENVIRONMENT = {
  ...ENVIRONMENT,
  GIT_ALLOW_PROTOCOL: 'none',
  GIT_NO_REPLACE_OBJECTS: '1',
  GIT_OPTIONAL_LOCKS: '0',
  GIT_PAGER: 'cat',
};

/** Runs git until it ends, at most for `timeoutMs`, and never prompts. Returns its output. Throws only `GitFailure`. */
export function runGit({
  folder,
  args,
  env = {},
  timeoutMs = TIMEOUT_MS,
  signal,
  maxOutput = MAX_OUTPUT,
  isForeign = false,
}: GitCall): Promise<string> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted === true) return reject(new GitFailure('stopped'));
    const child = spawn('git', [...SETTINGS, ...args], {
      cwd: folder,
      env: { ...inherited(), ...(isForeign ? FOREIGN_ENVIRONMENT : OWN_ENVIRONMENT), ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
      // A separate process group, so that ssh and the other helpers are ended too.
      detached: true,
    });
    const stdout = collect(child.stdout, maxOutput, () => end(null));
    const stderr = collect(child.stderr, MAX_OUTPUT);
    /** Why git was ended; null: its output is complete enough. */
    let ended: GitFailure | null | undefined;
    let killing: NodeJS.Timeout | undefined;
    const end = (why: GitFailure | null): void => {
      if (ended === undefined) ended = why;
      signalGroup(child, 'SIGTERM');
      killing ??= setTimeout(() => {
        signalGroup(child, 'SIGKILL');
        // A helper that left the group may keep them open, and nothing would ever end.
        child.stdout.destroy();
        child.stderr.destroy();
      }, GRACE_MS);
    };
    const slow = `git took more than ${timeoutMs / 1000} s; check the connection to the repository`;
    const limit = setTimeout(() => end(new GitFailure(slow)), timeoutMs);
    const stop = (): void => end(new GitFailure('stopped'));
    signal?.addEventListener('abort', stop, { once: true });
    const settle = (failure: GitFailure | null): void => {
      clearTimeout(limit);
      clearTimeout(killing);
      signal?.removeEventListener('abort', stop);
      const why = ended === undefined ? failure : ended;
      if (why === null) resolve(stdout());
      else reject(why);
    };
    child.on('error', (error) => {
      // The system reports the same error for a missing program and for a missing working directory.
      const code = existsSync(folder) ? errorCode(error) : 'its folder no longer exists';
      const why = `git cannot be started (${code}); check its installation and the folder ${folder}`;
      settle(new GitFailure(code === 'ENOENT' ? 'git is not installed; install it' : why));
    });
    child.on('close', (status) =>
      settle(status === 0 ? null : new GitFailure('git failed', status ?? -1, stderr())),
    );
  });
}

function inherited(): Record<string, string> {
  return Object.fromEntries(
    INHERITED.flatMap((name) => {
      const value = process.env[name];
      return value === undefined ? [] : [[name, value]];
    }),
  );
}

/** Collects the start of a stream; the rest is read and dropped. */
function collect(stream: NodeJS.ReadableStream, max: number, onFull?: () => void): () => string {
  let text = '';
  stream.setEncoding('utf8');
  stream.on('data', (piece: string) => {
    if (text.length < max) text += piece.slice(0, max - text.length);
    if (text.length >= max) onFull?.();
  });
  return () => text;
}

function signalGroup({ pid }: ChildProcess, signal: NodeJS.Signals): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, signal);
  } catch {
    // The process has already ended.
  }
}
