// The command line: names, options and help. The code of a command is imported only when that command runs.
import { Command, CommanderError, Option } from 'commander';
import { FORMATS, repeatConfig } from './console.ts';
import type { Environment } from './environment.ts';
import type { ExitStatus } from './exit-status.ts';
import { EXIT } from './exit-status.ts';
import type { ApplyFlags, PlanFlags, ReportFlags, SendingFlags } from './flags.ts';
import { duration, port, positive } from './option-values.ts';
import { SANDBOX_HELP } from './sandbox-help.ts';
import { refuseUnknownCommand } from './unknown-command.ts';

const EXIT_HELP = `
Exit status:
  0    success
  1    something failed
  2    there are operations to apply (plan --detailed-exitcode, apply not confirmed)
  3    the policy held or blocked changes
  4    the configuration is invalid
  5    the saved plan is stale
  64   wrong usage
  130  interrupted`;

const ACCOUNTS_HELP = "names or globs; '!name' excludes; default: all accounts";
const ACCOUNT_HELP = 'name of the account';

/** Parses the arguments and runs the command. Resolves with the exit status. */
export async function runCommand(
  argv: readonly string[],
  environment: () => Promise<Environment>,
  version: string,
): Promise<ExitStatus> {
  let status: ExitStatus = EXIT.done;
  const program = buildProgram(environment, version, (exit) => {
    status = exit;
  });
  // The completion library loads only for its own command; --help needs one line. Options may precede the command.
  if (argv.some((argument) => argument === 'completion' || argument === 'complete'))
    (await import('./completion.ts')).addCompletion(program);
  else
    program.command('completion').argument('<bash|zsh|fish>').description('print a shell completion script');
  try {
    refuseUnknownCommand(program, argv);
    await program.parseAsync([...argv], { from: 'user' });
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    if (error.exitCode === 0) return EXIT.done; // --help and --version
    // Everything else that commander throws is wrong usage, which it has reported on stderr.
    await (await import('./json-failure.ts')).reportWrongUsage(program, argv, error);
    return EXIT.usage;
  }
  return status;
}

