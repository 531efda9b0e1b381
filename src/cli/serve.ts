// rolecall serve: runs the daemon until SIGTERM or SIGINT.
import { addRetryAfterOption, type CommandLine } from './command-line.ts';
import type { RetryAfterOptions } from './compose.ts';
import { EXIT } from './exit-status.ts';

export function addServe({ program, run }: CommandLine): void {
  addRetryAfterOption(program.command('serve'))
    .description('run the daemon: scheduled runs, pages and API')
    .action((flags: RetryAfterOptions) =>
      run(async ({ version, configFile }) => {
        const { serve } = await import('../wire/daemon.ts');
        return (await serve(version, configFile, flags)) === 0 ? EXIT.done : EXIT.failed;
      }),
    );
}
