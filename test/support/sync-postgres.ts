// Runs statements on PostgreSQL and waits for their rows without a promise, for fixtures that read SQLite directly.
import { MessageChannel, receiveMessageOnPort, Worker } from 'node:worker_threads';

const PROGRAM = `
  const { parentPort, workerData } = require('node:worker_threads');
  const pg = require('pg');
  const signal = new Int32Array(workerData.signal);
  pg.types.setTypeParser(20, Number);
  pg.types.setTypeParser(1700, Number);
  const client = new pg.Client({ connectionString: workerData.url });
  const ready = client.connect();
  parentPort.on('message', async ({ schema, text, values, port }) => {
    try {
      await ready;
      await client.query('set search_path to ' + schema);
      const { rows } = await client.query(text, values);
      port.postMessage({ rows });
    } catch (error) {
      port.postMessage({ error: error.message });
    }
    Atomics.store(signal, 0, 1);
    Atomics.notify(signal, 0);
  });`;

const WAIT_MS = 20_000;

/** Statements and their rows in one schema. */
export type SyncPostgres = (text: string, values: readonly unknown[]) => unknown[];

interface Connection {
  readonly worker: Worker;
  readonly flag: Int32Array;
}

/** One for each database: a thread takes longer to start than most tests take. */
const connections = new Map<string, Connection>();

/** A parameter is a `?`, as in SQLite; text with several statements has none. */
export function openSyncPostgres(url: string, schema: string): SyncPostgres {
  return (text, values) => {
    const { worker, flag } = connectionTo(url);
    Atomics.store(flag, 0, 0);
    const { port1, port2 } = new MessageChannel();
    let count = 0;
    const numbered = values.length === 0 ? text : text.replaceAll('?', () => `$${(count += 1)}`);
    worker.postMessage({ schema, text: numbered, values, port: port2 }, [port2]);
    Atomics.wait(flag, 0, 0, WAIT_MS);
    const answer = receiveMessageOnPort(port1)?.message as { rows?: unknown[]; error?: string } | undefined;
    port1.close();
    // Several statements have several results.
    if (answer !== undefined && 'rows' in answer) return answer.rows ?? [];
    throw new Error(answer?.error ?? 'PostgreSQL did not answer');
  };
}

function connectionTo(url: string): Connection {
  const known = connections.get(url);
  if (known !== undefined) return known;
  const signal = new SharedArrayBuffer(4);
  const worker = new Worker(PROGRAM, { eval: true, workerData: { url, signal } });
  worker.unref();
  const connection = { worker, flag: new Int32Array(signal) };
  connections.set(url, connection);
  return connection;
}
