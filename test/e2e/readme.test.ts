// The README's first steps: its commands, its files and the plan that it shows, which is that of the demo too.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { demoSeed } from '../../src/sandbox/seed.ts';
import { startSandbox } from '../../src/sandbox/sandbox.ts';
import { freePort } from '../support/loopback.ts';
import { planOfAcme, README, README_PLAN, shown, shownFile } from '../support/root-readme.ts';
import { makeWorkspace, until } from '../support/workspace.ts';

test('the first steps of the README lead from a sandbox to an approved plan, which is the one that it shows', async () => {
  const workspace = makeWorkspace('unused');
  const port = String(await freePort());
  const env = { ROLECALL_SANDBOX_TOKEN: 'sandbox-token-1', ROLECALL_HTTP_TOKEN: 'only-to-try-rolecall' };
  const rolecall = (command: string) => workspace.run(command.split(' ').slice(1), { env });
  const started = await rolecall(`rolecall init --sandbox --port ${port}`);
  expect(started.stdout.replaceAll(`${workspace.folder}/`, '')).toContain(
    shown('rolecall init --sandbox').output,
  );
  const seed = shown('rolecall sandbox').command.split(' ').at(-1) ?? '';
  const sandbox = workspace.start(['sandbox', '--seed', join(workspace.folder, seed), '--port', port]);
  await until('the sandbox listens', () => sandbox.output().stdout.includes('listens at'));
  expect((await rolecall('rolecall plan acme')).stdout).toContain(shown('rolecall plan acme').output);

  workspace.write('config/accounts/acme.yaml', shownFile('config/accounts/acme.yaml'));
  expect(planOfAcme((await rolecall('rolecall plan acme')).stdout)).toBe(README_PLAN);

  const service = readFileSync(join(workspace.folder, 'config/rolecall.yaml'), 'utf8');
  const line = shownFile('config/rolecall.yaml').replace('{', '{ listen: "127.0.0.1:0",');
  workspace.write('config/rolecall.yaml', service + line);
  const daemon = workspace.start(['serve'], { env });
  const found = () => /"url":"([^"]+)"/.exec(daemon.output().stderr)?.[1];
  await until('the daemon listens', () => found() !== undefined);
  const api = async (path: string, body?: object) => {
    const headers = {
      authorization: `Bearer ${env.ROLECALL_HTTP_TOKEN}`,
      'content-type': 'application/json',
    };
    const post = body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) };
    return (await (await fetch(`${found()}/api/v1/accounts/acme${path}`, { headers, ...post })).json()) as {
      readonly pending: { readonly digest: string } | null;
      readonly lastRun: { readonly status: string } | null;
    };
  };
  await until('the plan waits', async () => (await api('')).pending !== null);
  const digest = (await api('')).pending?.digest;
  expect(README_PLAN).toContain(`Plan digest  ${digest}\n`);
  await api('/approve', { digest });
  await until('it is applied', async () => (await api('')).lastRun?.status === 'held');
  expect((await rolecall('rolecall history')).stdout).toContain('held');
  expect((await rolecall('rolecall show last')).stdout).toContain('2 created, 3 deleted, 2 held');

  const moves = [...README.matchAll(/\$ curl (\S+) --data '([^']+)'/g)];
  expect(moves).toHaveLength(2);
  for (const [, url = '', body = ''] of moves) {
    const reply = await fetch(url.replace('8090', port), { method: 'POST', body });
    expect(reply.status).toBe(200);
  }
  const applied = await rolecall('rolecall apply acme --yes --allow-held');
  expect(applied.stdout).toContain('- skill  K8s  nobody had it');
});

test('the README adds an account of your own, whose first plan is empty', async () => {
  const workspace = makeWorkspace('unused');
  const sandbox = await startSandbox({ seed: demoSeed('acme-eu') });
  onTestFinished(() => sandbox.close());
  const rolecall = (command: string) =>
    workspace.run(command.split(' ').slice(1), { env: { ACME_EU_TOKEN: 'sandbox-token-1' } });
  const { command, output } = shown('rolecall init --base-url');
  const started = await rolecall(command.replace('https://eu.planning.example.com', sandbox.regions.eu));
  expect(started.stdout.replaceAll(`${workspace.folder}/`, '')).toContain(output);
  expect(await rolecall('rolecall validate --online acme-eu')).toMatchObject({ status: 0 });
  expect((await rolecall('rolecall plan acme-eu')).stdout).toContain('acme-eu: nothing to do');
});
