// rolecall validate: checks all configuration files, without network access or secrets.
import { addReportOptions, type CommandContext, type CommandLine } from './command-line.ts';
import { openOutput, type OutputOptions } from './console.ts';
import { EXIT, type ExitStatus } from './exit-status.ts';
import { loadConfiguration } from './load-accounts.ts';

interface ValidateFlags extends OutputOptions {
  readonly requireSecrets?: true;
}

export function addValidate({ program, report }: CommandLine): void {
  addReportOptions(program.command('validate'))
    .description('check all configuration files, without network access')
    .option('--require-secrets', 'report missing environment variables and secret files as errors')
    .action((flags: ValidateFlags) => report('validate', flags, (context) => validate(context, flags)));
}

async function validate({ configFile }: CommandContext, flags: ValidateFlags): Promise<ExitStatus> {
  const { renderIssues } = await import('../report/check-reports.ts');
  const { checkSecrets } = await import('../config/secrets.ts');
  const configuration = await loadConfiguration(configFile);
  const secrets = (await checkSecrets(configuration, process.env)).map((issue) =>
    flags.requireSecrets === true ? { ...issue, severity: 'error' as const } : issue,
  );
  const issues = [...configuration.issues, ...secrets];
  const output = openOutput(flags);
  await output.print(renderIssues(issues, output.render));
  await output.close();
  return issues.some((issue) => issue.severity === 'error') ? EXIT.invalidConfiguration : EXIT.done;
}
