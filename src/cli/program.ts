// The command line: lists the commands, which register themselves, and runs the one that is given.
import { Command, CommanderError, Option } from 'commander';
import { addApply, addDemo, addDoctor, addInit, addPlan, addServe } from './command-options.ts';
import { addApprove, addPause, addResume } from './operator-commands.ts';
import { addBackup, addCopyStore, addValidate } from './maintenance-commands.ts';
import type { CommandLine } from './command-line.ts';
import { addHelp } from './command-help.ts';
import { protectFiles, repeatConfig } from './console.ts';
import { addDiff } from './diff.ts';
import { addDump } from './dump.ts';
import { EXIT, type ExitStatus } from './exit-status.ts';
import { ownFiles } from './load-accounts.ts';
import { addHistory, addShow, addSnapshots } from './journal-commands.ts';
import { addRestore } from './restore.ts';
import { addSandbox } from './sandbox.ts';
import { addStatus } from './status.ts';
import { addUsage } from './usage.ts';
import { addWho } from './who.ts';

/** In the order of the help. What a command needs to run is imported when it runs, so that help appears at once. */
const COMMANDS: readonly ((line: CommandLine) => void)[] = [
  addInit,
  addDemo,
  addSandbox,
  addPlan,
  addApply,
  addUsage,
  addDump,
  addServe,
  addStatus,
  addApprove,
  addPause,
  addResume,
  addHistory,
  addShow,
  addSnapshots,
  addDiff,
  addWho,
  addRestore,
  addValidate,
  addDoctor,
  addBackup,
  addCopyStore,
];

/** Parses the arguments and runs the command. Resolves with the exit status. */
export async function runCommand(argv: readonly string[], version: string): Promise<ExitStatus> {
  let status: ExitStatus = EXIT.done;
  const program = await createProgram(version, argv, async (work) => {
    const { config } = program.opts<GlobalOptions>();
    status = await work({ version, configFile: config });
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
  readonly out?: string;
}

/** Keeps what the command writes from replacing a file that it reads. */
async function protectOwnFiles(configFile: string, { output, save, out }: FileOptions): Promise<void> {
  if (output === undefined && save === undefined && out === undefined) return;
  // The command reports itself why the configuration cannot be loaded.
  protectFiles(await ownFiles(configFile).catch(() => [configFile]));
}

/** The program with all its commands. `run` receives what a command does. */
export async function createProgram(
  version: string,
  argv: readonly string[],
  run: CommandLine['run'],
): Promise<Command> {
  const program = new Command('rolecall')
    .description('Keeps the skills and roles of Planning Service accounts exactly as YAML files in git say.')
    .version(version, '-V, --version', 'show the version')
    .helpOption('-h, --help', 'show the help')
    .addOption(
      new Option('--config <file>', 'service file').env('ROLECALL_CONFIG').default('config/rolecall.yaml'),
    )
    .showHelpAfterError('(run `rolecall --help` to list all commands)')
    .exitOverride()
    .hook('preAction', async (_, command) => {
      const { config } = program.opts<GlobalOptions>();
      if (program.getOptionValueSource('config') === 'cli') repeatConfig(config);
      await protectOwnFiles(config, command.opts<FileOptions>());
    });
  const line: CommandLine = {
    program,
    run,
    async report(command, options, work) {
      const { orJsonFailure } = await import('./json-failure.ts');
      await run((context) => orJsonFailure(command, options, () => work(context)));
    },
  };
  for (const add of COMMANDS) add(line);
  await addCompletion(line, argv);
  addHelp(program);
  return program;
}

/** The completion library loads only for its own commands; the help needs one line. */
async function addCompletion(line: CommandLine, argv: readonly string[]): Promise<void> {
  // Options may precede the command.
  if (argv.some((argument) => argument === 'completion' || argument === 'complete'))
    (await import('./completion.ts')).addCompletion(line);
  else
    line.program
      .command('completion')
      .argument('<bash|zsh|fish>')
      .description('print a shell completion script');
}
