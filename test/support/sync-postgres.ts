// Runs statements on PostgreSQL and waits for their rows without a promise, for fixtures that read SQLite directly.
import { MessageChannel, receiveMessageOnPort, Worker } from 'node:worker_threads';

const PROGRAM = `
  const { parentPort, workerData } = require('node:worker_threads');
  const pg = require('pg');
  const signal = new Int32Array(workerData.signal);
  pg.types.setTypeParser(20, Number);
  pg.types.setTypeParser(1700, Number);
  const client = new pg.Client({ connectionString: workerData.url });
  const ready = client.connect().then(() => client.query('set search_path to ' + workerData.schema));
  parentPort.on('message', async ({ text, values, port }) => {
    try {
      await ready;
      const { rows } = await client.query(text, values);
      port.postMessage({ rows });
    } catch (error) {
      port.postMessage({ error: error.message });
    }
    Atomics.store(signal, 0, 1);
    Atomics.notify(signal, 0);
  });`;

export interface SyncPostgres {
  rows(text: string, values: readonly unknown[]): unknown[];
  close(): Promise<void>;
}

/** Opens one connection. A parameter is a \`?\`, as in SQLite. */
export function openSyncPostgres(url: string, schema: string): SyncPostgres {
  const signal = new SharedArrayBuffer(4);
  const flag = new Int32Array(signal);
  const worker = new Worker(PROGRAM, { eval: true, workerData: { url, schema, signal } });
  return {
    rows(text, values) {
      Atomics.store(flag, 0, 0);
      const { port1, port2 } = new MessageChannel();
      let count = 0;
      const numbered = text.replaceAll('?', () => `$${(count += 1)}`);
      worker.postMessage({ text: numbered, values, port: port2 }, [port2]);
      Atomics.wait(flag, 0, 0, 10_000);
      const answer = receiveMessageOnPort(port1)?.message as { rows?: unknown[]; error?: string } | undefined;
      port1.close();
      if (answer?.rows === undefined) throw new Error(answer?.error ?? 'PostgreSQL did not answer');
      return answer.rows;
    },
    close: async () => void (await worker.terminate()),
  };
}
