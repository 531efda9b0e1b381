// The help of all commands: groups, examples, environment variables, and where to read more.
import { type Command, Help, type HelpConfiguration } from 'commander';
import { COMMAND_HELP, type CommandHelp, type Example, VARIABLES } from './help-texts.ts';

const EXIT_HELP = `
Exit status: 0 success, 1 failure, 2 operations to apply, 3 held or blocked,
4 invalid configuration, 5 stale saved plan, 64 wrong usage, 130 interrupted

\`rolecall help COMMAND\` shows the options and examples of a command.`;

/** The variables that every command reads. */
const COMMON = ['ROLECALL_CONFIG', 'NO_COLOR', 'ROLECALL_DEBUG'] as const;

/** Completes the help of the program and of its commands. To be called after the commands are added. */
export function addHelp(program: Command): void {
  program.configureHelp(HELP).helpCommand(true).addHelpText('after', EXIT_HELP);
  for (const command of program.commands) {
    const name = command.name();
    const help = COMMAND_HELP[name];
    if (help === undefined) continue;
    command
      .helpGroup(help.group)
      .summary(help.summary)
      .helpOption('-h, --help', 'show this help')
      .showHelpAfterError(`(run \`rolecall ${name} --help\` to list its arguments and options)`)
      .configureHelp(HELP)
      .addHelpText('after', moreHelp(help));
  }
}

const ORDER = Object.keys(COMMAND_HELP);

function position(command: Command): number {
  const at = ORDER.indexOf(command.name());
  return at === -1 ? ORDER.length : at;
}

const HELP: HelpConfiguration = {
  showGlobalOptions: true,
  subcommandTerm: (command) => command.name(),
  visibleCommands: ({ commands }) =>
    // The completion scripts call `complete`, which users do not.
    commands.filter((command) => command.name() !== 'complete').toSorted((a, b) => position(a) - position(b)),
  visibleGlobalOptions: ({ parent }) => (parent?.options ?? []).filter(({ long }) => long !== '--version'),
  // Groups in the order of their first commands; the default is the order in which commands were added.
  groupItems: (_added, visible, groupOf) => new Help().groupItems([...visible], visible, groupOf),
};

function moreHelp({ examples, variables = [], document }: CommandHelp): string {
  return [
    '',
    'Environment Variables:',
    ...inColumns([...variables, ...COMMON].map((name) => [name, VARIABLES[name]])),
    '',
    'Examples:',
    ...examples.flatMap(([line, purpose]) => [`  # ${purpose}`, `  ${line}`]),
    '',
    `Read more in the repository: ${document}`,
  ].join('\n');
}

function inColumns(rows: readonly Example[]): string[] {
  const width = Math.max(...rows.map(([term]) => term.length));
  return rows.map(([term, text]) => `  ${term.padEnd(width)}  ${text}`);
}
