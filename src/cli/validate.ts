// rolecall validate: checks all configuration files, without network access or secrets.
import { renderIssues } from '../report/issues-report.ts';
import type { OutputOptions } from './console.ts';
import { openOutput } from './console.ts';
import type { Environment } from './environment.ts';
import type { ExitStatus } from './exit-status.ts';
import { EXIT } from './exit-status.ts';
import { orJsonFailure } from './json-failure.ts';

export interface ValidateOptions extends OutputOptions {
  readonly requireSecrets: boolean;
}

export async function validate(...args: Parameters<typeof validateFiles>): Promise<ExitStatus> {
  return await orJsonFailure(args[2], 'list', () => validateFiles(...args));
}

async function validateFiles(
  environment: Environment,
  configFile: string,
  options: ValidateOptions,
): Promise<ExitStatus> {
  const configuration = await environment.loadConfiguration(configFile);
  const secrets = (await environment.checkSecrets(configuration)).map((issue) =>
    options.requireSecrets ? { ...issue, severity: 'error' as const } : issue,
  );
  const issues = [...configuration.issues, ...secrets];
  const output = openOutput(options);
  await output.print(renderIssues(issues, output.render));
  await output.close();
  return issues.some((issue) => issue.severity === 'error') ? EXIT.invalidConfiguration : EXIT.done;
}
