#!/usr/bin/env node
// The program: parses the arguments, runs the command and sets the exit status. Decides how errors are shown.
import { readFileSync } from 'node:fs';
import { resetConsole } from './cli/console.ts';
import { runCommand } from './cli/program.ts';
import { ConfigError, formatConfigIssue, KnownError, UsageError } from './core/errors.ts';
import { keepCompiledCode } from './system/runtime.ts';

let outputFailed = false;

const { version } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')) as {
  version: string;
};

/** The message of an error that a user can fix; any other error is reported as a bug, without a stack. */
async function explain(error: unknown): Promise<{ readonly text: string; readonly exit: number }> {
  const { visible, visibleLines } = await import('./report/escape-invisible.ts');
  if (error instanceof ConfigError) {
    const lines = error.issues.map((issue) => `error: ${visible(formatConfigIssue(issue))}`);
    return { text: lines.join('\n'), exit: 4 };
  }
  if (error instanceof UsageError) return { text: `error: ${visibleLines(error.message)}`, exit: 64 };
  if (error instanceof KnownError) return { text: `error: ${visibleLines(error.message)}`, exit: 1 };
  // The sandbox shares no classes with this program; its errors are recognised by name.
  if (error instanceof Error && error.name === 'SandboxError') {
    const lines = error.message.split('\n').map((line) => `error: ${visible(line)}`);
    return { text: lines.join('\n'), exit: 1 };
  }
  const message = error instanceof Error ? error.message : String(error);
  const hint =
    process.env['ROLECALL_DEBUG'] === undefined ? '\nSet ROLECALL_DEBUG=1 to see the stack trace.' : '';
  const stack = hint === '' && error instanceof Error ? `\n${visibleLines(error.stack ?? '')}` : '';
  return { text: `error: a bug in rolecall: ${visible(message)}${hint}${stack}`, exit: 1 };
}

// A closed pipe, as with `head`, is no failure. With any other error the command continues as well.
process.stdout.on('error', ({ code = 'unknown' }: NodeJS.ErrnoException) => {
  if (code === 'EPIPE' || outputFailed) return;
  outputFailed = true;
  process.stderr.write(`error: cannot write to stdout (${code}); the output is incomplete\n`);
});
process.stderr.on('error', () => undefined);
process.once('exit', () => {
  if (outputFailed && process.exitCode === 0) process.exitCode = 1;
});

keepCompiledCode();
// Tests run this module several times in one process.
resetConsole();
try {
  process.exitCode = await runCommand(process.argv.slice(2), version);
} catch (error) {
  const { text, exit } = await explain(error);
  process.stderr.write(`${text}\n`);
  process.exitCode = exit;
}
