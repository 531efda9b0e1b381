// The demo: plans and applies an account that has drifted from its file, on a sandbox in this process. It runs the
// same commands as a user. With `--serve` the daemon runs on the account afterwards.
import { mkdir, mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import {
  type DemoNames,
  demoNames,
  demoSeed,
  type Drift,
  introduceDrift,
  readDemoExtract,
} from '../sandbox/demo.ts';
import { type Sandbox, startSandbox } from '../sandbox/sandbox.ts';
import type { CommandContext } from './compose.ts';
import { applyToAccounts } from './apply-accounts.ts';
import { EXIT, type ExitStatus } from './exit-status.ts';
import { planAccounts } from './plan-accounts.ts';
import { serve } from './serve.ts';

const TEXT = { format: 'text' } as const;
const APPLY = { yes: true, allowHeld: true, lockTimeout: 10_000 };

/** Runs the demo, and with `--serve` the daemon afterwards. Resolves with 0 when every step had the expected result. */
export async function playDemo(given: CommandContext, servesPages: boolean): Promise<ExitStatus> {
  const extract = readDemoExtract(
    fileURLToPath(new URL('../config/demo/onet-extract.json', import.meta.url)),
  );
  const sandbox = await startSandbox({ seed: demoSeed(extract) });
  try {
    const folder = await mkdtemp(join(tmpdir(), 'rolecall-demo-'));
    const configFile = join(folder, 'config/rolecall.yaml');
    const accountFile = join(folder, 'config/accounts/acme.yaml');
    const names = demoNames(extract);
    await mkdir(join(folder, 'config/accounts'), { recursive: true });
    await writeFile(configFile, serviceText(sandbox));
    await writeFile(join(folder, 'token'), `${sandbox.accounts[0]?.token ?? ''}\n`, { mode: 0o600 });
    await writeFile(accountFile, accountText(names));
    const program = `node ${process.argv[1] ?? 'dist/main.js'}`;
    // A first plan before the drift makes history, since a plan on a fresh store holds every delete.
    const context = { ...given, configFile };
    await planAccounts(context, ['acme'], { ...TEXT, output: join(folder, 'first-plan.txt') });
    const drift = introduceDrift(sandbox);
    await writeFile(accountFile, accountText(names, drift.renamed));
    print(story(drift, names));
    const exit = await runSteps(context, sandbox);
    if (exit !== EXIT.done) return exit;
    if (!servesPages) {
      print(nextCommands(program, configFile));
      return EXIT.done;
    }
    const onListening = (url: string): void => print(welcome(url, `${program} --config ${configFile}`));
    return (await serve(context, onListening)) === 0 ? EXIT.done : EXIT.failed;
  } finally {
    await sandbox.close();
  }
}

function story({ missing, renamed, near }: Drift, { skills, roles }: DemoNames): string[] {
  return [
    `acme has 120 people in five offices, ${roles.length} roles and ${skills.length} skills, which a file lists. Then:`,
    `  - somebody deleted ${missing.length} skills of the file by hand;`,
    '  - Oslo added “Macromedia Flash” and “Netscape Navigator”, and nobody took them;',
    '  - 3 people in Lisbon still have “IBM Lotus 1-2-3”, which the file does not list;',
    `  - Kraków typed “${near.typed}” for “${near.name}”, and 2 people there have it;`,
    `  - the file renames “${renamed.formerly}”, which ${renamed.people} people have.`,
  ];
}

async function runSteps(context: CommandContext, sandbox: Sandbox): Promise<ExitStatus> {
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
  print(['', `━━ ${title}`, `$ ${command}`]);
}

function print(lines: readonly string[]): void {
  process.stdout.write(`${lines.join('\n')}\n`);
}

function countWrites(sandbox: Sandbox): number {
  return sandbox.requests().filter(({ method }) => method !== 'GET').length;
}

/** The service file. The daemon listens on a free port. */
function serviceText({ regions }: Sandbox): string {
  const addresses = Object.entries(regions).map(([region, url]) => `  ${region}: ${url}`);
  return `accounts: accounts/*.yaml
store: ../data/rolecall.db
regions:
${addresses.join('\n')}
defaults: { schedule: "*/20 * * * * *" }
api: { requestsPerSecond: 200 }
http: { listen: "127.0.0.1:0" }
log: { level: warn }
`;
}

function accountText(names: DemoNames, renamed?: Drift['renamed']): string {
  const item = (name: string): string => `  - ${JSON.stringify(name)}`;
  const lines = [
    'region: eu',
    'token: { file: ../../token }',
    'mode: apply',
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

const ATTRIBUTION = 'The names are from the O*NET database (USDOL/ETA, CC BY 4.0); the people are made up.';

function nextCommands(program: string, configFile: string): string[] {
  return [
    'Try next:',
    `  ${program} --config ${configFile} history`,
    `  ${program} --config ${configFile} show last`,
    `  ${program} demo --serve`,
    'The sandbox has ended with this demo, so `plan` and `apply` cannot reach it.',
    ATTRIBUTION,
  ];
}

function welcome(url: string, program: string): string[] {
  return [
    '',
    `The daemon runs and applies acme every 20 seconds. Its pages are at ${url}`,
    'Try next, in another terminal:',
    `  ${program} plan acme`,
    `  ${program} history`,
    'Press Ctrl-C here to stop the daemon and the sandbox.',
    ATTRIBUTION,
  ];
}
