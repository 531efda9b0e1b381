// Posted plans that are expensive to read: a few at a time or refused with a reason, while the daemon answers others.
import { expect, onTestFinished, test } from 'vitest';
import { startSandbox } from '../../src/sandbox/sandbox.ts';
import { readPostedFiles } from '../../src/cli/daemon-source.ts';
import { HTTP_TOKEN, ONCE_A_YEAR, startDaemon, WITH_TOKEN } from '../support/daemon.ts';
import { makeWorkspace, TOKEN_VARIABLE, writeAccount } from '../support/workspace.ts';

const SERVICE = 'accounts: accounts/*.yaml\n';

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
  return { daemon, post, sandbox };
}

test('of twelve large posted plans at once some are refused as busy, and health checks are answered meanwhile', async () => {
  const { daemon, post, sandbox } = await serve();
  // The plan of acme takes so long that the other bodies arrive meanwhile.
  sandbox.setSettings({ latencyMs: 300 });
  const posted = JSON.parse(sharedCatalog(2, 1000)) as { files: Record<string, string> };
  posted.files['accounts/acme.yaml'] =
    `baseUrl: ${sandbox.url}\ntoken: { env: ${TOKEN_VARIABLE} }\nskills: [Go]\n`;
  const body = JSON.stringify(posted);
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
  // A quarter of a second on a quiet machine; other tests use the processors at the same time.
  expect(worstMs).toBeLessThan(1500);
  const planned = replies.filter(({ status }) => status === 200);
  const busy = replies.filter(({ status }) => status === 503);
  expect([planned.length + busy.length, planned.length >= 6, busy.length > 0]).toEqual([12, true, true]);
  for (const { retryAfter, text } of busy) {
    expect([retryAfter, JSON.parse(text)]).toMatchObject(['10', { error: { code: 'busy' } }]);
  }
  await daemon.stop();
});

test('posted accounts with too many names together, and a body of too many parts, are refused with the reason', async () => {
  const { daemon, post } = await serve();
  const { status, text } = await post(sharedCatalog(4, 19_000));
  expect([status, text]).toEqual([400, expect.stringContaining('more than 60000 names together')]);
  const parts = await post(`[${'[{}],'.repeat(1_000_000)}[]]`);
  expect([parts.status, parts.text]).toEqual([400, expect.stringContaining('too many objects and lists')]);
  await daemon.stop();
});

test('the reader of posted files returns each account, and names files with errors', async () => {
  const files = {
    'rolecall.yaml': `${SERVICE}regions: { eu: "https://eu.example.com" }\n`,
    'accounts/good.yaml': 'region: eu\ntoken: { env: A }\nskills: [Go]\n',
    'accounts/bad.yaml': 'region: eu\ntoken: { env: B }\nskils: [Go]\n',
  };
  const body = Buffer.from(JSON.stringify({ config: 'rolecall.yaml', files }));
  const read = await readPostedFiles(body);
  if ('problem' in read) throw new Error(read.problem);
  expect(read.names).toEqual(['bad', 'good']);
  const [bad, good, none] = ['bad', 'good', 'none'].map((name) => read.account(name));
  expect(bad?.failure).toMatchObject({ code: 'config_invalid', message: expect.stringContaining('skils') });
  expect(good?.settings).toMatchObject({ name: 'good', baseUrl: 'https://eu.example.com' });
  expect([none?.settings, none?.failure]).toEqual([undefined, undefined]);
  const wrong = await readPostedFiles(Buffer.from('{'));
  expect(wrong).toEqual({ problem: 'the body is not JSON' });
});
