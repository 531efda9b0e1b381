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

export function addSandbox({ program, run }: CommandLine): void {
  program
    .command('sandbox')
    .description('run a local Planning Service for tests of a catalog')
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
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.once(signal, () => resolve());
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
    `Press Ctrl-C to stop it.${flags.data === undefined ? ' It then forgets all changes: --data FILE keeps them.' : ''}`,
  ];
  process.stdout.write(`${lines.join('\n')}\n`);
  await stopped;
  await running.close();
  return EXIT.done;
}
