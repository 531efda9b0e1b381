// JSON is what a program asked for, also when a command fails before it has anything to report.
import { describeFailure } from '../app/run-result.ts';
import { UsageError } from '../core/errors.ts';
import { visibleJson } from '../report/visible.ts';
import { hasReported, openOutput, type OutputOptions } from './console.ts';
import type { ExitStatus } from './exit-status.ts';

/**
 * Does the work. When it fails before anything was reported, and JSON is asked for, the failure is reported: as the one
 * element of a list, or alone. The error itself is thrown in any case.
 */
export async function orJsonFailure(
  options: Pick<OutputOptions, 'output'> & { readonly format: string },
  shape: 'list' | 'one',
  work: () => Promise<ExitStatus>,
): Promise<ExitStatus> {
  try {
    return await work();
  } catch (error) {
    if (options.format !== 'json' || error instanceof UsageError || hasReported()) throw error;
    const failure = { schemaVersion: 1, account: '', status: 'failed', error: describeFailure(error) };
    const output = openOutput({ format: 'json', output: options.output });
    await output.print(`${visibleJson(shape === 'list' ? [failure] : failure, 2)}\n`);
    await output.close();
    throw error;
  }
}
