// The demo: plans and applies an account that has drifted from its file, on a sandbox in this process. It runs the
// same commands as a user. It leaves a journal to read, and no process.
import { fileURLToPath } from 'node:url';
import { ACCEPT_NOTHING } from '../app/request.ts';
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
} from '../sandbox/demo.ts';
import { type Sandbox, startSandbox } from '../sandbox/sandbox.ts';
import { createConfiguration, type DemoConfiguration } from './demo-configuration.ts';
import { serveDemo } from './demo-daemon.ts';

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
