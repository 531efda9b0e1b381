// The demo: plans and applies an account that has drifted from its file, on a sandbox in this process. It runs the
// same commands as a user. With `--serve` the daemon runs on its accounts afterwards.
import { fileURLToPath } from 'node:url';
import { ACCEPT_NOTHING } from '../run/request.ts';
import { applyToAccounts } from './apply-accounts.ts';
import { repeatConfig, suggestNothing } from './console.ts';
import { EXIT, type ExitStatus } from './exit-status.ts';
import { planAccounts } from './plan-accounts.ts';
import {
  branchSeeds,
  demoNames,
  demoSeed,
  type Drift,
  introduceDrift,
  readDemoExtract,
  type DemoNames,
  BRANCH_NAMES,
  type Branch,
  createEditor,
  type DemoExtract,
} from '../sandbox/demo.ts';
import { type Sandbox, startSandbox } from '../sandbox/sandbox.ts';
import { mkdir, mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openJournal } from './compose.ts';
import { loadConfiguration } from './load-accounts.ts';
import { currentUser } from './open-journal.ts';
import { serve } from './serve.ts';

const TEXT = { format: 'text' } as const;
const APPLY = { yes: true, allowHeld: true, lockTimeoutMs: 10_000, accept: ACCEPT_NOTHING };

/** Runs the demo, and with `serve` the daemon afterwards. Resolves with 0 when every step had the expected result. */
export async function playDemo(version: string, serve: boolean): Promise<ExitStatus> {
  const extract = readDemoExtract(
    fileURLToPath(new URL('../config/demo/onet-extract.json', import.meta.url)),
  );
  const { accounts } = demoSeed(extract);
  const sandbox = await startSandbox({
    seed: { accounts: serve ? [...accounts, ...branchSeeds(extract)] : accounts },
  });
  try {
    const configuration = await createConfiguration(sandbox);
    const acme = { name: 'acme', names: demoNames(extract), mode: 'apply' } as const;
    await configuration.writeAccount(acme);
    // So that the commands that the reports suggest can be copied.
    repeatConfig(configuration.file, executable());
    if (!serve) suggestNothing();
    // A first plan before the drift makes history, since a plan on a fresh store holds every delete.
    const context = { version, configFile: configuration.file };
    await planAccounts(context, ['acme'], { ...TEXT, output: configuration.path('first-plan.txt') });
    const drift = introduceDrift(sandbox);
    await configuration.writeAccount({ ...acme, renamed: drift.renamed });
    print(story(drift, acme.names));
    const exit = await runSteps(version, configuration, sandbox);
    if (exit !== EXIT.done) return exit;
    if (serve) return await serveDemo(version, { sandbox, configuration, extract });
    print(nextCommands(configuration, ['history', 'show last', 'demo --serve']));
    return EXIT.done;
  } finally {
    await sandbox.close();
  }
}

/** How the running program is started: nobody has put it on the path yet. */
function executable(): string {
  return `node ${process.argv[1] ?? 'dist/main.js'}`;
}

/** Three commands to try next; the demo starts without a configuration. */
function nextCommands({ file }: DemoConfiguration, commands: readonly string[]): string[] {
  return [
    'Try next:',
    ...commands.map((command) =>
      command.startsWith('demo')
        ? `  ${executable()} ${command}`
        : `  ${executable()} --config ${file} ${command}`,
    ),
    'The sandbox has ended with this demo, so `plan` and `apply` cannot reach it.',
    'The names are from the O*NET database (USDOL/ETA, CC BY 4.0); the people are made up.',
  ];
}

function story({ missing, renamed, near }: Drift, { skills, roles }: ReturnType<typeof demoNames>): string[] {
  return [
    `acme has 120 people in five offices, ${roles.length} roles and ${skills.length} skills, which a file lists. Then:`,
    `  - somebody deleted ${missing.length} skills of the file by hand;`,
    '  - Oslo added “Macromedia Flash” and “Netscape Navigator”, and nobody took them;',
    '  - 3 people in Lisbon still have “IBM Lotus 1-2-3”, which the file does not list;',
    `  - Kraków typed “${near.typed}” for “${near.name}”, and 2 people there have it;`,
    `  - the file renames “${renamed.formerly}”, which ${renamed.people} people have.`,
  ];
}

