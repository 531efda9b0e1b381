// The arguments and options of the commands whose work is in files of their own, and of the sandbox. These files are imported
// when the command runs, so that the help appears at once.
import { Option } from 'commander';
import { ACCOUNT_STATES } from '../core/journal.ts';
import {
  type CommandLine,
  ACCOUNTS_HELP,
  acceptOption,
  addReportOptions,
  addDetailOptions,
  port,
  duration,
  positive,
} from './command-line.ts';
import type { CommandContext } from './compose.ts';
import type { ApplyOptions } from './apply-accounts.ts';
import type { InitFlags } from './first-files.ts';
import type { PlanOptions } from './plan-accounts.ts';
import type { StatusFlags } from './status.ts';
import { EXIT, type ExitStatus } from './exit-status.ts';
import { PIPELINES } from './first-pipeline.ts';

const REAL = ['baseUrl', 'region', 'tokenEnv', 'tokenFile'];

export function addInit({ program, run }: CommandLine): void {
  program
    .command('init')
    .description('write a first configuration, or add an account to one, from what the account contains')
    .option('--base-url <url>', 'base address of the account’s region, as you received it')
    .option('--region <name>', 'name of this address, such as us, eu, au or il, for other accounts to share')
    .option('--account <name>', 'name of the account, for its file and for reports')
    .addOption(
      new Option('--token-env <name>', 'environment variable that contains the token').conflicts('tokenFile'),
    )
    .option('--token-file <file>', 'file that contains the token')
    .addOption(
      new Option('--sandbox', 'write a configuration for a local sandbox, without questions').conflicts(REAL),
    )
    .addOption(new Option('--ci <where>', 'also write the pipelines that plan and apply').choices(PIPELINES))
    .option('--port <n>', 'with --sandbox: the port that the sandbox will listen on', port, 8090)
    .action(
      run(async (context, flags: InitFlags) => {
        const { initialise } = await import('./first-configuration.ts');
        return await initialise(context, flags);
      }),
    );
}

interface DemoFlags {
  /** Whether the daemon runs on the account afterwards. */
  readonly serve?: true;
}

export function addDemo({ program, run }: CommandLine): void {
  program
    .command('demo')
    .description('plan and apply a drifted sample account on a sandbox')
    .option('--serve', 'then run the daemon and its pages on the account, until Ctrl-C')
    .action(
      run(async (context, flags: DemoFlags) => {
        const { playDemo } = await import('./play-demo.ts');
        return await playDemo(context, flags.serve === true);
      }),
    );
}

export function addPlan({ program, report }: CommandLine): void {
  addDetailOptions(addReportOptions(program.command('plan')))
    .description('show what apply would create, delete and hold (dry run)')
    .argument('[account...]', ACCOUNTS_HELP)
    .option('--save <file>', 'save the plan for `apply --plan`')
    .addOption(
      new Option(
        '--server <url>',
        'request the plan from a daemon, which has the history; token in $ROLECALL_HTTP_TOKEN',
      ).conflicts('accept'),
    )
    .addOption(acceptOption())
    .option(
      '--detailed-exitcode',
      'exit 2 if there are operations to apply, 3 if changes are only held or blocked',
    )
    .action(
      report(async (context, names: string[], flags: PlanOptions) => {
        const { planAccounts } = await import('./plan-accounts.ts');
        return await planAccounts(context, names, flags);
      }),
    );
}

export function addApply({ program, report }: CommandLine): void {
  addDetailOptions(addReportOptions(program.command('apply')))
    .description('plan, show the plan, ask, apply it and verify the result')
    .argument('[account...]', "names or globs; '!name' excludes; required if there are several accounts")
    .option('--all', 'apply to all accounts')
    .option('-y, --yes', 'do not ask for confirmation')
    .option(
      '--plan <file>',
      'apply a plan saved by `plan --save`; refused if it no longer matches the account',
    )
    .option('--allow-held', 'exit 0 if only held changes remain')
    .option('--no-delete', 'apply the creates only; exit 0 although the deletes remain')
    .addOption(acceptOption())
    .addOption(
      new Option(
        '--lock-timeout <duration>',
        'how long to wait while another run of the account holds the lock',
      )
        .default(300_000, '5m')
        .argParser(duration),
    )
    .action(
      report(async (context, names: string[], flags: ApplyOptions) => {
        const { applyToAccounts } = await import('./apply-accounts.ts');
        return await applyToAccounts(context, names, flags);
      }),
    );
}

export function addStatus({ program, report }: CommandLine): void {
  addReportOptions(program.command('status'))
    .description('show the state of each account, its last and its next run')
    .argument('[account...]', ACCOUNTS_HELP)
    .addOption(new Option('--state <state>', 'only accounts in this state').choices(ACCOUNT_STATES))
    .option('--watch', 'show it again every 2 s; not on a terminal: whenever an account changes')
    .action(
      report(async (context, names: string[], flags: StatusFlags) => {
        const { showStatuses } = await import('./status.ts');
        return await showStatuses(context, names, flags);
      }),
    );
}

export function addServe({ program, run }: CommandLine): void {
  program
    .command('serve')
    .description('run the daemon: scheduled runs, pages and API')
    .action(
      run(async (context) => {
        const { serve } = await import('./serve.ts');
        return (await serve(context)) === 0 ? EXIT.done : EXIT.failed;
      }),
    );
}

interface SandboxFlags {
  readonly port: number;
  readonly data?: string;
  readonly accounts: number;
  readonly seed?: string;
  readonly faults?: string;
}

export function addSandbox({ program, run }: CommandLine): void {
  program
    .command('sandbox')
    .description('run a local Planning Service for tests of a catalog')
    .option('--port <n>', 'port on loopback; 0 selects a free port', port, 8090)
    .option('--data <file>', 'keep the data in this SQLite file')
    .option('--accounts <n>', 'number of accounts', positive, 1)
    .option('--seed <file>', 'initial data of the accounts (JSON)')
    .option('--faults <file>', 'faults to simulate (JSON)')
    .action(run(sandbox));
}

async function sandbox(_context: CommandContext, flags: SandboxFlags): Promise<ExitStatus> {
  // Listens for signals before the address is printed: whoever reads it may stop the sandbox at once.
  const stopped = new Promise<void>((resolve) => {
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.once(signal, () => resolve());
  });
  const { startSandbox } = await import('../sandbox/sandbox.ts');
  const running = await startSandbox({
    port: flags.port,
    accounts: flags.accounts,
    dataFile: flags.data,
    seedFile: flags.seed,
    faultsFile: flags.faults,
  });
  const lines = [
    `The sandbox listens at ${running.url} (OpenAPI: ${running.url}/openapi.json)`,
    ...running.accounts.map(
      ({ name, token, region }) => `  account ${name}: address ${running.url}/${region}, token ${token}`,
    ),
    `Press Ctrl-C to stop it.${flags.data === undefined ? ' It then forgets all changes: --data FILE keeps them.' : ''}`,
  ];
  process.stdout.write(`${lines.join('\n')}\n`);
  await stopped;
  await running.close();
  return EXIT.done;
}
