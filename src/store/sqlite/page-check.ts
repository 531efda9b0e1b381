// Checks every page of a store in a separate process, because SQLite reads the complete file without a pause, which would
// block the daemon.
import { StoreError } from '../../core/errors.ts';
import { startChild } from '../../platform/child-process.ts';
import { sqlitePath } from '../../platform/sqlite.ts';
import { damagedStore } from './recovery.ts';

/** The program of the process. Its arguments are the driver and the file; it sends the finding, or the code of an error. */
const PROGRAM = `
  const [driver, file] = process.argv.slice(1);
  try {
    const db = new (require(driver))(file, { readonly: true, fileMustExist: true, timeout: 10000 });
    process.send({ finding: db.pragma('quick_check(1)', { simple: true }) });
  } catch (error) {
    process.send({ code: error.code, message: error.message });
  }`;

interface Answer {
  readonly finding?: string;
  readonly code?: string;
  readonly message?: string;
}

/** Resolves when the store is undamaged. Throws StoreError: `store_corrupt`, or `store_unchecked` if the check failed. */
export async function checkPages(file: string, signal?: AbortSignal): Promise<void> {
  const answer = await ask(file, signal);
  if (answer.finding === 'ok') return;
  if (answer.finding !== undefined) throw damagedStore(file, answer.finding);
  if (/^SQLITE_(CORRUPT|NOTADB)/.test(answer.code ?? '')) throw damagedStore(file, answer.message ?? '');
  throw new StoreError(
    'store_unchecked',
    `${file} could not be checked for damage (${answer.message ?? 'for an unknown reason'})`,
  );
}

/** Without a time limit, because a large store on a slow disk takes minutes. */
async function ask(file: string, signal: AbortSignal | undefined): Promise<Answer> {
  let answer: Answer | undefined;
  const child = startChild<never, Answer>({
    args: ['--eval', PROGRAM, sqlitePath(), file],
    onMessage: (found) => (answer = found),
    ...(signal === undefined ? {} : { signal }),
  });
  const { reason, how } = await child.ended;
  return answer ?? { message: `the check ended without a result: ${reason}, ${how}` };
}
