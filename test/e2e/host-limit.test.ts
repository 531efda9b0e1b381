// `hostConcurrency` limits the requests to an address, including those of accounts that run in their own processes.
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { EVERY_SECOND, startDaemon, WITH_TOKEN } from '../support/daemon.ts';
import { listen } from '../support/loopback.ts';
import { makeWorkspace, until } from '../support/workspace.ts';

const SMALL = ['one', 'two', 'three', 'four'];
const LIMIT = 2;

interface Counting {
  readonly url: string;
  /** The most requests that were under way at once since a request of the large account came. */
  most(): number;
  /** How many requests the large account has sent. */
  ofLarge(): number;
}

/** A service that answers slowly; the account `large` has many skills, the others have none. */
async function slowService(): Promise<Counting> {
  let underWay = 0;
  let most = 0;
  let ofLarge = 0;
  const server = createServer((request, response) => void answer(request, response));

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const name = request.headers.authorization?.replace('Bearer token-of-', '') ?? '';
    const isLarge = name === 'large';
    if (isLarge) ofLarge += 1;
    underWay += 1;
    most = Math.max(most, underWay);
    await sleep(50);
    const count = isLarge && request.url?.endsWith('/skill') === true ? 2500 : 1;
    const items = Array.from({ length: count }, (_, index) => ({
      _id: `${name}-${index}`,
      name: `${request.url ?? ''} ${index}`,
      accountId: name,
    }));
    underWay -= 1;
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(items));
  }
  return { url: await listen(server), most: () => most, ofLarge: () => ofLarge };
}

test('requests of a large account count against the hostConcurrency of its address', async () => {
  const service = await slowService();
  const workspace = makeWorkspace('unused');
  workspace.write(
    'config/rolecall.yaml',
    [
      'accounts: accounts/*.yaml',
      'store: ../data/rolecall.db',
      `api: { requestsPerSecond: 1000, timeout: 20s, settle: 21s, recheck: 20ms, hostConcurrency: ${LIMIT}, concurrency: ${LIMIT} }`,
      `defaults: { mode: plan, schedule: ${EVERY_SECOND}, jitter: 0s }`,
      WITH_TOKEN,
      '',
    ].join('\n'),
  );
  const names = ['large', ...SMALL];
  for (const name of names) {
    const lines = [
      `baseUrl: ${service.url}`,
      `token: { env: TOKEN_${name.toUpperCase()} }`,
      'skills: [Go]',
      '',
    ];
    workspace.write(`config/accounts/${name}.yaml`, lines.join('\n'));
  }
  const env = Object.fromEntries(names.map((name) => [`TOKEN_${name.toUpperCase()}`, `token-of-${name}`]));
  const daemon = await startDaemon(workspace, { env });
  // Its process has a low priority, so it is slow where other tests need the processors.
  await until(
    'the large account ran in its process',
    () => daemon.runsEnded('large', 'planned') >= 3,
    60_000,
  );
  await until('the small accounts ran meanwhile', () =>
    SMALL.every((name) => daemon.runsEnded(name, 'planned') >= 3),
  );
  await daemon.stop();
  expect(daemon.events('large_account', 'large')).toHaveLength(1);
  expect(service.ofLarge()).toBeGreaterThan(6);
  expect(service.most()).toBe(LIMIT);
}, 90_000);
