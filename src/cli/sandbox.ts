// rolecall sandbox: a Planning Service of one's own, until it is stopped (contract, section 8).
import type { Environment, SandboxCommand } from './environment.ts';
import type { ExitStatus } from './exit-status.ts';
import { EXIT } from './exit-status.ts';

export async function sandbox(environment: Environment, options: SandboxCommand): Promise<ExitStatus> {
  const running = await environment.startSandbox(options);
  const lines = [
    `A Planning Service listens at ${running.url} (description: ${running.url}/openapi.json)`,
    ...running.accounts.map(
      ({ name, token, region }) => `  account ${name}: address ${running.url}/${region}, token ${token}`,
    ),
    'Stop it with Ctrl-C.',
  ];
  process.stdout.write(`${lines.join('\n')}\n`);
  await new Promise<void>((resolve) => {
    process.once('SIGINT', () => resolve());
    process.once('SIGTERM', () => resolve());
  });
  await running.close();
  return EXIT.done;
}
