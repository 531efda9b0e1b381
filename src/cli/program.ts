// The command line: lists the commands, which register themselves, and runs the one that is given.
import { Command, CommanderError, type HelpConfiguration, Option } from 'commander';
import { addApply, addDemo, addInit, addPlan, addSandbox, addServe, addStatus } from './command-options.ts';
import { addApprove } from './approve.ts';
import { addPause, addResume, addSync } from './operator-commands.ts';
import { addBackup, addCopyStore, addValidate } from './maintenance-commands.ts';
import { type CommandLine, DEFAULT_CONFIG } from './command-line.ts';
import { checkOutput, hasReported, openOutput, type OutputOptions, protectFiles } from './console.ts';
import { addDump } from './dump.ts';
import { UsageError } from '../core/errors.ts';
import { EXIT, type ExitStatus } from './exit-status.ts';
import type { ConfiguredAccount } from '../core/settings.ts';
import { loadConfiguration, ownFiles } from './load-accounts.ts';
import { addDiff, addHistory, addRestore, addShow } from './journal-commands.ts';
import { addWho } from './who.ts';

/** In the groups of the help. What a command needs to run is imported when it runs, so that help appears at once. */
const COMMANDS: Readonly<Record<string, readonly ((line: CommandLine) => void)[]>> = {
  'Start:': [addInit, addDemo, addSandbox],
  'Plan and apply:': [addPlan, addApply, addDump],
  'The daemon:': [addServe, addStatus, addApprove, addSync, addPause, addResume],
  'What happened:': [addHistory, addShow, addDiff, addWho, addRestore],
  'Configuration and maintenance:': [addValidate, addBackup, addCopyStore],
};

const EXIT_HELP = `
Exit status: 0 success, 1 failure, 2 operations to apply, 3 held or blocked,
4 invalid configuration, 5 stale saved plan, 64 wrong usage, 130 interrupted

\`rolecall help COMMAND\` shows the options of a command.`;

const EXAMPLES: Readonly<Record<string, readonly string[]>> = {
  init: ['init --sandbox', 'init --account globex-us --region us --token-env GLOBEX_US_TOKEN'],
  demo: ['demo --serve'],
  sandbox: ['sandbox --seed config/sandbox.json'],
  plan: ['plan acme-eu', "plan 'eu-*' '!eu-test' --format markdown --output plan.md"],
  apply: ['apply acme-eu', 'apply --all --yes', 'apply --plan plan.json'],
  dump: ['dump acme-eu --write'],
  serve: ['serve --config /etc/rolecall/rolecall.yaml'],
  status: ['status', "status 'eu-*' --watch"],
  approve: ['approve acme-eu 3f9c2ab1', "approve 'eu-*' --commit c06d636"],
  sync: ["sync 'eu-*'"],
  pause: ["pause acme-eu --reason 'reorganisation of the teams'"],
  resume: ['resume acme-eu'],
  history: ['history acme-eu --since 7d', 'history --status failed', 'history acme-eu --lists'],
  show: ['show last'],
  diff: ['diff yesterday now acme-eu'],
  who: ['who Perl', 'who Perl acme-eu --at 2026-11-20', 'who acme-eu --format html --output who.html'],
  restore: ['restore last --format csv --output people.csv'],
  validate: ['validate --require-secrets', 'validate --online acme-eu'],
  backup: ['backup /var/backups/rolecall.db'],
  'copy-store': ['copy-store data/rolecall.db env:ROLECALL_DATABASE_URL'],
  completion: ['completion bash'],
};

const HELP: HelpConfiguration = {
  commandDescription(command) {
    const examples = (EXAMPLES[command.name()] ?? []).map((line) => `  rolecall ${line}`);
    return [command.description(), ...(examples.length === 0 ? [] : ['', 'Examples:', ...examples])].join(
      '\n',
    );
  },
  showGlobalOptions: true,
  subcommandTerm: (command) => command.name(),
  // The completion scripts call `complete`, which users do not.
  visibleCommands: ({ commands }) => commands.filter((command) => command.name() !== 'complete'),
  visibleGlobalOptions: ({ parent }) => (parent?.options ?? []).filter(({ long }) => long !== '--version'),
};

/** Parses the arguments and runs the command. Resolves with the exit status. */
export async function runCommand(argv: readonly string[], version: string): Promise<ExitStatus> {
  let status: ExitStatus = EXIT.done;
  const program = await createProgram(version, argv, (work) => async (...given) => {
    const { config } = program.opts<GlobalOptions>();
    status = await work({ version, configFile: config }, ...given);
  });
  try {
    await program.parseAsync([...argv], { from: 'user' });
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    if (error.exitCode === 0) return EXIT.done; // --help and --version
    // Everything else that commander throws is wrong usage, which it has reported on stderr.
    return EXIT.usage;
  }
  return status;
}

interface GlobalOptions {
  readonly config: string;
}

/** The options of commands that name a file to write. */
interface FileOptions {
  readonly output?: string;
  readonly save?: string;
}

/** Keeps what the command writes from replacing a file that it reads. */
async function protectOwnFiles(configFile: string, { output, save }: FileOptions): Promise<void> {
  if (output === undefined && save === undefined) return;
  // The command reports itself why the configuration cannot be loaded.
  protectFiles(await ownFiles(configFile).catch(() => [configFile]));
}

