// The command line: lists the commands, which register themselves, and runs the one that is given.
import { Command, CommanderError } from 'commander';
import { addApply } from './apply.ts';
import { addApprove } from './approve.ts';
import { addBackup } from './backup.ts';
import type { CommandLine } from './command-line.ts';
import { repeatConfig } from './console.ts';
import { addDemo } from './demo.ts';
import { addDiff } from './diff.ts';
import { addDoctor } from './doctor.ts';
import { addDump } from './dump.ts';
import type { Environment } from './environment.ts';
import { EXIT, type ExitStatus } from './exit-status.ts';
import { addHistory } from './history.ts';
import { addPause, addResume } from './pause.ts';
import { addPlan } from './plan.ts';
import { addRestore } from './restore.ts';
import { addSandbox } from './sandbox.ts';
import { addServe } from './serve.ts';
import { addShow } from './show.ts';
import { addSnapshots } from './snapshots.ts';
import { addStatus } from './status.ts';
import { refuseUnknownCommand } from './unknown-command.ts';
import { addUsage } from './usage.ts';
import { addValidate } from './validate.ts';
import { addWho } from './who.ts';

/** In the order of the help. What a command needs to run is imported when it runs, so that help appears at once. */
const COMMANDS: readonly ((line: CommandLine) => void)[] = [
  addValidate,
  addPlan,
  addApply,
  addServe,
  addApprove,
  addPause,
  addResume,
  addStatus,
  addDump,
  addUsage,
  addWho,
  addHistory,
  addShow,
  addRestore,
  addSnapshots,
  addDiff,
  addDoctor,
  addBackup,
  addSandbox,
  addDemo,
];

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

/** Parses the arguments and runs the command. Resolves with the exit status. */
export async function runCommand(
  argv: readonly string[],
  environment: () => Promise<Environment>,
  version: string,
): Promise<ExitStatus> {
  const program = createProgram(version);
  let status: ExitStatus = EXIT.done;
  const line: CommandLine = {
    program,
    async run(work) {
      status = await work({ environment: await environment(), configFile: configFileOf(program) });
    },
    async report(command, options, work) {
      const { orJsonFailure } = await import('./json-failure.ts');
      await line.run((context) => orJsonFailure(command, options, () => work(context)));
    },
  };
  for (const add of COMMANDS) add(line);
  await addCompletion(program, argv);
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

function createProgram(version: string): Command {
  return new Command('rolecall')
    .description('Keeps the skills and roles of Planning Service accounts exactly as YAML files in git say.')
    .version(version)
    .option('--config <file>', 'service file', process.env['ROLECALL_CONFIG'] ?? 'config/rolecall.yaml')
    .addHelpText('after', EXIT_HELP)
    .showHelpAfterError('(run rolecall --help to list all commands)')
    .exitOverride();
}

function configFileOf(program: Command): string {
  const file = program.opts<{ config: string }>().config;
  if (program.getOptionValueSource('config') === 'cli') repeatConfig(file);
  return file;
}

/** The completion library loads only for its own commands; the help needs one line. */
async function addCompletion(program: Command, argv: readonly string[]): Promise<void> {
  // Options may precede the command.
  if (argv.some((argument) => argument === 'completion' || argument === 'complete'))
    (await import('./completion.ts')).addCompletion(program);
  else
    program.command('completion').argument('<bash|zsh|fish>').description('print a shell completion script');
}
