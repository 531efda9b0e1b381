// The help of all commands: their groups, and examples.
import { type Command, Help, type HelpConfiguration } from 'commander';

/** Examples by command, in the groups and the order of the help. */
const EXAMPLES: Readonly<Record<string, Readonly<Record<string, readonly string[]>>>> = {
  'Start:': {
    init: [
      'rolecall init',
      'rolecall init --base-url https://eu.planning.example.com --account acme-eu --token-env ACME_EU_TOKEN',
    ],
    demo: ['rolecall demo', 'rolecall demo --serve'],
    sandbox: ['rolecall sandbox --seed config/sandbox.json', 'rolecall sandbox --port 0 --data sandbox.db'],
  },
  'Plan and apply:': {
    plan: ['rolecall plan', "rolecall plan 'acme-*' '!acme-test' --format markdown -o plan.md"],
    apply: ['rolecall apply acme-eu', 'rolecall apply --plan plan.json'],
    usage: ['rolecall usage acme-eu', 'rolecall usage --format json -o usage.json'],
    dump: ['rolecall dump acme-eu --write', 'rolecall dump acme-eu -o acme-eu.new.yaml'],
  },
  'The daemon:': {
    serve: ['rolecall serve', 'rolecall --config /etc/rolecall/rolecall.yaml serve'],
    status: ['rolecall status', "rolecall status 'acme-*' --watch"],
    approve: ['rolecall approve acme-eu', 'rolecall approve acme-eu sha256:eeabbea2'],
    pause: ['rolecall pause acme-eu', 'rolecall pause acme-eu --reason "import until Friday"'],
    resume: ['rolecall resume acme-eu', 'rolecall resume acme-eu --config /etc/rolecall/rolecall.yaml'],
  },
  'What happened:': {
    history: ['rolecall history acme-eu --limit 5', 'rolecall history --since 24h --status failed'],
    show: ['rolecall show last', 'rolecall show 0192e4a1 --format markdown -o run.md'],
    snapshots: ['rolecall snapshots acme-eu', 'rolecall snapshots --format json'],
    diff: ['rolecall diff 7d acme-eu', 'rolecall diff last now'],
    who: ['rolecall who Kubernetes', 'rolecall who Kubernetes acme-eu --at 2026-10-31'],
    restore: ['rolecall restore last', 'rolecall restore 0192e4a1 --format csv -o people.csv'],
  },
  'Configuration and maintenance:': {
    validate: ['rolecall validate', 'rolecall validate --require-secrets'],
    doctor: ['rolecall doctor', 'rolecall doctor acme-eu --format json'],
    backup: [
      'rolecall backup rolecall-backup.db',
      'rolecall --config /etc/rolecall/rolecall.yaml backup /backup/rolecall.db',
    ],
    'copy-store': [
      'rolecall copy-store /var/lib/rolecall/rolecall.db env:ROLECALL_DATABASE_URL',
      'rolecall copy-store data/rolecall.db postgres://rolecall@db.example.com/rolecall --schema test',
    ],
    completion: [
      'source <(rolecall completion bash)',
      'rolecall completion fish > ~/.config/fish/completions/rolecall.fish',
    ],
  },
};

const EXIT_HELP = `
Exit status: 0 success, 1 failure, 2 operations to apply, 3 held or blocked,
4 invalid configuration, 5 stale saved plan, 64 wrong usage, 130 interrupted

\`rolecall help COMMAND\` shows the options and examples of a command.`;

/** Completes the help of the program and of its commands. To be called after the commands are added. */
export function addHelp(program: Command): void {
  program.configureHelp(HELP).helpCommand(true).addHelpText('after', EXIT_HELP);
  const commands = new Map(program.commands.map((command) => [command.name(), command]));
  for (const [group, examplesOf] of Object.entries(EXAMPLES)) {
    for (const [name, examples] of Object.entries(examplesOf)) {
      commands
        .get(name)
        ?.helpGroup(group)
        .helpOption('-h, --help', 'show this help')
        .showHelpAfterError(`(run \`rolecall ${name} --help\` to list its arguments and options)`)
        .configureHelp(HELP)
        .addHelpText('after', ['', 'Examples:', ...examples.map((line) => `  ${line}`)].join('\n'));
    }
  }
}

const ORDER = Object.values(EXAMPLES).flatMap((group) => Object.keys(group));

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
