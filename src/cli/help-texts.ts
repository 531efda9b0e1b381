// What the help of each command adds to its arguments and options: the group, examples, variables and a document.

/** A command line, and what it is for. */
export type Example = readonly [command: string, purpose: string];

export interface CommandHelp {
  /** The heading in the list of all commands. */
  readonly group: string;
  /** For the list of all commands: at most 60 characters. */
  readonly summary: string;
  readonly examples: readonly [Example, Example, ...Example[]];
  /** The environment variables that only this command and similar ones read; names of VARIABLES. */
  readonly variables?: readonly (keyof typeof VARIABLES)[];
  /** The path of a document in the repository, with the section if there is one. */
  readonly document: string;
}

const TOKENS = 'NAME of { env: NAME }';
const DATABASES = 'PGPASSWORD, NAME of env:NAME';
const PROXIES = 'HTTPS_PROXY, HTTP_PROXY, NO_PROXY';

/** Every environment variable that a command reads. */
export const VARIABLES = {
  ROLECALL_CONFIG: 'the service file, if --config is not given',
  NO_COLOR: 'if it is not empty, no colours are printed',
  ROLECALL_DEBUG: 'if it is set, a bug is reported with its stack trace',
  ROLECALL_HTTP_TOKEN: 'the token of the daemon, for --server',
  [TOKENS]: 'the tokens, in the variables that the configuration names',
  [DATABASES]: 'the password of a database, or its complete address',
  [PROXIES]: 'the proxies for requests to the service',
} as const;

const SERVICE = [TOKENS, PROXIES] as const;

const START = 'Start:';
const CATALOGS = 'Plan and apply:';
const DAEMON = 'The daemon:';
const JOURNAL = 'What happened:';
const MAINTENANCE = 'Configuration and maintenance:';

