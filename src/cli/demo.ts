// rolecall demo: plans and applies a sample account on a sandbox.
import type { CommandLine } from './command-line.ts';
import { EXIT } from './exit-status.ts';

export function addDemo({ program, run }: CommandLine): void {
  program
    .command('demo')
    .description('plan and apply a drifted sample account on a sandbox')
    .action(() =>
      run(async ({ environment }) => ((await environment.demo()) === 0 ? EXIT.done : EXIT.failed)),
    );
}
