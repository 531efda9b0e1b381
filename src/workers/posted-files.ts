// Reads posted files in a child process: parsing cannot be interrupted, and a thread that runs out of memory would end
// the daemon. The program of the process is read-posted-files.ts.
import { fileURLToPath } from 'node:url';
import type { PostedAccount, PostedFiles } from '../app/posted-plan.ts';
import { UsageError } from '../core/errors.ts';
import { type ChildEnd, startChild } from '../platform/child-process.ts';

const TIME_LIMIT_MS = 20_000;
/** Two such processes and the daemon fit into the memory limit of the shipped systemd unit. */
const HEAP_MEGABYTES = 192;

export type ToReader =
  { readonly type: 'load'; readonly body: Uint8Array } | { readonly type: 'account'; readonly name: string };

/** `problem`: the body is not a posted configuration. `failed`: its files cannot be planned. */
export type FromReader =
  | { readonly type: 'problem'; readonly problem: string }
  | { readonly type: 'failed'; readonly message: string }
  | {
      readonly type: 'loaded';
      readonly names: readonly string[];
      readonly commit: PostedFiles['commit'];
    }
  | ({ readonly type: 'account' } & PostedAccount);

const PROGRAM = new URL('./read-posted-files.js', import.meta.url);

export interface ReadOptions {
  readonly limitMs?: number;
  /** The program that reads; for tests. */
  readonly program?: URL;
}

/**
 * Reads the files in the body of a request in a child process, which must be closed. Resolves with the problem when the
 * body is not a posted configuration. Throws UsageError when reading takes too much time or memory.
 */
export async function readPostedFiles(
  body: Uint8Array,
  { limitMs = TIME_LIMIT_MS, program = PROGRAM }: ReadOptions = {},
): Promise<PostedFiles | { readonly problem: string }> {
  const reader = startReader(program);
  const timer = setTimeout(() => reader.kill(tooMuch('too long')), limitMs);
  try {
    const loaded = await reader.ask({ type: 'load', body });
    if (loaded.type === 'failed') throw new UsageError(loaded.message);
    if (loaded.type !== 'loaded') {
      reader.kill();
      return { problem: loaded.type === 'problem' ? loaded.problem : 'the body cannot be read' };
    }
    const { names, commit } = loaded;
    return {
      names,
      commit,
      async account(name) {
        const answer = await reader.ask({ type: 'account', name });
        return answer.type === 'account' ? answer : {};
      },
      close: () => reader.kill(),
    };
  } catch (error) {
    reader.kill();
    throw error;
  } finally {
    clearTimeout(timer);
  }
}

interface Reader {
  /** Sends one question after the other. Rejects when the process ends without an answer. */
  ask(question: ToReader): Promise<FromReader>;
  /** Ends the process; pending questions are rejected with the reason. */
  kill(reason?: Error): void;
}

function startReader(program: URL): Reader {
  let receive: (answer: FromReader) => void = () => undefined;
  const child = startChild<ToReader, FromReader>({
    args: [fileURLToPath(program)],
    onMessage: (answer) => receive(answer),
    heapMegabytes: HEAP_MEGABYTES,
  });
  let reason: Error | undefined;
  const ended = child.ended.then((end): never => {
    throw reason ?? failureOf(end);
  });
  ended.catch(() => undefined);
  let last: Promise<unknown> = Promise.resolve();
  return {
    ask(question) {
      const answer = last.then(async () => {
        const answered = new Promise<FromReader>((resolve) => (receive = resolve));
        child.send(question);
        return await Promise.race([answered, ended]);
      });
      last = answer.catch(() => undefined);
      return answer;
    },
    kill(why) {
      reason = why;
      child.stop();
    },
  };
}

/** Only a real lack of memory is reported as one. */
function failureOf({ reason, how }: ChildEnd): Error {
  if (reason === 'out_of_memory') return tooMuch('more memory than one plan may take');
  return new Error(`the process that read the posted files ended without an answer (${how})`);
}

function tooMuch(what: string): UsageError {
  return new UsageError(
    `reading the posted files takes ${what}; post fewer or smaller files, or plan here without --server`,
  );
}
