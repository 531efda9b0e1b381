// A client of bench:daemon, in a thread of its own, so that reading a large answer does not delay the clock of another
// client: requests one path repeatedly, and posts the milliseconds of each request at the end.
import { parentPort, workerData } from 'node:worker_threads';

const { address, seconds, until } = workerData;
const took = [];
while (Date.now() < until) {
  const startedAt = performance.now();
  const response = await fetch(address, { headers: { 'accept-encoding': 'gzip' } });
  await response.arrayBuffer();
  took.push(performance.now() - startedAt);
  await new Promise((resolve) =>
    setTimeout(resolve, Math.max(0, Math.min(seconds * 1000, until - Date.now()))),
  );
}
parentPort.postMessage(took);
