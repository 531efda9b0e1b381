// rolecall copy-store: a complete and verified copy of a store in a database.
import { count } from '../report/formatting.ts';
import type { CommandContext, CommandLine } from './command-line.ts';
import { printLine, showWarnings } from './console.ts';
import { EXIT, type ExitStatus } from './exit-status.ts';
import { showStep } from './progress.ts';

export function addCopyStore({ program, run }: CommandLine): void {
  program
    .command('copy-store')
    .description('copy a complete SQLite store to an empty schema of PostgreSQL, and verify it')
    .argument('<file>', 'path of a SQLite file')
    .argument('<url>', 'postgres://…, or env:NAME of a variable with such an address')
    .option('--schema <name>', 'schema in the database; one with rows is refused', 'rolecall')
    .action((file: string, address: string, { schema }: { readonly schema: string }) =>
      run((context) => copyStore(context, file, { address, schema })),
    );
}

async function copyStore(
  { environment }: CommandContext,
  file: string,
  to: { readonly address: string; readonly schema: string },
): Promise<ExitStatus> {
  const text = 'copying';
  const copied = await showStep('store', { text }, (observe) =>
    environment.copyStore(file, to, {
      onProgress: (done, total) => observe({ type: 'step', text, done, total }),
      warn: (message) => showWarnings([message]),
    }),
  );
  if (copied.isInUse) {
    const runs = copied.locks === 0 ? '' : ` (${count(copied.locks, 'run')} held an account)`;
    showWarnings([
      `other processes may use ${copied.from}${runs}, and what they write from now on is not in the copy; before you use it, stop them and copy again to another schema`,
    ]);
  }
  printLine(
    `copied and verified ${count(copied.runs, 'run')}, ${count(copied.rows, 'row')} in ${count(copied.tables, 'table')}, from ${copied.from} to ${copied.to}`,
  );
  return EXIT.done;
}
