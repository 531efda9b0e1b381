// rolecall init: its options.
import { InvalidArgumentError, Option } from 'commander';
import type { CommandLine } from './command-line.ts';
import type { InitFlags } from './first-answers.ts';
import { port } from './option-values.ts';

const REAL = ['baseUrl', 'region', 'tokenEnv', 'tokenFile'];

export function addInit({ program, run }: CommandLine): void {
  program
    .command('init')
    .description('write a first configuration from what an account contains')
    .option('--base-url <url>', 'base address of the account’s region, as you received it')
    .option('--region <name>', 'name of this address, such as us, eu, au or il, for other accounts to share')
    .option('--account <name>', 'name of the account, for its file and for reports')
    .addOption(
      new Option('--token-env <name>', 'environment variable that contains the token').conflicts('tokenFile'),
    )
    .option('--token-file <file>', 'file that contains the token')
    .option('--dir <dir>', 'folder to write to, created if missing; default: the current folder', notEmpty)
    .option('-y, --yes', 'do not ask for confirmation')
    .addOption(
      new Option('--sandbox', 'write a configuration for a local sandbox, without questions').conflicts(REAL),
    )
    .option('--port <n>', 'with --sandbox: the port that the sandbox will listen on', port, 8090)
    .action((flags: InitFlags) =>
      run(async (context) => {
        const { initialise } = await import('./first-configuration.ts');
        return await initialise(context, flags);
      }),
    );
}

function notEmpty(text: string): string {
  if (text === '') throw new InvalidArgumentError('Use the path of a folder.');
  return text;
}