/** By the name of the command, in the order of the help. */
export const COMMAND_HELP: Readonly<Record<string, CommandHelp>> = {
  init: {
    group: START,
    summary: 'write a first configuration from what an account contains',
    examples: [
      ['rolecall init', 'asks for the address, the name and the token of a first account'],
      [
        'rolecall init --base-url https://eu.planning.example.com --account acme-eu --token-env ACME_EU_TOKEN',
        'asks for nothing but a confirmation',
      ],
      ['rolecall init --sandbox', 'writes a configuration for a rehearsal without an account'],
    ],
    variables: SERVICE,
    document: 'README.md#first-steps',
  },
  demo: {
    group: START,
    summary: 'plan and apply a drifted sample account on a sandbox',
    examples: [
      ['rolecall demo', 'plans and applies a sample account'],
      ['rolecall demo --serve', 'then leaves the daemon and its pages running, until Ctrl-C'],
    ],
    document: 'README.md',
  },
  sandbox: {
    group: START,
    summary: 'run a local Planning Service for rehearsals',
    examples: [
      [
        'rolecall sandbox --seed config/sandbox.json',
        'starts with these accounts, which `init --sandbox` wrote',
      ],
      ['rolecall sandbox --port 0 --data sandbox.db', 'selects a free port and keeps the data'],
    ],
    document: 'src/sandbox/README.md',
  },
  plan: {
    group: CATALOGS,
    summary: 'show what apply would create, delete and hold (dry run)',
    examples: [
      ['rolecall plan', 'shows what apply would change in all accounts'],
      [
        "rolecall plan 'acme-*' '!acme-test' --format markdown -o plan.md",
        'writes a report of some accounts',
      ],
      ['rolecall plan acme-eu --save plan.json', 'saves the plan for `rolecall apply --plan plan.json`'],
      ['rolecall plan --server https://rolecall.example.com', 'asks a daemon, which has the history'],
    ],
    variables: [...SERVICE, 'ROLECALL_HTTP_TOKEN'],
    document: 'config/README.md#why-a-delete-is-held',
  },
  apply: {
    group: CATALOGS,
    summary: 'plan, show the plan, ask, apply it and verify the result',
    examples: [
      ['rolecall apply acme-eu', 'shows the plan, asks, applies it and verifies the result'],
      ['rolecall apply --plan plan.json', 'applies exactly the saved plan'],
      ['rolecall apply --all --yes --allow-held', 'applies all accounts without a question'],
    ],
    variables: SERVICE,
    document: 'README.md#the-command-line',
  },
  usage: {
    group: CATALOGS,
    summary: 'count the people who have each skill and role',
    examples: [
      ['rolecall usage acme-eu', 'shows how many people have each skill and role'],
      ['rolecall usage --format json -o usage.json', 'writes all accounts with the ids of the people'],
    ],
    variables: SERVICE,
    document: 'README.md#the-command-line',
  },
  dump: {
    group: CATALOGS,
    summary: 'write the current skills and roles into the account file',
    examples: [
      ['rolecall dump acme-eu --write', 'adopts the account, or accepts its drift, in its file'],
      ['rolecall dump acme-eu -o acme-eu.new.yaml', 'writes a new file to compare'],
    ],
    variables: SERVICE,
    document: 'config/README.md#adopt-an-existing-account',
  },
  serve: {
    group: DAEMON,
    summary: 'run the daemon: scheduled runs, pages and API',
    examples: [
      ['rolecall serve', 'runs every account on its schedule, with pages at http://127.0.0.1:8080'],
      ['rolecall --config /etc/rolecall/rolecall.yaml serve', 'uses the configuration of a server'],
    ],
    variables: SERVICE,
    document: 'src/daemon/README.md',
  },
  status: {
    group: DAEMON,
    summary: 'show one line for each account',
    examples: [
      ['rolecall status', 'shows the state of each account'],
      ["rolecall status 'acme-*' --watch", 'shows it again whenever it changes'],
    ],
    document: 'src/daemon/README.md',
  },
  approve: {
    group: DAEMON,
    summary: 'allow the daemon to apply the pending plan of an account',
    examples: [
      ['rolecall approve acme-eu', 'approves the pending plan'],
      ['rolecall approve acme-eu sha256:eeabbea2', 'approves it only if it has this digest'],
    ],
    document: 'src/daemon/README.md#modes-approvals-pauses',
  },
  pause: {
    group: DAEMON,
    summary: 'stop the scheduled runs of an account',
    examples: [
      ['rolecall pause acme-eu', 'stops the scheduled runs'],
      ['rolecall pause acme-eu --reason "import until Friday"', 'and records why'],
    ],
    document: 'src/daemon/README.md#modes-approvals-pauses',
  },
  resume: {
    group: DAEMON,
    summary: 'restart the scheduled runs of an account',
    examples: [
      ['rolecall resume acme-eu', 'restarts the scheduled runs'],
      ['rolecall resume acme-eu --config /etc/rolecall/rolecall.yaml', 'in the store of a server'],
    ],
    document: 'src/daemon/README.md#modes-approvals-pauses',
  },
  history: {
    group: JOURNAL,
    summary: 'list the runs, newest first',
    examples: [
      ['rolecall history acme-eu --limit 5', 'lists the last five runs of an account'],
      ['rolecall history --since 24h --status failed', 'lists the runs that failed in the last day'],
    ],
    document: 'src/store/README.md',
  },
  show: {
    group: JOURNAL,
    summary: 'show one run: its plan and the result of each operation',
    examples: [
      ['rolecall show last', 'shows the newest run'],
      ['rolecall show 0192e4a1 --format markdown -o run.md', 'writes a report of the run with this id'],
    ],
    document: 'src/store/README.md',
  },
  snapshots: {
    group: JOURNAL,
    summary: 'list the stored lists of skills, roles and people',
    examples: [
      ['rolecall snapshots acme-eu', 'lists what is stored of an account'],
      ['rolecall snapshots --format json', 'lists all accounts for a program'],
    ],
    document: 'src/store/README.md',
  },
  diff: {
    group: JOURNAL,
    summary: 'show what changed between two snapshots',
    examples: [
      ['rolecall diff 7d acme-eu', 'shows what changed in the last seven days'],
      ['rolecall diff last now', 'shows what changed since the newest snapshot'],
      ['rolecall diff 0192e4a1 0192f7c3 --format json', 'compares two snapshots'],
    ],
    variables: SERVICE,
    document: 'src/store/README.md',
  },
  who: {
    group: JOURNAL,
    summary: 'list the people who have, or had, a skill or role',
    examples: [
      ['rolecall who Kubernetes', 'lists who has a skill or role'],
      ['rolecall who Kubernetes acme-eu --at 2026-10-31', 'lists who had it when that day began'],
    ],
    document: 'src/store/README.md',
  },
  restore: {
    group: JOURNAL,
    summary: 'print what a run deleted, and who had it',
    examples: [
      ['rolecall restore last', 'prints the YAML lines of what the newest run deleted, and who had it'],
      ['rolecall restore 0192e4a1 --format csv -o people.csv', 'writes the list of people for a spreadsheet'],
    ],
    document: 'src/store/README.md',
  },
  validate: {
    group: MAINTENANCE,
    summary: 'check all configuration files, without network access',
    examples: [
      ['rolecall validate', 'checks all files, as in a pull request'],
      ['rolecall validate --require-secrets', 'also requires every token, as before a deployment'],
    ],
    variables: [TOKENS],
    document: 'config/README.md#check-the-files',
  },
  doctor: {
    group: MAINTENANCE,
    summary: 'check addresses, tokens, lists, store and schedules',
    examples: [
      ['rolecall doctor', 'checks the store and all accounts'],
      ['rolecall doctor acme-eu --format json', 'checks one account for a program'],
    ],
    variables: SERVICE,
    document: 'src/daemon/README.md#troubleshooting',
  },
  backup: {
    group: MAINTENANCE,
    summary: 'copy the store, also while the daemon runs',
    examples: [
      ['rolecall backup rolecall-backup.db', 'copies the store'],
      ['rolecall --config /etc/rolecall/rolecall.yaml backup /backup/rolecall.db', 'copies that of a server'],
    ],
    document: 'src/store/README.md#backup-and-restore',
  },
  'copy-store': {
    group: MAINTENANCE,
    summary: 'copy the store to PostgreSQL',
    examples: [
      [
        'rolecall copy-store /var/lib/rolecall/rolecall.db env:ROLECALL_DATABASE_URL',
        'copies the file to the database whose address is in this variable',
      ],
      [
        'rolecall copy-store data/rolecall.db postgres://rolecall@db.example.com/rolecall --schema test',
        'copies it to another schema; the password is read from PGPASSWORD or ~/.pgpass',
      ],
    ],
    variables: [DATABASES],
    document: 'config/README.md#change-to-postgresql',
  },
  completion: {
    group: MAINTENANCE,
    summary: 'print a shell completion script',
    examples: [
      ['source <(rolecall completion bash)', 'completes in this shell; add it to ~/.bashrc to keep it'],
      [
        'rolecall completion fish > ~/.config/fish/completions/rolecall.fish',
        'completes in every fish shell',
      ],
    ],
    document: 'README.md#the-command-line',
  },
};
