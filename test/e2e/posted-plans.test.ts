// Posted plans that take much to read: refused with a reason, a few at a time, while the daemon answers others.
import { expect, onTestFinished, test } from 'vitest';
import { startSandbox } from '../../src/sandbox/sandbox.ts';
import { readPostedFiles } from '../../src/workers/posted-files.ts';
import { HTTP_TOKEN, ONCE_A_YEAR, startDaemon, WITH_TOKEN } from '../support/daemon.ts';
import { makeWorkspace, writeAccount } from '../support/workspace.ts';

const SERVICE = 'accounts: accounts/*.yaml\n';
const PROGRAM = new URL('../../dist/read-posted-files.js', import.meta.url);

/** Accounts that share a catalog: little to send, much to merge. */
function sharedCatalog(accountCount: number, names = 45_000): string {
  const catalog = `skills:\n${Array.from({ length: names }, (_, index) => `  - n${index}\n`).join('')}`;
  const accounts = Array.from({ length: accountCount }, (_, index) => [
    `accounts/a${index}.yaml`,
    `baseUrl: http://127.0.0.1:1/${index}\ntoken: { env: A${index} }\nextends: [../catalog.yaml]\n`,
  ]);
  const files = { 'rolecall.yaml': SERVICE, 'catalog.yaml': catalog, ...Object.fromEntries(accounts) };
  return JSON.stringify({ config: 'rolecall.yaml', files });
}

async function serve() {
  const sandbox = await startSandbox({ seed: { accounts: [{ name: 'acme', token: 'token-of-acme' }] } });
  onTestFinished(() => sandbox.close());
  const workspace = makeWorkspace('token-of-acme');
  writeAccount(workspace, sandbox.url, `mode: plan\nschedule: ${ONCE_A_YEAR}\nskills: [Go]`, {
    service: WITH_TOKEN,
  });
  const daemon = await startDaemon(workspace);
  const post = async (body: string) => {
    const headers = { authorization: `Bearer ${HTTP_TOKEN}`, 'content-type': 'application/json' };
    const reply = await fetch(`${daemon.url}/api/v1/plan`, { method: 'POST', headers, body });
    return { status: reply.status, retryAfter: reply.headers.get('retry-after'), text: await reply.text() };
  };
  return { daemon, post };
}

test('of twelve large posted plans at once some are put off, and health checks are answered meanwhile', async () => {
  const { daemon, post } = await serve();
  const body = sharedCatalog(2, 5000);
  let worstMs = 0;
  let isDone = false;
  const probing = (async () => {
    while (!isDone) {
      const startedMs = performance.now();
      expect((await daemon.get('/healthz')).status).toBe(200);
      worstMs = Math.max(worstMs, performance.now() - startedMs);
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  })();
  const replies = await Promise.all(Array.from({ length: 12 }, () => post(body))).finally(
    () => (isDone = true),
  );
  await probing;
  // A quarter of a second on a quiet machine; the tests beside this one take the processors.
  expect(worstMs).toBeLessThan(1500);
  const made = replies.filter(({ status }) => status === 200);
  const putOff = replies.filter(({ status }) => status === 503);
  expect([made.length + putOff.length, made.length >= 6, putOff.length > 0]).toEqual([12, true, true]);
  for (const { retryAfter, text } of putOff) {
    expect([retryAfter, JSON.parse(text)]).toMatchObject(['10', { error: { code: 'busy' } }]);
  }
  await daemon.stop();
});

test('posted accounts with too many names together are refused with the reason', async () => {
  const { daemon, post } = await serve();
  const { status, text } = await post(sharedCatalog(8));
  expect([status, text]).toEqual([
    400,
    expect.stringMatching(/more than 300000 names together|takes too long/),
  ]);
  await daemon.stop();
});

test('a posted body that fills the memory of its reader is refused, and the daemon lives on', async () => {
  const { daemon, post } = await serve();
  const { status, text } = await post(`[${'[{}],'.repeat(3_300_000)}[]]`);
  expect([status, text]).toEqual([
    400,
    expect.stringMatching(/more memory than one plan may take|takes too long/),
  ]);
  expect((await daemon.get('/healthz')).status).toBe(200);
  await daemon.stop();
});

test('reading posted files ends at its deadline, also within one file', async () => {
  const startedMs = performance.now();
  const reading = readPostedFiles(Buffer.from(sharedCatalog(2)), { limitMs: 20, program: PROGRAM });
  await expect(reading).rejects.toThrow(
    'reading the posted files takes too long; post fewer or smaller files',
  );
  expect(performance.now() - startedMs).toBeLessThan(5000);
});

test('an end of the reader that is not a lack of memory is not reported as one', async () => {
  const program = new URL('../support/ends-at-once.mjs', import.meta.url);
  const reading = readPostedFiles(Buffer.from('{}'), { program });
  await expect(reading).rejects.toThrow('ended without an answer (status 3)');
});

test('posted files are passed on one account at a time, and files with errors are named', async () => {
  const files = {
    'rolecall.yaml': `${SERVICE}regions: { eu: "https://eu.example.com" }\n`,
    'accounts/good.yaml': 'region: eu\ntoken: { env: A }\nskills: [Go]\n',
    'accounts/bad.yaml': 'region: eu\ntoken: { env: B }\nskils: [Go]\n',
  };
  const body = Buffer.from(JSON.stringify({ config: 'rolecall.yaml', files }));
  const read = await readPostedFiles(body, { program: PROGRAM });
  if ('problem' in read) throw new Error(read.problem);
  onTestFinished(() => read.close());
  expect(read.names).toEqual(['bad', 'good']);
  const [bad, good, none] = await Promise.all(['bad', 'good', 'none'].map((name) => read.account(name)));
  expect(bad?.failure).toMatchObject({ code: 'config_invalid', message: expect.stringContaining('skils') });
  expect(good?.settings).toMatchObject({ name: 'good', baseUrl: 'https://eu.example.com' });
  expect([none?.settings, none?.failure]).toEqual([undefined, undefined]);
  const wrong = await readPostedFiles(Buffer.from('{'), { program: PROGRAM });
  expect(wrong).toEqual({ problem: 'the body is not JSON' });
});
