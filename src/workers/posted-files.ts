// Posted files, read by a process of their own: what it is asked, and when it is killed.
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { UsageError } from '../core/errors.ts';
import type { AccountSettings } from '../core/settings.ts';
import type { PostedConfiguration } from '../daemon/daemon-api.ts';
import { type ChildEnd, startChild } from '../platform/child-process.ts';

/** Where posted files seem to stand, with room for `..`; there is no such folder, and nothing is looked up in it. */
export const POSTED_ROOT = path.resolve('/posted/a/b/c/d/e/f/g/h');

const LONGEST_LOAD_MS = 20_000;
/** What one process may take; two of them and the daemon fit into the memory of the shipped unit. */
const HEAP_MIB = 192;

export type ToReader =
  { readonly type: 'load'; readonly body: Uint8Array } | { readonly type: 'account'; readonly name: string };

/** `problem`: the body is no posted configuration. `failed`: its files cannot be planned. */
export type FromReader =
  | { readonly type: 'problem'; readonly problem: string }
  | { readonly type: 'failed'; readonly message: string }
  | {
      readonly type: 'loaded';
      readonly names: readonly string[];
      readonly commit: PostedConfiguration['commit'];
    }
  | ({ readonly type: 'account' } & PostedAccount);

/** Neither field: no posted file is of the account. */
export interface PostedAccount {
  readonly settings?: AccountSettings;
  readonly failure?: { readonly code: string; readonly message: string };
}

/** Posted files that have been read. */
export interface PostedFiles {
  /** The accounts to plan, in their order. */
  readonly names: readonly string[];
  readonly commit: PostedConfiguration['commit'];
  /** One account at a time, so that no answer is large. */
  account(name: string): Promise<PostedAccount>;
  close(): void;
}

const READER = new URL('./read-posted-files.js', import.meta.url);

export interface ReadOptions {
  readonly limitMs?: number;
  /** The program that reads. */
  readonly program?: URL;
}

/**
 * Reads the files of a request's body in a process of its own, which has to be closed: parsing cannot be interrupted, and a
 * thread that runs out of memory would take the daemon with it. Resolves with what is wrong with the body when it is no
 * posted configuration; throws UsageError when reading takes too long or too much memory.
 */
export async function readPostedFiles(
  body: Uint8Array,
  { limitMs = LONGEST_LOAD_MS, program = READER }: ReadOptions = {},
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
  /** Asks one question after the other; rejects when the process ends instead of answering. */
  ask(question: ToReader): Promise<FromReader>;
  /** Ends it; questions that are open are rejected with the reason. */
  kill(reason?: Error): void;
}

function startReader(program: URL): Reader {
  let receive: (answer: FromReader) => void = () => undefined;
  const child = startChild<ToReader, FromReader>({
    args: [fileURLToPath(program)],
    onMessage: (answer) => receive(answer),
    heapMegabytes: HEAP_MIB,
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
