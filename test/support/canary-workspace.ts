// A workspace in which every secret is a canary, so that everything the program prints, stores and sends can be
// searched.
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { CANARY, GIT_CANARY, HOOK_CANARY, HTTP_CANARY, leaksOf, leaksOfFiles } from './canary.ts';
import { makeWorkspace, type Result, type RunOptions, type Workspace } from './workspace.ts';

const ENV = {
  CANARY_TOKEN: CANARY,
  ROLECALL_HTTP_TOKEN: HTTP_CANARY,
  HOOK_SECRET: HOOK_CANARY,
  GIT_TOKEN: GIT_CANARY,
  ROLECALL_DEBUG: '1',
};

/** The line of an account file that refers to its token. */
export const CANARY_REFERENCE = 'token: { env: CANARY_TOKEN }';

export interface CanaryWorkspace extends Workspace {
  /** Writes rolecall.yaml: a fast `api`, and further lines. */
  serve(lines?: string): void;
  /** Writes the file of an account at an address. */
  account(name: string, baseUrl: string, lines: string): void;
  /** What leaked into the output of programs that have run here, by their arguments. */
  leaks(): readonly (readonly [string, readonly string[]])[];
  /** What leaked into any file of the workspace except those that the test wrote. */
  leaksOnDisk(): readonly string[];
}

/** Creates the workspace, which is removed when the test ends. Temporary files of programs are in it too. */
export function canaryWorkspace(): CanaryWorkspace {
  const workspace = makeWorkspace(CANARY);
  const written = new Set<string>();
  const found: (readonly [string, readonly string[]])[] = [];
  const env = { ...ENV, TMPDIR: join(workspace.folder, 'tmp') };
  mkdirSync(env.TMPDIR);

  const write: Workspace['write'] = (path, text) => {
    written.add(path);
    workspace.write(path, text);
  };

  const withCanaries = (options: RunOptions = {}): RunOptions => ({
    ...options,
    env: { ...env, ...options.env },
  });

  async function searched(args: readonly string[], ended: Promise<Result>): Promise<Result> {
    const result = await ended;
    const leaks = leaksOf(result.stdout + result.stderr);
    if (leaks.length > 0) found.push([args.join(' '), leaks]);
    return result;
  }

  return {
    ...workspace,
    write,
    start(args, options) {
      const running = workspace.start(args, withCanaries(options));
      return { ...running, ended: searched(args, running.ended) };
    },
    run: (args, options) => searched(args, workspace.run(args, withCanaries(options))),
    serve(lines = '') {
      const api = 'api: { requestsPerSecond: 1000, timeout: 5s, settle: 5100ms, retries: 0 }';
      write(
        'config/rolecall.yaml',
        `accounts: accounts/*.yaml\nstore: ../data/rolecall.db\n${api}\n${lines}\n`,
      );
    },
    account(name, baseUrl, lines) {
      write(`config/accounts/${name}.yaml`, `baseUrl: ${baseUrl}\n${CANARY_REFERENCE}\n${lines}\n`);
    },
    leaks: () => [...found],
    leaksOnDisk: () => leaksOfFiles(workspace.folder, [...written]),
  };
}
