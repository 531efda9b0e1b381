// A service that requests a pause (Retry-After) receives nothing before its end, whatever command is run.
import { createServer } from 'node:http';
import { expect, test } from 'vitest';
import { startDaemon } from '../support/daemon.ts';
import { listen } from '../support/loopback.ts';
import { costly } from '../support/thorough.ts';
import { makeWorkspace, until, type Workspace, writeAccount } from '../support/workspace.ts';

interface Throttling extends Workspace {
  /** How many requests arrived. */
  requests(): number;
}

/** An account whose service answers every request with 503 and `Retry-After: 3600`. */
async function throttling(): Promise<Throttling> {
  let requests = 0;
  const server = createServer((request, response) => {
    requests += 1;
    request.resume();
    response.writeHead(503, { 'retry-after': '3600' }).end('{"detail":"at night nobody works"}');
  });
  const workspace = makeWorkspace('token-of-acme');
  writeAccount(workspace, await listen(server), 'skills: [Go]', {
    service: 'http: { listen: 127.0.0.1:0 }',
  });
  return { ...workspace, requests: () => requests };
}

const ACCEPTING = [['plan'], ['apply', '--yes'], ['dump', 'acme']];
const COMMANDS = [...ACCEPTING, ['validate', '--online'], ['who', '--live']];

test('every command obeys a Retry-After that a run received', async () => {
  const account = await throttling();
  await account.run(['plan']);
  const sent = account.requests();
  expect(sent).toBeGreaterThan(0);
  for (const result of await Promise.all(COMMANDS.map((command) => account.run(command)))) {
    expect(result.status).toBe(1);
    expect(`${result.stdout}${result.stderr}`).toContain('requested a pause until');
    expect(`${result.stdout}${result.stderr}`).toContain('--accept retry_after');
  }
  expect(account.requests()).toBe(sent);
});

test('a run obeys a Retry-After that another command received', async () => {
  const account = await throttling();
  await account.run(['plan']);
  for (const command of [
    ['validate', '--online'],
    ['who', '--live'],
    ['dump', 'acme'],
  ]) {
    account.execute('update accounts set throttled_until = null');
    const before = account.requests();
    expect([command, (await account.run(command)).status]).toEqual([command, 1]);
    const sent = account.requests();
    expect(sent).toBeGreaterThan(before);
    expect((await account.run(['plan'])).stdout).toContain('requested a pause until');
    expect(account.requests()).toBe(sent);
  }
});

test('plan, apply and dump with --accept retry_after send requests before the end of a Retry-After', async () => {
  const account = await throttling();
  await account.run(['plan']);
  const before = account.requests();
  const results = await Promise.all(
    ACCEPTING.map((command) => account.run([...command, '--accept', 'retry_after'])),
  );
  expect(results.map(({ stdout, stderr }) => `${stdout}${stderr}`.includes('nothing was sent ('))).toEqual(
    ACCEPTING.map(() => false),
  );
  expect(account.requests() - before).toBeGreaterThanOrEqual(ACCEPTING.length);
});

costly('a daemon obeys a stored Retry-After', async () => {
  const account = await throttling();
  await account.run(['plan']);
  const sent = account.requests();
  const obeying = await startDaemon(account);
  await until('the run has ended', () => obeying.runsEnded('acme') > 0);
  expect(account.requests()).toBe(sent);
  await obeying.stop();
});
