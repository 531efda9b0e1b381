#!/usr/bin/env node
// The program: parse, run, set the exit status. What people see of an error is decided here.
import { readFileSync } from 'node:fs';
import { runCommand } from './cli/program.ts';
import {
  ConfigError,
  formatConfigIssue,
  SecretError,
  ServiceError,
  StoreError,
  UsageError,
} from './core/errors.ts';

let outputFailed = false;

const { version } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')) as {
  version: string;
};

/** Errors with a person who can act get a sentence; anything else is a bug, and says so without a stack. All of it is visible. */
async function explain(error: unknown): Promise<{ readonly text: string; readonly exit: number }> {
  const { visible, visibleLines } = await import('./report/escape-invisible.ts');
  const { adaptHints } = await import('./cli/console.ts');
  if (error instanceof ConfigError) {
    const lines = error.issues.map((issue) => `error: ${visible(adaptHints(formatConfigIssue(issue)))}`);
    return { text: lines.join('\n'), exit: 4 };
  }
  if (error instanceof UsageError) return { text: `error: ${visibleLines(adaptHints(error.message))}`, exit: 64 };
  if (error instanceof StoreError || error instanceof ServiceError || error instanceof SecretError) {
    return { text: `error: ${visibleLines(adaptHints(error.message))}`, exit: 1 };
  }
  // Another room's error that is meant for people carries a name of its own and a whole sentence.
  if (error instanceof Error && error.name === 'SandboxError')
    return { text: `error: ${visible(adaptHints(error.message))}`, exit: 1 };
  const message = error instanceof Error ? error.message : String(error);
  const hint = process.env['ROLECALL_DEBUG'] === undefined ? '\nSet ROLECALL_DEBUG=1 to see where.' : '';
  const stack = hint === '' && error instanceof Error ? `\n${visibleLines(error.stack ?? '')}` : '';
  return { text: `error: a bug in rolecall: ${visible(message)}${hint}${stack}`, exit: 1 };
}

// A reader that goes away, as `head` does, is no failure of ours. Either way what has begun goes on to its end.
process.stdout.on('error', ({ code = 'unknown' }: NodeJS.ErrnoException) => {
  if (code === 'EPIPE' || outputFailed) return;
  outputFailed = true;
  process.stderr.write(`error: stdout cannot be written (${code}); what was to stand there is not whole\n`);
});
process.stderr.on('error', () => undefined);
process.once('exit', () => {
  if (outputFailed && process.exitCode === 0) process.exitCode = 1;
});

try {
  const environment = async () => (await import('./wire.ts')).createEnvironment(version);
  process.exitCode = await runCommand(process.argv.slice(2), environment, version);
} catch (error) {
  const { text, exit } = await explain(error);
  process.stderr.write(`${text}\n`);
  process.exitCode = exit;
}

const { exitNow, hasStuckReads } = await import('./platform/regular-file.ts');
if (hasStuckReads()) {
  process.stderr.write(
    'warning: a file has not answered; this process kills itself so as not to wait for it\n',
  );
  exitNow(Number(process.exitCode ?? 0));
}
