// rolecall demo: plans and applies a sample account on a sandbox.
import type { CommandLine } from './command-line.ts';

interface DemoFlags {
  /** Whether the daemon runs on the sample accounts afterwards. */
  readonly serve?: true;
}

export function addDemo({ program, run }: CommandLine): void {
  program
    .command('demo')
    .description('plan and apply a drifted sample account on a sandbox')
    .option('--serve', 'then run the daemon and its pages on sample accounts, until Ctrl-C')
    .action((flags: DemoFlags) =>
      run(async ({ version }) => {
        const { playDemo } = await import('./play-demo.ts');
        return await playDemo(version, flags.serve === true);
      }),
    );
}
