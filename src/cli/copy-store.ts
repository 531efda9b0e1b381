// rolecall copy-store: a complete and verified copy of a store in a database.
import path from 'node:path';
import { count } from '../report/formatting.ts';
import type { CommandLine } from './command-line.ts';
import { printLine, showWarnings } from './console.ts';
import { EXIT, type ExitStatus } from './exit-status.ts';
import { showStep } from './progress.ts';

export function addCopyStore({ program, run }: CommandLine): void {
  program
    .command('copy-store')
    .description('copy the store to PostgreSQL')
    .argument('<file>', 'path of a SQLite file')
    .argument('<url>', 'postgres://…, or env:NAME of a variable with such an address')
    .option('--schema <name>', 'schema in the database; one with rows is refused', 'rolecall')
    .action((file: string, address: string, { schema }: { readonly schema: string }) =>
      run(() => copyStore(path.resolve(file), address, schema)),
    );
}

async function copyStore(from: string, address: string, schema: string): Promise<ExitStatus> {
  const { databaseArgument } = await import('../config/store-location.ts');
  const { shownDatabase } = await import('../platform/postgres-address.ts');
  const { copyStore: copy } = await import('../store/copy-store.ts');
  const { location, isExposed } = databaseArgument(address, schema, process.env);
  if (isExposed) {
    showWarnings([
      'other users of this machine can see the password in the address while the command runs; use env:NAME, PGPASSWORD or ~/.pgpass',
    ]);
  }
  const text = 'copying';
  const copied = await showStep('store', { text }, (observe) =>
    copy(from, location, (done, total) => observe({ type: 'step', text, done, total })),
  );
  if (copied.isInUse) {
    const runs = copied.locks === 0 ? '' : ` (${count(copied.locks, 'run')} held an account)`;
    showWarnings([
      `other processes may use ${from}${runs}, and what they write from now on is not in the copy; before you use it, stop them and copy again to another schema`,
    ]);
  }
  const to = `PostgreSQL ${shownDatabase(location.url)}, schema ${schema}`;
  printLine(
    `copied and verified ${count(copied.runs, 'run')}, ${count(copied.rows, 'row')} in ${count(copied.tables, 'table')}, from ${from} to ${to}`,
  );
  return EXIT.done;
}
