// A server on loopback that records its requests and always sends the same response.
import { createServer } from 'node:http';
import { listen } from './loopback.ts';

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
  return { url: await listen(server), requests };
}
