// The command line: names, options and help. Each command's work is imported only when it is asked for.
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
Exit status: 0 done · 1 something failed · 2 there are operations to apply (plan --detailed-exitcode, apply not
answered with “yes”) · 3 the policy held or blocked something · 4 the configuration is invalid · 5 the saved plan is stale ·
64 wrong usage · 130 interrupted`;

const ACCOUNTS_HELP = "names and globs; '!name' excludes; none means all";

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
  // The library for completion is loaded only for it; for --help a line is enough. Options may stand before it.
  if (argv.some((word) => word === 'completion' || word === 'complete'))
    (await import('./completion.ts')).addCompletion(program);
  else program.command('completion').argument('<bash|zsh|fish>').description('shell completion');
  try {
    refuseUnknownCommand(program, argv);
    await program.parseAsync([...argv], { from: 'user' });
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    if (error.exitCode === 0) return EXIT.done; // Help and version are no errors.
    // Everything else that commander throws is wrong usage, and it has said so on stderr.
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
    .option('--config <file>', 'the service file', process.env['ROLECALL_CONFIG'] ?? 'config/rolecall.yaml')
    .addHelpText('after', EXIT_HELP)
    .showHelpAfterError('(rolecall --help shows all commands)')
    .exitOverride();
  const config = (): string => {
    const file = program.opts<{ config: string }>().config;
    if (program.getOptionValueSource('config') === 'cli') repeatConfig(file);
    return file;
  };
  const report = (command: Command): Command =>
    command
      .addOption(new Option('--format <format>', 'how to print it').choices(FORMATS).default('text'))
      .option('--output <file>', 'write the report to a file');

  const sending = (command: Command): Command =>
    command.option(
      '--ignore-retry-after',
      'send requests before the time that the service requested (Retry-After)',
    );

  report(program.command('validate'))
    .description('check all configuration, without the network and without secrets')
    .option('--require-secrets', 'missing environment variables and secret files are errors')
    .action(async (flags: ReportFlags & { requireSecrets?: true }) => {
      const { validate } = await import('./validate.ts');
      const options = { ...flags, requireSecrets: flags.requireSecrets === true };
      setStatus(await validate(await environment(), config(), options));
    });

  sending(report(program.command('plan')))
    .description('the dry run: what would be created, deleted and held, and who would be affected')
    .argument('[account...]', ACCOUNTS_HELP)
    .option('--save <file>', 'save the plan for `apply --plan`')
    .addOption(new Option('--out <file>', 'the old name of --save').conflicts('save').hideHelp())
    .option('--server <url>', 'ask a daemon, which knows the history; its token in $ROLECALL_HTTP_TOKEN')
    .addOption(
      new Option(
        '--new-accounts <what>',
        'with --server: whether accounts that the daemon does not have fail',
      )
        .choices(['ok', 'fail'])
        .default('ok'),
    )
    .option(
      '--detailed-exitcode',
      'exit 2 when there are operations, 3 when something is only held or blocked',
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
    .description('plan, show the plan, ask, carry it out, verify')
    .argument('[account...]', "names and globs; '!name' excludes; needed when there are several accounts")
    .option('--all', 'apply all accounts')
    .option('--yes', 'do not ask')
    .option('--plan <file>', 'carry out a plan that `plan --save` saved; refused when it no longer matches')
    .option('--allow-held', 'exit 0 when all that is left is held')
    .option('--accept-shrink', 'believe lists that look incomplete (suspicious_shrink, suspicious_list)')
    .option('--accept-no-history', 'delete although the store holds no earlier lists (no_history)')
    .option('--accept-older-source', 'accept a configuration older than the one last applied (stale_source)')
    .addOption(
      new Option('--lock-timeout <duration>', 'how long to wait for another run of the account')
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
    .description('the daemon: scheduled runs and the HTTP server, until SIGTERM or SIGINT')
    .action(async (flags: SendingFlags) => {
      const status = await (await environment()).serve(config(), retryAfter(flags));
      setStatus(status === 0 ? EXIT.done : EXIT.failed);
    });

  program
    .command('approve')
    .description(
      'let the daemon carry out the pending plan of an account: this plan only, once, within 24 hours',
    )
    .argument('<account>')
    .argument(
      '[digest]',
      'the plan that is meant, or the beginning of its digest; refused when another one waits',
    )
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
      .argument('<account>')
      .action(async (account: string) => {
        const { setPaused } = await import('./operator.ts');
        setStatus(await setPaused(await environment(), config(), account, paused));
      });
  }

  sending(program.command('dump'))
    .description('print the file of an account with what the account contains now as its skills and roles')
    .argument('<account>', 'an account whose file names its address and token')
    .addOption(new Option('--write', 'change the file in place').conflicts(['output', 'force']))
    .option('--output <file>', 'write it to a file that does not exist yet')
    .option('--force', 'let --output replace a file')
    .action(async (name: string, flags: SendingFlags & { output?: string; force?: true; write?: true }) => {
      const { dump } = await import('./dump.ts');
      setStatus(await dump(await environment(), config(), name, { ...flags, ...retryAfter(flags) }));
    });

  sending(report(program.command('usage')))
    .description('each skill and role with how many people have it')
    .argument('[account...]', ACCOUNTS_HELP)
    .action(async (names: string[], flags: ReportFlags & SendingFlags) => {
      const { usage } = await import('./usage.ts');
      setStatus(await usage(await environment(), config(), names, { ...flags, ...retryAfter(flags) }));
    });

  report(program.command('history'))
    .description('the runs, newest first')
    .argument('[account]')
    .option('--limit <n>', 'how many', positive, 20)
    .option('--since <duration>', 'not older than, as in 24h or 7d', duration)
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
    .description('one run: its plan, its operations, what came of each')
    .argument('<run>', 'the id of a run, the beginning of one, or `last`')
    .action(async (runId: string, flags: ReportFlags) => {
      const { show } = await import('./history.ts');
      setStatus(await show(await environment(), config(), runId, flags));
    });

  sending(program.command('doctor'))
    .description('try each account: address, TLS, token, account id, lists; the store; the schedules')
    .argument('[account...]', ACCOUNTS_HELP)
    .addOption(new Option('--format <format>', 'how to print it').choices(['text', 'json']).default('text'))
    .option('--output <file>', 'write the report to a file')
    .action(async (names: string[], flags: SendingFlags & { format: 'text' | 'json'; output?: string }) => {
      const { doctor } = await import('./doctor.ts');
      setStatus(await doctor(await environment(), config(), names, { ...flags, ...retryAfter(flags) }));
    });

  program
    .command('backup')
    .description('a consistent copy of the store, also while the daemon runs')
    .argument('<file>', 'where to write it; an earlier copy is replaced')
    .action(async (file: string) => {
      const { backup } = await import('./backup.ts');
      setStatus(await backup(await environment(), config(), file));
    });

  program
    .command('sandbox')
    .description('a Planning Service of your own, to try a catalog on')
    .addHelpText('after', SANDBOX_HELP)
    .option('--port <n>', 'where to listen on loopback; 0 takes any', port, 8090)
    .option('--data <file>', 'keep it in this SQLite file')
    .option('--accounts <n>', 'how many accounts', positive, 1)
    .option('--seed <file>', 'what the accounts hold at first (JSON)')
    .option('--faults <file>', 'how the service misbehaves (JSON)')
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
    .description('a drifted account with real names, planned, applied and applied again, on a sandbox')
    .action(async () => {
      setStatus((await (await environment()).demo()) === 0 ? EXIT.done : EXIT.failed);
    });

  return program;
}

function retryAfter({ ignoreRetryAfter }: SendingFlags): { ignoreRetryAfter: boolean } {
  return { ignoreRetryAfter: ignoreRetryAfter === true };
}
