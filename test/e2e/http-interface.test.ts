// The daemon's HTTP interface as a process: its tokens at the start, what it logs, and TLS.
import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { request } from 'node:https';
import { join } from 'node:path';
import { connect as connectTls } from 'node:tls';
import { expect, onTestFinished, test } from 'vitest';
import { type Sandbox, startSandbox } from '../../src/sandbox/sandbox.ts';
import { HTTP_TOKEN, ONCE_A_YEAR, startDaemon } from '../support/daemon.ts';
import { makeWorkspace, until, type Workspace, writeAccount } from '../support/workspace.ts';

const ACCOUNT = `mode: plan\nschedule: ${ONCE_A_YEAR}\nskills: [Go]`;

const sandboxes = new Map<Workspace, Sandbox>();

function sandboxOf(workspace: Workspace): Sandbox {
  const sandbox = sandboxes.get(workspace);
  if (sandbox === undefined) throw new Error('the workspace has no sandbox');
  return sandbox;
}

async function workspaceWith(http: string): Promise<Workspace> {
  const sandbox = await startSandbox({ seed: { accounts: [{ name: 'acme', token: 'token-of-acme' }] } });
  onTestFinished(() => sandbox.close());
  const workspace = makeWorkspace('token-of-acme');
  sandboxes.set(workspace, sandbox);
  writeAccount(workspace, sandbox.url, ACCOUNT, { service: http });
  return workspace;
}

const TWO_TOKENS =
  'http: { listen: 127.0.0.1:0, token: { env: ONE }, tokens: [{ name: ci, token: { env: OTHER }, role: read }] }';

test('the daemon does not start with a token that is too short or configured twice', async () => {
  const workspace = await workspaceWith(TWO_TOKENS);
  for (const [one, other, message] of [
    ['short-token-123', 'long-enough-token-of-ci', 'http.token has fewer than 16 characters'],
    ['long-enough-token-of-me', 'short', 'the token ci of http.tokens has fewer than 16 characters'],
    ['one-token-for-two-names', 'one-token-for-two-names', 'is the same as the token http'],
  ] as const) {
    const { status, stderr, stdout } = await workspace.run(['serve'], { env: { ONE: one, OTHER: other } });
    expect({ status, stdout }).toEqual({ status: 1, stdout: '' });
    expect(stderr).toContain(message);
    expect(stderr).not.toContain(one);
    expect(stderr).not.toContain(other === 'short' ? 'short;' : other);
  }
});

test('a token with the role read changes nothing, actions are logged with token and address, and syncs during a run make one more', async () => {
  const workspace = await workspaceWith(
    'http: { listen: 0.0.0.0:0, token: { env: ROLECALL_HTTP_TOKEN }, tokens: [{ name: ci, token: { env: CI }, role: read }], trustedProxies: [127.0.0.1] }\ndaemon: { runOnStart: false }',
  );
  const daemon = await startDaemon(workspace, { env: { CI: 'a-token-that-only-looks' } });
  const send = async (path: string, token: string, method = 'POST') => {
    const type = { 'content-type': 'application/json' };
    const headers = { ...type, authorization: `Bearer ${token}`, 'x-forwarded-for': '192.0.2.7' };
    return (await fetch(`${daemon.url}${path}`, { method, headers })).status;
  };
  expect(await send('/api/v1/accounts', 'a-token-that-only-looks', 'GET')).toBe(200);
  expect(await send('/api/v1/accounts/acme/pause', 'a-token-that-only-looks')).toBe(403);
  expect(workspace.rows('select name from accounts where paused = 1')).toEqual([]);
  expect(await send('/api/v1/accounts/acme/pause', HTTP_TOKEN)).toBe(200);
  expect(await send('/api/v1/accounts', 'a-token-that-is-nobodys', 'GET')).toBe(401);
  await expect
    .poll(() => daemon.events('operator_action'))
    .toMatchObject([
      { account: 'acme', action: 'pause', by: 'http', address: '192.0.2.7', outcome: 'paused' },
    ]);
  await expect.poll(() => daemon.events('wrong_token')).toMatchObject([{ address: '192.0.2.7' }]);
  expect((await daemon.metrics()).get('rolecall_http_wrong_tokens_total')).toBe(1);

  // The daemon and `validate` warn about a public address without TLS.
  await expect.poll(() => daemon.events('without_tls')).toHaveLength(1);
  const { status, stdout } = await workspace.run(['validate']);
  expect([status, stdout]).toEqual([
    0,
    expect.stringContaining('sends tokens, sessions and reports unencrypted'),
  ]);

  // Requests during a run cause exactly one more.
  const slow = { match: { method: 'GET' }, times: 3, do: { type: 'latency', ms: 1500 } } as const;
  sandboxOf(workspace).setFaults([slow]);
  const first = await daemon.api('accounts/acme/sync', {});
  await until(
    'the run has started',
    async () => (await daemon.api('accounts/acme')).body['activity'] === 'running',
  );
  const more = await Promise.all([1, 2, 3, 4].map(() => daemon.api('accounts/acme/sync', {})));
  expect([first, ...more].map(({ status }) => status)).toEqual([202, 202, 202, 202, 202]);
  await until('the run that follows has ended', () => daemon.runsEnded('acme') === 2);
  expect((await daemon.api('accounts/acme')).body['activity']).toBe('idle');
  expect(workspace.rows('select trigger from runs')).toEqual([{ trigger: 'manual' }, { trigger: 'manual' }]);
  await daemon.stop();
});

