// A flood of requests that never end: the daemon drops a part of them and answers again when the others have timed out.
import { connect, type Socket } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { startDaemon, WITH_TOKEN } from '../support/daemon.ts';
import { scene } from '../support/scene.ts';
import { until } from '../support/workspace.ts';

test('health checks are answered again soon after 1,500 half-open requests, of which a part is dropped', async () => {
  const daemon = await startDaemon(await scene({ file: 'mode: plan', service: WITH_TOKEN }));
  const port = Number(new URL(daemon.url).port);
  const sockets: Socket[] = [];
  onTestFinished(() => sockets.forEach((socket) => socket.destroy()));
  const halves = ['', 'GET /metr', 'POST /sign-in HTTP/1.1\r\nHost: x\r\nContent-Length: 50\r\n\r\ntoken='];
  const flood = Array.from({ length: 1500 }, (_, index) => {
    const socket = connect(port, '127.0.0.1', () => socket.write(halves[index % 3] ?? ''));
    sockets.push(socket.on('error', () => undefined));
    return new Promise((resolve) => socket.once('connect', resolve).once('close', resolve));
  });
  await Promise.all(flood);
  const startedMs = performance.now();
  await until('a health check is answered', async () => {
    const reply = await fetch(`${daemon.url}/healthz`, { signal: AbortSignal.timeout(5000) }).catch(
      () => null,
    );
    return reply?.status === 200;
  });
  // Requests without complete headers end after five seconds.
  expect(performance.now() - startedMs).toBeLessThan(10_000);
  const dropped = (await daemon.metrics()).get('rolecall_http_connections_dropped_total') ?? 0;
  expect(dropped).toBeGreaterThanOrEqual(400);
  await daemon.stop();
});