async function runSteps(
  version: string,
  { file: configFile }: DemoConfiguration,
  sandbox: Sandbox,
): Promise<ExitStatus> {
  const context = { version, configFile };
  heading('1. Dry run: what rolecall would create, delete and hold', 'rolecall plan acme');
  const planned = await planAccounts(context, ['acme'], { ...TEXT, detailedExitcode: true });
  if (planned !== EXIT.changes) return failed(planned);

  heading('2. Apply: rolecall applies the plan, except the held changes', 'rolecall apply acme --yes');
  const applied = await applyToAccounts(context, ['acme'], { ...TEXT, ...APPLY });
  if (applied !== EXIT.done) return failed(applied);

  const writesBefore = countWrites(sandbox);
  heading('3. Apply again: nothing remains to be written', 'rolecall apply acme --yes');
  const again = await applyToAccounts(context, ['acme'], { ...TEXT, ...APPLY });
  const writes = countWrites(sandbox) - writesBefore;
  print(['', `The second apply sent ${writes} creates and deletes to the service.`, '']);
  return again === EXIT.done && writes === 0 ? EXIT.done : failed(again);
}

function failed(exit: ExitStatus): ExitStatus {
  return exit === EXIT.interrupted ? exit : EXIT.failed;
}

function heading(title: string, command: string): void {
  print(['', `━━ ${title}`, `$ ${command}`, '']);
}

function print(lines: readonly string[]): void {
  process.stdout.write(`${lines.join('\n')}\n`);
}

function countWrites(sandbox: Sandbox): number {
  return sandbox.requests().filter(({ method }) => method !== 'GET').length;
}

export interface DemoAccount {
  readonly name: string;
  readonly names: DemoNames;
  readonly mode: 'plan' | 'approve' | 'apply';
  /** The rename that the file declares. */
  readonly renamed?: Drift['renamed'];
}

export interface DemoConfiguration {
  /** The service file. */
  readonly file: string;
  /** A path in the folder of the demo. */
  readonly path: (name: string) => string;
  writeAccount(account: DemoAccount): Promise<void>;
}

/** Creates the folder and the service file. The daemon listens on a free port. */
export async function createConfiguration(sandbox: Sandbox): Promise<DemoConfiguration> {
  const folder = await mkdtemp(join(tmpdir(), 'rolecall-demo-'));
  const inFolder = (name: string): string => join(folder, name);
  for (const name of ['config/accounts', 'tokens']) await mkdir(inFolder(name), { recursive: true });
  const file = inFolder('config/rolecall.yaml');
  const lines = [
    'accounts: accounts/*.yaml',
    'store: ../data/rolecall.db',
    'regions:',
    ...Object.entries(sandbox.regions).map(([region, url]) => `  ${region}: ${url}`),
    'defaults: { schedule: "*/20 * * * * *" }',
    'api: { requestsPerSecond: 200 }',
    'daemon: { runOnStart: false }',
    'http: { listen: "127.0.0.1:0" }',
    'log: { level: warn }',
  ];
  await writeFile(file, `${lines.join('\n')}\n`);
  return {
    file,
    path: inFolder,
    async writeAccount(account) {
      const remote = sandbox.accounts.find(({ name }) => name === account.name);
      if (remote === undefined) throw new Error(`the sandbox has no account ${account.name}`);
      const token = inFolder(`tokens/${account.name}`);
      await writeFile(token, `${remote.token}\n`, { mode: 0o600 });
      const text = accountText(account, remote.region);
      await writeFile(inFolder(`config/accounts/${account.name}.yaml`), text);
    },
  };
}

