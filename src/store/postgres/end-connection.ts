// Ends a connection to PostgreSQL.
import { sleep } from '../../system/clock.ts';

/** A connection to a machine that is lost does not answer its end. */
const END_MS = 1000;

interface Connection {
  end(): Promise<void>;
  readonly connection: { readonly stream: { destroy(): unknown } };
}

/** Never rejects. Closes a connection whose end the server has not answered within a second: it keeps the process alive. */
export async function endConnection(
  client: Connection,
  ending: Promise<unknown> = client.end(),
): Promise<void> {
  const ended = new AbortController();
  const end = (): void => ended.abort();
  ending.then(end, end);
  await sleep(END_MS, ended.signal);
  client.connection.stream.destroy();
}
