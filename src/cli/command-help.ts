// The help of all commands: their groups, and examples.
import type { Command, HelpConfiguration } from 'commander';

/** An example of each command, in the groups of the help. */
const EXAMPLES: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  'Start:': {
    init: 'rolecall init --base-url https://eu.planning.example.com --account acme-eu --token-env ACME_EU_TOKEN',
    demo: 'rolecall demo --serve',
    sandbox: 'rolecall sandbox --port 0 --data sandbox.db',
  },
  'Plan and apply:': {
    plan: "rolecall plan 'acme-*' '!acme-test' --format markdown -o plan.md",
    apply: 'rolecall apply --plan plan.json',
    usage: 'rolecall usage acme-eu --format json -o usage.json',
    dump: 'rolecall dump acme-eu --write',
  },
  'The daemon:': {
    serve: 'rolecall --config /etc/rolecall/rolecall.yaml serve',
    status: "rolecall status 'acme-*' --watch",
    approve: 'rolecall approve acme-eu sha256:eeabbea2',
    pause: 'rolecall pause acme-eu --reason "import until Friday"',
    resume: 'rolecall resume acme-eu',
  },
  'What happened:': {
    history: 'rolecall history acme-eu --since 24h --status failed',
    show: 'rolecall show 0192e4a1 --format markdown -o run.md',
    snapshots: 'rolecall snapshots acme-eu',
    diff: 'rolecall diff 7d now acme-eu',
    who: 'rolecall who Kubernetes acme-eu --at 2026-10-31',
    restore: 'rolecall restore last --format csv -o people.csv',
  },
  'Configuration and maintenance:': {
    validate: 'rolecall validate --require-secrets',
    doctor: 'rolecall doctor acme-eu',
    backup: 'rolecall backup rolecall-backup.db',
    'copy-store': 'rolecall copy-store data/rolecall.db env:ROLECALL_DATABASE_URL',
    completion: 'source <(rolecall completion bash)',
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
    for (const [name, example] of Object.entries(examplesOf)) {
      commands
        .get(name)
        ?.helpGroup(group)
        .helpOption('-h, --help', 'show this help')
        .showHelpAfterError(`(run \`rolecall ${name} --help\` to list its arguments and options)`)
        .configureHelp(HELP)
        .addHelpText('after', `\nExample:\n  ${example}`);
    }
  }
}

const HELP: HelpConfiguration = {
  showGlobalOptions: true,
  subcommandTerm: (command) => command.name(),
  // The completion scripts call `complete`, which users do not.
  visibleCommands: ({ commands }) => commands.filter((command) => command.name() !== 'complete'),
  visibleGlobalOptions: ({ parent }) => (parent?.options ?? []).filter(({ long }) => long !== '--version'),
};