function accountText({ name, names, mode, renamed }: DemoAccount, region: string): string {
  const item = (text: string): string => `  - ${JSON.stringify(text)}`;
  const lines = [
    `region: ${region}`,
    `token: { file: ../../tokens/${name} }`,
    `mode: ${mode}`,
    'skills:',
    ...(renamed === undefined
      ? []
      : [`  - name: ${JSON.stringify(renamed.name)}`, `    formerly: [${JSON.stringify(renamed.formerly)}]`]),
    ...names.skills.filter((skill) => skill !== renamed?.formerly).map(item),
    'roles:',
    ...names.roles.map(item),
  ];
  return `${lines.join('\n')}\n`;
}

/** How often acme is changed by hand and applied before the daemon starts. */
const EARLIER_RUNS = 4;
/** How often an account is changed by hand while the daemon runs. */
const EDIT_MS = 30_000;

interface Stage {
  readonly sandbox: Sandbox;
  readonly configuration: DemoConfiguration;
  readonly extract: DemoExtract;
}

/** Runs the daemon until SIGTERM or SIGINT. */
export async function serveDemo(version: string, stage: Stage): Promise<ExitStatus> {
  const { sandbox, configuration } = stage;
  const edit = createEditor(sandbox);
  await writeBranches(stage);
  const made = await makeHistory(version, stage, edit);
  if (made !== EXIT.done) return made;
  // acme is corrected at its next tick, studio waits for approval, support only reports, finance is paused.
  for (const account of ['studio', 'support', 'finance']) edit(account);
  await pauseFinance(configuration);
  const editing = setInterval(() => edit('acme'), EDIT_MS);
  try {
    const onListening = (url: string): void => printWelcome(url, configuration);
    const status = await serve(version, configuration.file, { onListening });
    return status === 0 ? EXIT.done : EXIT.failed;
  } finally {
    clearInterval(editing);
  }
}

const MODES = { studio: 'approve', support: 'plan', finance: 'apply' } as const satisfies Record<
  Branch,
  string
>;

async function writeBranches({ configuration, extract }: Stage): Promise<void> {
  for (const name of BRANCH_NAMES) {
    await configuration.writeAccount({ name, names: demoNames(extract, name), mode: MODES[name] });
  }
}

/** Runs commands as a user does, until one has another result than 0; their reports are in files beside the configuration. */
async function makeHistory(
  version: string,
  { configuration }: Stage,
  edit: (account: string) => void,
): Promise<ExitStatus> {
  const context = { version, configFile: configuration.file };
  const report = (name: string) => ({ format: 'text', output: configuration.path(name) }) as const;
  let exit = await planAccounts(context, [], report('plan.txt'));
  for (let run = 1; run <= EARLIER_RUNS && exit === EXIT.done; run += 1) {
    edit('acme');
    const options = { yes: true, allowHeld: true, lockTimeoutMs: 10_000, accept: ACCEPT_NOTHING };
    exit = await applyToAccounts(context, ['acme'], { ...options, ...report(`apply-${run}.txt`) });
  }
  return exit;
}

async function pauseFinance({ file }: DemoConfiguration): Promise<void> {
  const { service } = await loadConfiguration(file);
  if (service === undefined) throw new Error('the configuration of the demo is invalid');
  const journal = await openJournal(service, {});
  try {
    const reason = 'the annual report is being prepared';
    await journal.operator.pause('finance', reason, currentUser(), Date.now());
  } finally {
    await journal.close();
  }
}

function printWelcome(url: string, { file }: DemoConfiguration): void {
  const program = `node ${process.argv[1] ?? 'dist/main.js'} --config ${file}`;
  const lines = [
    `The daemon runs. Its pages are at ${url}`,
    '  acme     is applied every 20 seconds; somebody changes it by hand every 30 seconds',
    '  studio   has a plan that waits for approval; support only reports; finance is paused',
    '',
    'Try next, in another terminal:',
    `  ${program} plan support`,
    `  ${program} approve studio`,
    `  ${program} history`,
    'Press Ctrl-C here to stop the daemon and the sandbox.',
    'The names are from the O*NET database (USDOL/ETA, CC BY 4.0); the people are made up.',
  ];
  process.stdout.write(`${lines.join('\n')}\n`);
}