function buildProgram(
  environment: () => Promise<Environment>,
  version: string,
  setStatus: (status: ExitStatus) => void,
): Command {
  const program = new Command('rolecall')
    .description('Keeps the skills and roles of Planning Service accounts exactly as YAML files in git say.')
    .version(version)
    .option('--config <file>', 'service file', process.env['ROLECALL_CONFIG'] ?? 'config/rolecall.yaml')
    .addHelpText('after', EXIT_HELP)
    .showHelpAfterError('(run rolecall --help to list all commands)')
    .exitOverride();
  const config = (): string => {
    const file = program.opts<{ config: string }>().config;
    if (program.getOptionValueSource('config') === 'cli') repeatConfig(file);
    return file;
  };
  const report = (command: Command): Command =>
    command
      .addOption(new Option('--format <format>', 'output format').choices(FORMATS).default('text'))
      .option('--output <file>', 'write the report to this file instead of stdout');

  const sending = (command: Command): Command =>
    command.option(
      '--ignore-retry-after',
      'send requests even before the time set by the service (Retry-After)',
    );

  report(program.command('validate'))
    .description('check all configuration files, without network access or secrets')
    .option('--require-secrets', 'report missing environment variables and secret files as errors')
    .action(async (flags: ReportFlags & { requireSecrets?: true }) => {
      const { validate } = await import('./validate.ts');
      const options = { ...flags, requireSecrets: flags.requireSecrets === true };
      setStatus(await validate(await environment(), config(), options));
    });

  sending(report(program.command('plan')))
    .description('show what apply would create, delete and hold, and who is affected (dry run)')
    .argument('[account...]', ACCOUNTS_HELP)
    .option('--save <file>', 'save the plan for `apply --plan`')
    .addOption(new Option('--out <file>', 'the old name of --save').conflicts('save').hideHelp())
    .option(
      '--server <url>',
      'request the plan from a daemon, which has the history; token in $ROLECALL_HTTP_TOKEN',
    )
    .addOption(
      new Option(
        '--new-accounts <what>',
        'with --server: whether accounts that the daemon does not know are an error',
      )
        .choices(['ok', 'fail'])
        .default('ok'),
    )
    .option(
      '--detailed-exitcode',
      'exit 2 if there are operations to apply, 3 if changes are only held or blocked',
    )
    .action(async (names: string[], flags: PlanFlags) => {
      const { plan } = await import('./plan.ts');
      const options = {
        ...flags,
        ...retryAfter(flags),
        save: flags.save ?? flags.out,
        detailedExitcode: flags.detailedExitcode === true,
      };
      setStatus(await plan(await environment(), config(), names, options));
    });

  sending(report(program.command('apply')))
    .description('plan, show the plan, ask for confirmation, apply the plan and verify the result')
    .argument('[account...]', "names or globs; '!name' excludes; required if there are several accounts")
    .option('--all', 'apply to all accounts')
    .option('--yes', 'do not ask for confirmation')
    .option(
      '--plan <file>',
      'apply a plan saved by `plan --save`; refused if it no longer matches the account',
    )
    .option('--allow-held', 'exit 0 if only held changes remain')
    .option('--accept-shrink', 'accept lists that look incomplete (suspicious_shrink, suspicious_list)')
    .option(
      '--accept-no-history',
      'delete even if the store has no earlier lists of the account (no_history)',
    )
    .option(
      '--accept-older-source',
      'accept a configuration that is older than the one last applied (stale_source)',
    )
    .addOption(
      new Option(
        '--lock-timeout <duration>',
        'how long to wait while another run of the account holds the lock',
      )
        .default(300_000, '5m')
        .argParser(duration),
    )
    .action(async (names: string[], flags: ApplyFlags) => {
      const { apply } = await import('./apply.ts');
      setStatus(
        await apply(await environment(), config(), names, {
          format: flags.format,
          output: flags.output,
          yes: flags.yes === true,
          all: flags.all === true,
          planFile: flags.plan,
          allowHeld: flags.allowHeld === true,
          ...retryAfter(flags),
          lockTimeoutMs: flags.lockTimeout,
          accept: {
            shrink: flags.acceptShrink === true,
            olderSource: flags.acceptOlderSource === true,
            noHistory: flags.acceptNoHistory === true,
          },
        }),
      );
    });

  sending(program.command('serve'))
    .description('run the daemon: scheduled runs and the HTTP server, until SIGTERM or SIGINT')
    .action(async (flags: SendingFlags) => {
      const status = await (await environment()).serve(config(), retryAfter(flags));
      setStatus(status === 0 ? EXIT.done : EXIT.failed);
    });

  program
    .command('approve')
    .description('allow the daemon to apply the pending plan of an account, once, within 24 hours')
    .argument('<account>', ACCOUNT_HELP)
    .argument('[digest]', 'digest of the plan, or the beginning of it; refused if another plan is pending')
    .action(async (account: string, digest: string | undefined) => {
      const { approve } = await import('./operator.ts');
      setStatus(await approve(await environment(), config(), account, digest));
    });
  for (const [name, paused, description] of [
    ['pause', true, 'stop the scheduled runs of an account'],
    ['resume', false, 'restart the scheduled runs of an account'],
  ] as const) {
    program
      .command(name)
      .description(description)
      .argument('<account>', ACCOUNT_HELP)
      .action(async (account: string) => {
        const { setPaused } = await import('./operator.ts');
        setStatus(await setPaused(await environment(), config(), account, paused));
      });
  }

  sending(program.command('dump'))
    .description('print the account file with the current skills and roles of the account')
    .argument('<account>', 'name of the account; its file must set address and token')
    .addOption(new Option('--write', 'change the account file in place').conflicts(['output', 'force']))
    .option('--output <file>', 'write to a new file')
    .option('--force', 'let --output replace an existing file')
    .action(async (name: string, flags: SendingFlags & { output?: string; force?: true; write?: true }) => {
      const { dump } = await import('./dump.ts');
      setStatus(await dump(await environment(), config(), name, { ...flags, ...retryAfter(flags) }));
    });

  sending(report(program.command('usage')))
    .description('list skills and roles with the number of people who have them')
    .argument('[account...]', ACCOUNTS_HELP)
    .action(async (names: string[], flags: ReportFlags & SendingFlags) => {
      const { usage } = await import('./usage.ts');
      setStatus(await usage(await environment(), config(), names, { ...flags, ...retryAfter(flags) }));
    });

  report(program.command('history'))
    .description('list the runs, newest first')
    .argument('[account]', 'name of the account; default: all accounts')
    .option('--limit <n>', 'maximum number of runs', positive, 20)
    .option('--since <duration>', 'only runs newer than this, such as 24h or 7d', duration)
    .option('--status <status>', 'only runs with this status')
    .action(
      async (
        account: string | undefined,
        flags: ReportFlags & { limit: number; since?: number; status?: string },
      ) => {
        const { history } = await import('./history.ts');
        const options = { ...flags, sinceMs: flags.since };
        setStatus(await history(await environment(), config(), account, options));
      },
    );

  report(program.command('show'))
    .description('show one run: its plan, its operations and their results')
    .argument('<run>', 'id of the run, the beginning of the id, or `last`')
    .action(async (runId: string, flags: ReportFlags) => {
      const { show } = await import('./history.ts');
      setStatus(await show(await environment(), config(), runId, flags));
    });

  sending(program.command('doctor'))
    .description('check each account (address, TLS, token, account id, lists), the store and the schedules')
    .argument('[account...]', ACCOUNTS_HELP)
    .addOption(new Option('--format <format>', 'output format').choices(['text', 'json']).default('text'))
    .option('--output <file>', 'write the report to this file instead of stdout')
    .action(async (names: string[], flags: SendingFlags & { format: 'text' | 'json'; output?: string }) => {
      const { doctor } = await import('./doctor.ts');
      setStatus(await doctor(await environment(), config(), names, { ...flags, ...retryAfter(flags) }));
    });

  program
    .command('backup')
    .description('write a consistent copy of the store, also while the daemon runs')
    .argument('<file>', 'target file; an earlier copy is replaced')
    .action(async (file: string) => {
      const { backup } = await import('./backup.ts');
      setStatus(await backup(await environment(), config(), file));
    });

  program
    .command('sandbox')
    .description('run a local Planning Service for tests of a catalog')
    .addHelpText('after', SANDBOX_HELP)
    .option('--port <n>', 'port on loopback; 0 selects a free port', port, 8090)
    .option('--data <file>', 'keep the data in this SQLite file')
    .option('--accounts <n>', 'number of accounts', positive, 1)
    .option('--seed <file>', 'initial data of the accounts (JSON)')
    .option('--faults <file>', 'faults to simulate (JSON)')
    .action(
      async (flags: { port: number; data?: string; accounts: number; seed?: string; faults?: string }) => {
        const { sandbox } = await import('./sandbox.ts');
        setStatus(
          await sandbox(await environment(), {
            port: flags.port,
            accounts: flags.accounts,
            ...(flags.data === undefined ? {} : { dataFile: flags.data }),
            ...(flags.seed === undefined ? {} : { seedFile: flags.seed }),
            ...(flags.faults === undefined ? {} : { faultsFile: flags.faults }),
          }),
        );
      },
    );

  program
    .command('demo')
    .description('plan and apply a drifted sample account on a sandbox')
    .action(async () => {
      setStatus((await (await environment()).demo()) === 0 ? EXIT.done : EXIT.failed);
    });

  return program;
}

function retryAfter({ ignoreRetryAfter }: SendingFlags): { ignoreRetryAfter: boolean } {
  return { ignoreRetryAfter: ignoreRetryAfter === true };
}
