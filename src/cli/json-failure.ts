// Prints JSON also when a command fails before its report, since programs parse the output.
import { describeFailure, type RunFailure } from '../run/run-result.ts';
import { UsageError } from '../core/errors.ts';
import { visibleJson } from '../report/escape-invisible.ts';
import {
  adaptHints,
  checkOutput,
  hasReported,
  openOutput,
  type Output,
  type OutputOptions,
} from './console.ts';
import type { ExitStatus } from './exit-status.ts';

/** The commands whose JSON is one object. That of the others is a list. */
const PRINT_ONE: ReadonlySet<string> = new Set(['show', 'diff', 'restore']);

/**
 * Calls `work`, if the file of `--output` can be written. If it fails before a report was printed and the format is JSON,
 * prints the failure: as the only element of a list, or alone. The error is thrown in any case.
 */
export async function orJsonFailure(
  command: string,
  options: OutputOptions,
  work: () => Promise<ExitStatus>,
): Promise<ExitStatus> {
  try {
    // A mistyped path must not cost the work, or the report of a run.
    checkOutput(options);
    return await work();
  } catch (error) {
    if (options.format !== 'json' || hasReported()) throw error;
    await print(describeFailure(error), command, openFor(options.output));
    throw error;
  }
}

/** The output of the report; stdout when its file cannot be written. */
function openFor(output: string | undefined): Output {
  try {
    return openOutput({ format: 'json', output });
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    return openOutput({ format: 'json' });
  }
}

async function print(failure: RunFailure, command: string, output: Output): Promise<void> {
  const error = { ...failure, message: adaptHints(failure.message) };
  const element = { schemaVersion: 1, account: '', status: 'failed', error };
  await output.print(`${visibleJson(PRINT_ONE.has(command) ? element : [element], 2)}\n`);
  await output.close();
}
