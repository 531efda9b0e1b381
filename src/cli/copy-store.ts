// rolecall copy-store: a complete and verified copy of a store, between files and databases.
import { count } from '../report/formatting.ts';
import type { CommandContext, CommandLine } from './command-line.ts';
import { printLine, showWarnings } from './console.ts';
import { EXIT, type ExitStatus } from './exit-status.ts';
import { showStep } from './progress.ts';

interface CopyOptions {
  readonly fromSchema?: string;
  readonly toSchema?: string;
}

export function addCopyStore({ program, run }: CommandLine): void {
  program
    .command('copy-store')
    .description('copy a complete store to an empty place, between SQLite and PostgreSQL, and verify it')
    .argument('<from>', 'path of a SQLite file, postgres://…, or env:NAME of a variable with such an address')
    .argument('<to>', 'the same; an existing file or a schema with tables is refused')
    .option('--from-schema <name>', 'schema in the database of <from> (default: rolecall)')
    .option('--to-schema <name>', 'schema in the database of <to> (default: rolecall)')
    .action((from: string, to: string, options: CopyOptions) =>
      run((context) => copyStore(context, { from, to, options })),
    );
}

async function copyStore(
  { environment }: CommandContext,
  { from, to, options }: { readonly from: string; readonly to: string; readonly options: CopyOptions },
): Promise<ExitStatus> {
  const copied = await showStep('store', { text: 'copying' }, (observe) =>
    environment.copyStore(
      { text: from, schema: options.fromSchema },
      { text: to, schema: options.toSchema },
      {
        onProgress: (step) => observe({ type: 'step', ...step }),
        warn: (message) => showWarnings([message]),
      },
    ),
  );
  if (copied.isInUse) {
    const runs = copied.locks === 0 ? '' : ` (${count(copied.locks, 'run')} held an account)`;
    showWarnings([
      `other processes may use ${copied.from}${runs}, and what they write from now on is not in the copy; before you use it, stop them and copy again to another place`,
    ]);
  }
  printLine(
    `copied and verified ${count(copied.runs, 'run')}, ${count(copied.rows, 'row')} in ${count(copied.tables, 'table')}, from ${copied.from} to ${copied.to}`,
  );
  return EXIT.done;
}
