// A server on loopback that keeps what it is asked, and always answers the same.
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { onTestFinished } from 'vitest';

export interface Recorder {
  readonly url: string;
  /** What has arrived: method, path and headers. */
  readonly requests: string[];
}

/** A started recorder; it ends with the test. */
export async function startRecorder(
  status = 200,
  text = '[]',
  headers: Readonly<Record<string, string>> = {},
): Promise<Recorder> {
  const requests: string[] = [];
  const server = createServer((request, response) => {
    requests.push(`${request.method} ${request.url} ${JSON.stringify(request.headers)}`);
    request.resume();
    request.on('end', () => response.writeHead(status, headers).end(text));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.close();
    server.closeAllConnections();
  });
  const { port } = server.address() as AddressInfo; // a TCP server that listens has an AddressInfo
  return { url: `http://127.0.0.1:${port}`, requests };
}
