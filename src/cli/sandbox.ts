// rolecall sandbox: runs a local Planning Service until it is stopped.
import type { Environment, SandboxCommand } from './environment.ts';
import type { ExitStatus } from './exit-status.ts';
import { EXIT } from './exit-status.ts';

export async function sandbox(environment: Environment, options: SandboxCommand): Promise<ExitStatus> {
  // Listens for signals before the address is printed: whoever reads it may stop the sandbox at once.
  const stopped = new Promise<void>((resolve) => {
    process.once('SIGINT', () => resolve());
    process.once('SIGTERM', () => resolve());
  });
  const running = await environment.startSandbox(options);
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
