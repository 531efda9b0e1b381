// plan --server against servers that are not a daemon: only valid plans are accepted.
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import { planRemotely } from '../../../src/cli/remote-plan.ts';
import type { PlanResult } from '../../../src/core/plan.ts';
import { planText } from '../../support/plan-text.ts';
import { startRecorder } from '../../support/recorder.ts';
import { makeWorkspace, writeAccount } from '../../support/workspace.ts';

const HTTP_TOKEN = 'token-of-the-interface';

beforeEach(() => void (process.env['ROLECALL_HTTP_TOKEN'] = HTTP_TOKEN));
afterEach(() => void delete process.env['ROLECALL_HTTP_TOKEN']);

async function planFrom(server: string): Promise<readonly PlanResult[]> {
  return (await answerFrom(server)).plans;
}

async function answerFrom(server: string) {
  const workspace = makeWorkspace('token-of-acme');
  writeAccount(workspace, 'http://127.0.0.1:1', 'skills: [Go]');
  const context = {
    version: '0.1.0',
    configFile: join(workspace.folder, 'config/rolecall.yaml'),
  };
  return await planRemotely(context, [], server);
}

const NO_PLANS: readonly (readonly [string, number, string])[] = [
  ['a page', 200, '<html>It works!</html>'],
  ['nothing', 200, ''],
  ['an object', 200, '{"schemaVersion":1,"account":"acme","status":"planned"}'],
  ['a list of something else', 200, '[1, null, "plan"]'],
  ['a plan without its parts', 200, '[{"schemaVersion":1,"account":"acme","status":"planned"}]'],
  ['a plan of another version', 200, '[{"schemaVersion":2,"account":"acme","operations":[]}]'],
  ['a plan whose parts are of another type', 200, planText({ operations: [{ action: 'burn' }] })],
  ['a plan with a part too many', 200, planText({ script: '<script>' })],
  [
    'a failure without a message',
    200,
    '[{"schemaVersion":1,"account":"acme","status":"failed","error":null}]',
  ],
  ['larger than any plan', 200, `["${'x'.repeat(65 * 1024 * 1024)}"]`],
  ['a proxy’s error', 502, '<html>Bad gateway</html>'],
  ['a success without a body', 204, ''],
];

describe('plan --server', () => {
  test.each(NO_PLANS)('rejects a response that is %s', async (_, status, text) => {
    const impostor = await startRecorder(status, text);
    await expect(planFrom(impostor.url)).rejects.toMatchObject({
      name: 'ServiceError',
      message: expect.stringMatching(/^the daemon at /),
    });
    expect(impostor.requests).toHaveLength(1);
  });

  test('names the proxy that opens no tunnel', async () => {
    vi.stubEnv('https_proxy', '127.0.0.1:1');
    onTestFinished(() => void vi.unstubAllEnvs());
    const proxy = 'the proxy 127.0.0.1:1 (https_proxy) opened no tunnel (ECONNREFUSED)';
    await expect(planFrom('https://daemon.test')).rejects.toThrow(
      `the daemon at daemon.test does not respond with plans (${proxy})`,
    );
  });

  test('accepts a response that is a list of plans', async () => {
    const impostor = await startRecorder(200, planText({}));
    expect(await planFrom(impostor.url)).toMatchObject([{ account: 'acme', status: 'planned' }]);
  });

  test('links to the pages of the daemon, without the query of its address', async () => {
    const { url } = await startRecorder(200, planText({}));
    expect(await answerFrom(`${url}/team/?key=s3cr3t#x`)).toMatchObject({
      links: { publicUrl: `${url}/team` },
    });
  });

  test('reports an account that the response lacks as failed', async () => {
    const impostor = await startRecorder(200, '[]');
    expect(await planFrom(impostor.url)).toMatchObject([{ account: 'acme', status: 'failed' }]);
  });

  test('stops reading an endless response', async () => {
    const server = createServer((_, response) => {
      const send = (): void => {
        // A failed write calls back at once; to write again then would block the event loop forever.
        response.write('x'.repeat(1024 * 1024), (error) => (error ? undefined : setImmediate(send)));
      };
      send();
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    onTestFinished(() => {
      server.close();
      server.closeAllConnections();
    });
    const { port } = server.address() as AddressInfo; // a TCP server that listens has an AddressInfo
    await expect(planFrom(`http://127.0.0.1:${port}`)).rejects.toThrow('64 MiB');
  });

  test.each([301, 302, 303, 307, 308])(
    'does not follow a redirect (%i), which would send the token elsewhere',
    async (status) => {
      const elsewhere = await startRecorder();
      const redirecting = await startRecorder(status, '', { location: `${elsewhere.url}/api/v1/plans` });
      await expect(planFrom(redirecting.url)).rejects.toThrow(String(status));
      expect(redirecting.requests).toHaveLength(1);
      expect(redirecting.requests[0]).toContain(HTTP_TOKEN);
      expect(elsewhere.requests).toEqual([]);
    },
  );
});

test('plan --server without a token says what the daemon needs, and sends nothing', async () => {
  delete process.env['ROLECALL_HTTP_TOKEN'];
  const server = await startRecorder(200, '[]');
  await expect(planFrom(server.url)).rejects.toMatchObject({
    name: 'UsageError',
    message: expect.stringMatching(
      /set ROLECALL_HTTP_TOKEN.*A daemon without tokens refuses.*http\.token.*without --server/u,
    ),
  });
  expect(server.requests).toEqual([]);
});
