// rolecall sandbox: runs a local Planning Service until it is stopped.
import { type CommandLine, port, positive } from './command-line.ts';
import { EXIT, type ExitStatus } from './exit-status.ts';

interface SandboxFlags {
  readonly port: number;
  readonly data?: string;
  readonly accounts: number;
  readonly seed?: string;
  readonly faults?: string;
}

const SEED = {
  accounts: [
    {
      name: 'acme',
      token: 'token-of-acme',
      region: 'eu',
      skills: ['Go', { name: 'Perl', id: 'skill-1' }],
      roles: ['Developer'],
      resources: [{ id: 'person-1', skills: ['Go'], role: 'Developer' }],
    },
  ],
  settings: { uniqueNames: 'exact' },
};

const FAULTS = [
  { match: { method: 'POST', path: 'skill' }, times: 2, do: { type: 'status', status: 503 } },
  { match: { account: 'acme' }, times: 'always', do: { type: 'latency', ms: 200 } },
];

const EXAMPLES = `
Example of a --seed file, with initial accounts and settings of the service:
  ${JSON.stringify(SEED)}

Example of a --faults file; the first rule that matches a request applies:
  ${JSON.stringify(FAULTS)}`;

export function addSandbox({ program, run }: CommandLine): void {
  program
    .command('sandbox')
    .description('run a local Planning Service for tests of a catalog')
    .addHelpText('after', EXAMPLES)
    .option('--port <n>', 'port on loopback; 0 selects a free port', port, 8090)
    .option('--data <file>', 'keep the data in this SQLite file')
    .option('--accounts <n>', 'number of accounts', positive, 1)
    .option('--seed <file>', 'initial data of the accounts (JSON)')
    .option('--faults <file>', 'faults to simulate (JSON)')
    .action((flags: SandboxFlags) => run(() => sandbox(flags)));
}

async function sandbox(flags: SandboxFlags): Promise<ExitStatus> {
  // Listens for signals before the address is printed: whoever reads it may stop the sandbox at once.
  const stopped = new Promise<void>((resolve) => {
    process.once('SIGINT', () => resolve());
    process.once('SIGTERM', () => resolve());
    process.once('SIGHUP', () => resolve());
  });
  const { startSandbox } = await import('../sandbox/sandbox.ts');
  const running = await startSandbox({
    port: flags.port,
    accounts: flags.accounts,
    dataFile: flags.data,
    seedFile: flags.seed,
    faultsFile: flags.faults,
  });
  const lines = [
    `The sandbox listens at ${running.url} (OpenAPI: ${running.url}/openapi.json)`,
    ...running.accounts.map(
      ({ name, token, region }) => `  account ${name}: address ${running.url}/${region}, token ${token}`,
    ),
    'Press Ctrl-C to stop it.',
  ];
  process.stdout.write(`${lines.join('\n')}\n`);
  await stopped;
  await running.close();
  return EXIT.done;
}