/** The program with all its commands. `run` makes an action of what a command does. */
export async function createProgram(
  version: string,
  argv: readonly string[],
  run: CommandLine['run'],
): Promise<Command> {
  const program = new Command('rolecall')
    .description('Keeps the skills and roles of Planning Service accounts exactly as YAML files in git say.')
    .version(version, '-V, --version', 'show the version')
    .helpOption('-h, --help', 'show the help')
    .configureHelp(HELP)
    .addHelpText('after', EXIT_HELP)
    .addOption(new Option('--config <file>', 'service file').env('ROLECALL_CONFIG').default(DEFAULT_CONFIG))
    .showHelpAfterError(
      '(run `rolecall --help` to list all commands, `rolecall help COMMAND` to list the options of one)',
    )
    .exitOverride()
    .hook('preAction', async (_, command) => {
      const { config } = program.opts<GlobalOptions>();
      await protectOwnFiles(config, command.opts<FileOptions>());
    });
  const line: CommandLine = {
    program,
    run,
    report: (work) =>
      run(async (context, ...given) => {
        // Commander calls an action with the arguments, the options and the command.
        const [options, command] = given.slice(-2) as [OutputOptions, Command];
        try {
          // A mistyped path must not cost the work, or the report of a run.
          checkOutput(options);
          return await work(context, ...given);
        } catch (error) {
          if (options.format === 'json' && !hasReported()) await printFailure(command.name(), options, error);
          throw error;
        }
      }),
  };
  for (const [group, adders] of Object.entries(COMMANDS)) {
    program.commandsGroup(group);
    for (const add of adders) add(line);
  }
  await addCompletion(program, argv);
  // Commander shows the help of the program for the help of an unknown command.
  program.on('beforeHelp', () => {
    const name = program.args.find((word) => word !== 'help' && !word.startsWith('-'));
    if (name !== undefined && !program.commands.some((command) => command.name() === name))
      program.error(`error: unknown command '${name}'`);
  });
  return program;
}

/** The commands whose JSON is one object. That of the others is a list. */
const PRINT_ONE: ReadonlySet<string> = new Set(['show', 'diff', 'restore']);

/** Prints the failure as JSON, since programs parse the output: as the only element of a list, or alone. */
async function printFailure(command: string, options: OutputOptions, error: unknown): Promise<void> {
  const { describeFailure } = await import('../run/run-result.ts');
  const { visibleJson } = await import('../report/escape-invisible.ts');
  const element = { schemaVersion: 1, account: '', status: 'failed', error: describeFailure(error) };
  // When the file of --output is refused, on stdout.
  const output = error instanceof UsageError ? openOutput({ format: 'json' }) : openOutput(options);
  await output.print(`${visibleJson(PRINT_ONE.has(command) ? element : [element], 2)}\n`);
  await output.close();
}

const SHELLS = ['bash', 'zsh', 'fish'];

/** The script of the library calls a function of the package bash-completion, which containers often lack. */
const BASH_FALLBACK = `if ! declare -F _get_comp_words_by_ref > /dev/null; then
    _get_comp_words_by_ref() {
        cur=\${COMP_WORDS[COMP_CWORD]}
        prev=\${COMP_WORDS[COMP_CWORD - 1]}
        words=("\${COMP_WORDS[@]}")
        cword=$COMP_CWORD
    }
fi
`;

/**
 * Adds `completion SHELL`, and the hidden command that the completion scripts call, which @bomb.sh/tab derives from the commands
 * of the program. Accounts come from the configuration.
 */
async function addCompletion(program: Command, argv: readonly string[]): Promise<void> {
  // The library loads only for its own commands, which options may precede; the help needs one line.
  if (!argv.some((argument) => argument === 'completion' || argument === 'complete')) {
    program.command('completion').argument('<bash|zsh|fish>').description('print a shell completion script');
    return;
  }
  const { default: tab } = await import('@bomb.sh/tab/commander');
  const root = tab(program, { completionCommandName: 'completion' });
  const command = program.commands.find((each) => each.name() === 'completion');
  // Changed in place, since the library keeps this list. PowerShell is removed because it is not tested.
  command?.registeredArguments[0]?.argChoices?.splice(0, Infinity, ...SHELLS);

  let accounts: readonly ConfiguredAccount[] = [];
  for (const { arguments: all } of root.commands.values()) {
    const argument = all.get('account');
    if (argument === undefined) continue;
    argument.handler = (complete) => {
      for (const { name, settings } of accounts)
        complete(name, settings === undefined ? 'its file is not valid' : `mode ${settings.mode}`);
    };
  }
  program.hook('preAction', async (_program, action) => {
    if (action.name() === 'completion' && action.args[0] === 'bash') process.stdout.write(BASH_FALLBACK);
    if (action.name() !== 'complete') return;
    const words = action.args;
    const given = words.includes('--config') ? words[words.indexOf('--config') + 1] : undefined;
    const hasCommand = program.commands.some((each) => words.includes(each.name()));
    const configFile = given ?? process.env['ROLECALL_CONFIG'] ?? DEFAULT_CONFIG;
    // Never fails: a message would be shown in the middle of the line that the user types.
    if (hasCommand) accounts = (await loadConfiguration(configFile).catch(() => null))?.accounts ?? [];
  });
}
