// Redocly, a program that checks an OpenAPI document with rules for style and correctness.
import { execFile } from 'node:child_process';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';

const REDOCLY = join(import.meta.dirname, 'node_modules/@redocly/cli/bin/cli.js');

/** The problems of a document according to the recommended rules, warnings included. */
export async function lint(file: string): Promise<readonly object[]> {
  const { stdout } = await promisify(execFile)(
    process.execPath,
    [REDOCLY, 'lint', '--extends', 'recommended', '--format', 'json', file],
    {
      cwd: dirname(file),
      env: { ...process.env, REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true' },
    },
  );
  return (JSON.parse(stdout) as { readonly problems: readonly object[] }).problems;
}
