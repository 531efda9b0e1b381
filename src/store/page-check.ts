// Whether every page of a store is sound, asked in a process of its own: SQLite reads the complete file without a
// pause, and neither the daemon's answers nor its stop may wait for that.
import { spawn } from 'node:child_process';
import { StoreError } from '../core/errors.ts';
import { sqlitePath } from '../platform/sqlite.ts';
import { damagedStore } from './recovery.ts';

/** What the process runs, given the driver and the file: it prints what was found, or the code of an error. */
const PROGRAM = `
  const [driver, file] = process.argv.slice(1);
  const say = (answer) => process.stdout.write(JSON.stringify(answer));
  try {
    const db = new (require(driver))(file, { readonly: true, fileMustExist: true, timeout: 10000 });
    say({ finding: db.pragma('quick_check(1)', { simple: true }) });
  } catch (error) {
    say({ code: error.code, message: error.message });
  }`;

interface Answer {
  readonly finding?: string;
  readonly code?: string;
  readonly message?: string;
}

/** Resolves when the store is sound; throws StoreError: `store_corrupt`, or `store_unchecked` when nobody can tell. */
export async function checkPages(file: string, signal?: AbortSignal): Promise<void> {
  const answer = await ask(file, signal);
  if (answer.finding === 'ok') return;
  if (answer.finding !== undefined) throw damagedStore(file, answer.finding);
  if (/^SQLITE_(CORRUPT|NOTADB)/.test(answer.code ?? '')) throw damagedStore(file, answer.message ?? '');
  throw new StoreError(
    'store_unchecked',
    `${file} could not be checked for damage (${answer.message ?? 'the check did not end'})`,
  );
}

function ask(file: string, signal: AbortSignal | undefined): Promise<Answer> {
  return new Promise((resolve) => {
    const child = spawn(process.execPath, ['--eval', PROGRAM, sqlitePath(), file], {
      stdio: ['ignore', 'pipe', 'ignore'],
      // It needs no secret, and no options that were meant for this process.
      env: {},
      killSignal: 'SIGKILL',
      ...(signal === undefined ? {} : { signal }),
    });
    let output = '';
    child.stdout.setEncoding('utf8').on('data', (text: string) => (output += text));
    child.on('error', ({ message }) => resolve({ message }));
    child.on('close', () => resolve(parse(output)));
  });
}

function parse(output: string): Answer {
  try {
    // Printed by the program above.
    return JSON.parse(output) as Answer;
  } catch {
    return {};
  }
}