function hasOpenssl(): boolean {
  try {
    execFileSync('openssl', ['version']);
    return true;
  } catch {
    return false;
  }
}

/** Writes a certificate for localhost with its key. */
function writeCertificate(folder: string, name: string): void {
  mkdirSync(folder, { recursive: true });
  const [cert, key] = [join(folder, 'cert.pem'), join(folder, 'key.pem')];
  const what = ['-subj', `/CN=${name}`, '-addext', 'subjectAltName=IP:127.0.0.1', '-days', '2'];
  const kind = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes'];
  execFileSync('openssl', ['req', '-x509', ...kind, '-keyout', key, '-out', cert, ...what], {
    stdio: 'ignore',
  });
}

test.skipIf(!hasOpenssl())(
  'the daemon serves TLS, and uses a new certificate after SIGHUP if it is valid (needs openssl)',
  async () => {
    const workspace = await workspaceWith(
      'http: { listen: 127.0.0.1:0, token: { env: ROLECALL_HTTP_TOKEN }, tls: { cert: ../tls/cert.pem, key: ../tls/key.pem } }',
    );
    const folder = join(workspace.folder, 'tls');
    writeCertificate(folder, 'first');
    const daemon = await startDaemon(workspace);
    expect(daemon.url).toMatch(/^https:/);
    const port = Number(new URL(daemon.url).port);
    const subject = (): Promise<string> =>
      new Promise((resolve, reject) => {
        const socket = connectTls({ port, host: '127.0.0.1', rejectUnauthorized: false }, () => {
          resolve(String(socket.getPeerCertificate().subject.CN));
          socket.destroy();
        });
        socket.on('error', reject);
      });
    const ask = (path: string, method = 'GET', body = '', headers = {}) =>
      new Promise<{ status: number; cookie: string }>((resolve, reject) => {
        const options = { host: '127.0.0.1', port, path, method, headers, rejectUnauthorized: false };
        const sent = request(options, (reply) => {
          reply.resume().on('end', () => {
            resolve({ status: reply.statusCode ?? 0, cookie: reply.headers['set-cookie']?.join() ?? '' });
          });
        });
        sent.on('error', reject).end(body);
      });
    expect(await subject()).toBe('first');
    expect(await ask('/healthz')).toMatchObject({ status: 200 });
    const signedIn = await ask('/sign-in', 'POST', `token=${HTTP_TOKEN}`, {
      origin: `https://127.0.0.1:${port}`,
      host: `127.0.0.1:${port}`,
      'content-type': 'application/x-www-form-urlencoded',
    });
    expect(signedIn).toMatchObject({ status: 303, cookie: expect.stringMatching(/^__Host-.*; Secure/) });

    // A connection that stays open through the change.
    const open = connectTls({ port, host: '127.0.0.1', rejectUnauthorized: false });
    onTestFinished(() => void open.destroy());
    await new Promise((resolve) => open.once('secureConnect', resolve));
    writeCertificate(folder, 'second');
    daemon.process.kill('SIGHUP');
    await until('the new certificate is used', () => daemon.events('tls_reloaded').length === 1);
    expect(await subject()).toBe('second');
    open.write('GET /healthz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n');
    const answer = await new Promise((resolve) => open.once('data', (bytes) => resolve(bytes.toString())));
    expect(answer).toMatch(/^HTTP\/1\.1 200 /);

    writeFileSync(join(folder, 'cert.pem'), 'this is no certificate');
    daemon.process.kill('SIGHUP');
    await until('the bad certificate is reported', () => daemon.events('tls_reload_failed').length === 1);
    expect(await subject()).toBe('second');
    await daemon.stop();
  },
);

test.skipIf(!hasOpenssl())(
  'a certificate that does not belong to its key is refused at the start (needs openssl)',
  async () => {
    const workspace = await workspaceWith(
      'http: { listen: 127.0.0.1:0, tls: { cert: ../a/cert.pem, key: ../b/key.pem } }',
    );
    for (const name of ['a', 'b']) writeCertificate(join(workspace.folder, name), name);
    const mixed = await workspace.run(['serve']);
    expect(mixed.status).toBe(64);
    expect(mixed.stderr).toContain('http.tls: the certificate and the key cannot be used together');
  },
);

test('serve exits 1 with the address and a remedy when another program listens there', async () => {
  const workspace = await workspaceWith('http: { listen: 127.0.0.1:0 }');
  const { host } = new URL(sandboxOf(workspace).url);
  writeAccount(workspace, sandboxOf(workspace).url, ACCOUNT, { service: `http: { listen: ${host} }` });
  expect(await workspace.run(['serve'])).toMatchObject({
    status: 1,
    stdout: '',
    stderr: expect.stringContaining(
      `error: another program listens on ${host} (EADDRINUSE); stop it, or set another http.listen`,
    ),
  });
});
