// JSON is what a program asked for, also when a command fails before it has anything to report.
import type { Command, CommanderError } from 'commander';
import { describeFailure, type RunFailure } from '../app/run-result.ts';
import { UsageError } from '../core/errors.ts';
import { visibleJson } from '../report/escape-invisible.ts';
import { hasReported, openOutput, type Output, type OutputOptions } from './console.ts';
import type { ExitStatus } from './exit-status.ts';

/** A list of failures, or one. */
type Shape = 'list' | 'one';

/**
 * Does the work. When it fails before anything was reported, and JSON is asked for, the failure is reported: as the one
 * element of a list, or alone. The error itself is thrown in any case.
 */
export async function orJsonFailure(
  options: Pick<OutputOptions, 'output'> & { readonly format: string },
  shape: Shape,
  work: () => Promise<ExitStatus>,
): Promise<ExitStatus> {
  try {
    return await work();
  } catch (error) {
    if (options.format !== 'json' || hasReported()) throw error;
    await print(describeFailure(error), shape, openFor(options.output));
    throw error;
  }
}

/** Reports arguments that the parser refused, when the command prints reports and JSON is asked for. */
export async function reportWrongUsage(
  program: Command,
  argv: readonly string[],
  { message }: CommanderError,
): Promise<void> {
  const [name] = program.parseOptions([...argv]).operands;
  const command = program.commands.find((each) => each.name() === name);
  const hasFormat = command?.options.some(({ long }) => long === '--format') === true;
  if (!hasFormat || !asksForJson(argv)) return;
  const failure = { code: new UsageError('').code, message: message.replace(/^error: /u, '') };
  await print(failure, name === 'show' ? 'one' : 'list', openFor(undefined));
}

function asksForJson(argv: readonly string[]): boolean {
  const end = argv.indexOf('--');
  const options = end === -1 ? argv : argv.slice(0, end);
  return options.some((word, index) =>
    word === '--format' ? options[index + 1] === 'json' : word === '--format=json',
  );
}

/** Where the report would have gone; stdout when that cannot be written. */
function openFor(output: string | undefined): Output {
  try {
    return openOutput({ format: 'json', output });
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    return openOutput({ format: 'json' });
  }
}

async function print(failure: RunFailure, shape: Shape, output: Output): Promise<void> {
  const element = { schemaVersion: 1, account: '', status: 'failed', error: failure };
  await output.print(`${visibleJson(shape === 'list' ? [element] : element, 2)}\n`);
  await output.close();
}
