// What the overview of many accounts costs a browser: `npm run bench:overview -- --accounts 10000`. Prints the bytes of the
// first visit and of the next, and the milliseconds until the first paint and until the server's first byte, in medians.
import { parseArgs } from 'node:util';
import type { BrowserContext } from 'playwright-core';
import { startFleet } from '../browser/fleet.ts';
import { signIn } from '../browser/sign-in.ts';
import { launchBrowser } from '../support/browser.ts';

const { values } = parseArgs({
  options: {
    accounts: { type: 'string', default: '10000' },
    visits: { type: 'string', default: '7' },
    path: { type: 'string', default: '/' },
  },
});

interface Visit {
  readonly bytes: number;
  readonly requests: number;
  readonly firstByteMs: number;
  readonly firstPaintMs: number;
}

async function visit(context: BrowserContext): Promise<Visit> {
  const page = await context.newPage();
  const session = await context.newCDPSession(page);
  await session.send('Network.enable');
  let bytes = 0;
  let requests = 0;
  session.on('Network.loadingFinished', ({ encodedDataLength }) => {
    bytes += encodedDataLength;
    requests += 1;
  });
  await page.goto(values.path);
  const times = await page.evaluate<readonly [number, number]>(TIMES);
  await page.close();
  return { bytes, requests, firstByteMs: times[0], firstPaintMs: times[1] };
}

const TIMES = `new Promise((resolve) => {
  const read = () => {
    const [page] = performance.getEntriesByType('navigation');
    const paint = performance.getEntriesByName('first-contentful-paint')[0];
    if (paint === undefined) setTimeout(read, 10);
    else resolve([page.responseStart, paint.startTime]);
  };
  read();
})`;

function median(numbers: readonly number[]): number {
  return numbers.toSorted((a, b) => a - b)[Math.floor(numbers.length / 2)] ?? 0;
}

function line(label: string, visits: readonly Visit[]): string {
  const of = (read: (visit: Visit) => number): string =>
    Math.round(median(visits.map(read))).toLocaleString('en');
  return `${label}: ${of(({ bytes }) => bytes)} bytes in ${of(({ requests }) => requests)} requests, first byte ${of(({ firstByteMs }) => firstByteMs)} ms, first paint ${of(({ firstPaintMs }) => firstPaintMs)} ms`;
}

const fleet = await startFleet(Number(values.accounts));
const browser = await launchBrowser();

/** A window with an empty cache, and with a session from the second one on. */
async function openContext(state?: SessionState): Promise<BrowserContext> {
  const options = state === undefined ? {} : { storageState: state };
  const context = await browser.newContext({ baseURL: fleet.url, ...options });
  context.setDefaultTimeout(180_000);
  return context;
}

type SessionState = Awaited<ReturnType<BrowserContext['storageState']>>;

const signedIn = await openContext();
await signIn(await signedIn.newPage(), '/sign-in');
const session = await signedIn.storageState();
const first: Visit[] = [];
const next: Visit[] = [];
for (let count = 0; count < Number(values.visits); count += 1) {
  const context = await openContext(session);
  first.push(await visit(context));
  next.push(await visit(context));
  await context.close();
}
await browser.close();
await fleet.close();
console.log(
  `${values.path} of ${Number(values.accounts).toLocaleString('en')} accounts, ${values.visits} visits`,
);
console.log(line('first visit', first));
console.log(line('next visit ', next));
