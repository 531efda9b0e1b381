// Runs git, with a time limit for the whole call that ends its helpers too, and without anything that a repository's
// own settings, or a variable of the environment, could make it run.
import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { errorCode } from '../core/error-code.ts';

export interface GitCall {
  /** The folder to run in; has to be there. */
  readonly folder: string;
  readonly args: readonly string[];
  /** Beside what every call is given; credentials come this way, never by `args`, which every user can list. */
  readonly env?: Readonly<Record<string, string>>;
  readonly timeoutMs?: number;
  readonly signal?: AbortSignal | undefined;
  /** Characters of stdout that are kept; the rest is dropped. */
  readonly maxOutput?: number;
  /**
   * The repository is not ours: nothing is fetched from anywhere, and the machine's settings hold, which say whose
   * repositories may be read (`safe.directory`).
   */
  readonly isForeign?: boolean;
}

export type GitResult =
  | { readonly type: 'done'; readonly stdout: string }
  | { readonly type: 'failed'; readonly status: number | null; readonly stderr: string }
  | { readonly type: 'too_slow'; readonly timeoutMs: number }
  | { readonly type: 'stopped' }
  | { readonly type: 'not_started'; readonly code: string };

const TIMEOUT_MS = 30_000;
/** Time to remove temporary files and locks, after which git is killed. */
const GRACE_MS = 3000;
/** Time for the rest of the output after the end. */
const DRAIN_MS = 1000;
const MAX_OUTPUT = 64 * 1024;

/** What a repository, or the machine's git configuration, must not decide. */
const SETTINGS = [
  'core.hooksPath=/dev/null',
  'core.fsmonitor=false',
  'core.autocrlf=false',
  'core.attributesFile=/dev/null',
  // Programs that a command could start for what it reads, asks or shows.
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
  // An accepted commit survives a power failure.
  'core.fsync=all',
  // A helper would be asked for other credentials, and be told ours to keep.
  'credential.helper=',
  // The token is for the repository that is configured; contract, section 5, says the same of the service.
  'http.followRedirects=false',
  'fetch.recurseSubmodules=no',
  'submodule.recurse=false',
  // Nothing goes on behind the back of who waits for the call.
  'gc.autoDetach=false',
  'maintenance.autoDetach=false',
].flatMap((setting) => ['-c', setting]);

const PROXIES = ['HTTP_PROXY', 'HTTPS_PROXY', 'ALL_PROXY', 'NO_PROXY'];
/** The authority that signs a company's own git server. */
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

/** No prompt, no configuration of the machine, no pattern in a path, messages in one language. */
const ENVIRONMENT = {
  LC_ALL: 'C',
  GIT_TERMINAL_PROMPT: '0',
  GIT_CONFIG_NOSYSTEM: '1',
  GIT_CONFIG_GLOBAL: '/dev/null',
  GIT_LITERAL_PATHSPECS: '1',
  GIT_ALLOW_PROTOCOL: 'file:https:ssh',
  // An object that is missing is not fetched on the way, from wherever the repository says.
  GIT_NO_LAZY_FETCH: '1',
};

/** A repository of somebody else's is read as it is stored: no lock, no replaced object, no other place, no protocol. */
const FOREIGN_ENVIRONMENT = {
  LC_ALL: 'C',
  GIT_TERMINAL_PROMPT: '0',
  GIT_LITERAL_PATHSPECS: '1',
  GIT_ALLOW_PROTOCOL: 'none',
  GIT_NO_LAZY_FETCH: '1',
  GIT_NO_REPLACE_OBJECTS: '1',
  GIT_OPTIONAL_LOCKS: '0',
  GIT_PAGER: 'cat',
};

/** Runs git to its end, at most for `timeoutMs`. Never throws and never prompts. */
export function runGit({
  folder,
  args,
  env = {},
  timeoutMs = TIMEOUT_MS,
  signal,
  maxOutput = MAX_OUTPUT,
  isForeign = false,
}: GitCall): Promise<GitResult> {
  return new Promise((resolve) => {
    if (signal?.aborted === true) return resolve({ type: 'stopped' });
    const child = spawn('git', [...SETTINGS, ...args], {
      cwd: folder,
      env: { ...inherited(), ...(isForeign ? FOREIGN_ENVIRONMENT : ENVIRONMENT), ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
      // A group of its own, so that ssh and the other helpers end with it.
      detached: true,
    });
    const stdout = collect(child.stdout, maxOutput);
    const stderr = collect(child.stderr, MAX_OUTPUT);
    let ended: GitResult | undefined;
    let killing: NodeJS.Timeout | undefined;
    let draining: NodeJS.Timeout | undefined;
    const end = (result: GitResult): void => {
      ended ??= result;
      signalGroup(child, 'SIGTERM');
      killing ??= setTimeout(() => signalGroup(child, 'SIGKILL'), GRACE_MS);
    };
    const limit = setTimeout(() => end({ type: 'too_slow', timeoutMs }), timeoutMs);
    const stop = (): void => end({ type: 'stopped' });
    signal?.addEventListener('abort', stop, { once: true });
    const settle = (result: GitResult): void => {
      for (const timer of [limit, killing, draining]) clearTimeout(timer);
      signal?.removeEventListener('abort', stop);
      child.stdout.destroy();
      child.stderr.destroy();
      resolve(ended ?? result);
    };
    const settleBy = (status: number | null): void =>
      settle(
        status === 0 ? { type: 'done', stdout: stdout() } : { type: 'failed', status, stderr: stderr() },
      );
    child.on('error', (error) => {
      // The system says the same of a missing program and of a missing folder to run it in.
      const code = existsSync(folder) ? errorCode(error) : 'its folder is gone';
      settle({ type: 'not_started', code });
    });
    child.on('close', settleBy);
    child.on('exit', (status) => {
      // A helper that stays behind, as a shared ssh connection does, would hold the pipes open.
      draining = setTimeout(() => settleBy(status), DRAIN_MS);
    });
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

/** The first of what a stream says; the rest is read and dropped. */
function collect(stream: NodeJS.ReadableStream, max: number): () => string {
  let text = '';
  stream.setEncoding('utf8');
  stream.on('data', (piece: string) => {
    if (text.length < max) text += piece.slice(0, max - text.length);
  });
  return () => text;
}

function signalGroup({ pid }: ChildProcess, signal: NodeJS.Signals): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, signal);
  } catch {
    // It has ended meanwhile.
  }
}
