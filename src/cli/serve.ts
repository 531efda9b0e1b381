// rolecall serve: runs the daemon until SIGTERM or SIGINT.
import { addRetryAfterOption, type CommandLine } from './command-line.ts';
import type { RetryAfterOptions } from './environment.ts';
import { EXIT } from './exit-status.ts';

export function addServe({ program, run }: CommandLine): void {
  addRetryAfterOption(program.command('serve'))
    .description('run the daemon: scheduled runs and the HTTP server, until SIGTERM or SIGINT')
    .action((flags: RetryAfterOptions) =>
      run(async ({ environment, configFile }) =>
        (await environment.serve(configFile, flags)) === 0 ? EXIT.done : EXIT.failed,
      ),
    );
}
