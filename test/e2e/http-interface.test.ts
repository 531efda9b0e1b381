// The daemon's HTTP interface as a process: its tokens at the start, and what it logs.
import { expect, onTestFinished, test } from 'vitest';
import { type Sandbox, startSandbox } from '../../src/sandbox/sandbox.ts';
import { HTTP_TOKEN, ONCE_A_YEAR, startDaemon } from '../support/daemon.ts';
import { someOf } from '../support/thorough.ts';
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
  const cases = [
    ['long-enough-token-of-me', 'short', 'the token ci of http.tokens has fewer than 16 characters'],
    ['one-token-for-two-names', 'one-token-for-two-names', 'is the same as the token http'],
    ['short-token-123', 'long-enough-token-of-ci', 'http.token has fewer than 16 characters'],
  ] as const;
  for (const [one, other, message] of someOf(cases, 2)) {
    const { status, stderr, stdout } = await workspace.run(['serve'], { env: { ONE: one, OTHER: other } });
    expect({ status, stdout }).toEqual({ status: 1, stdout: '' });
    expect(stderr).toContain(message);
    expect(stderr).not.toContain(one);
    expect(stderr).not.toContain(other === 'short' ? 'short;' : other);
  }
});

test('a token with the role read changes nothing, actions are logged with token and address, and syncs during a run make one more', async () => {
  const workspace = await workspaceWith(
    'http: { listen: 0.0.0.0:0, token: { env: ROLECALL_HTTP_TOKEN }, tokens: [{ name: ci, token: { env: CI }, role: read }], trustedProxies: [127.0.0.1] }',
  );
  const daemon = await startDaemon(workspace, { env: { CI: 'a-token-that-only-looks' } });
  await until('its first run has ended', () => daemon.runsEnded('acme') === 1);
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

  // `validate` warns about a public address without TLS.
  const { status, stdout } = await workspace.run(['validate']);
  expect([status, stdout]).toEqual([
    0,
    expect.stringContaining('sends tokens, sessions and reports unencrypted'),
  ]);

  // Requests during a run cause exactly one more.
  const slow = { match: { method: 'GET' }, times: 1, do: { type: 'latency', ms: 1500 } } as const;
  sandboxOf(workspace).setFaults([slow]);
  const first = await daemon.api('accounts/acme/sync', {});
  await until(
    'the run has started',
    async () => (await daemon.api('accounts/acme')).body['activity'] === 'running',
  );
  const more = await Promise.all([1, 2, 3, 4].map(() => daemon.api('accounts/acme/sync', {})));
  expect([first, ...more].map(({ status }) => status)).toEqual([202, 202, 202, 202, 202]);
  await until('the run that follows has ended', () => daemon.runsEnded('acme') === 3);
  expect((await daemon.api('accounts/acme')).body['activity']).toBe('idle');
  expect(workspace.rows('select trigger from runs')).toEqual([
    { trigger: 'start' },
    { trigger: 'manual' },
    { trigger: 'manual' },
  ]);
  await daemon.stop();
});

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
