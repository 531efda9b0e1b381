// A day of a team with many accounts: from the first files to a commit that reaches a part first, then the rest, with
// approvals, one message and one status, and a stop in the middle.
import { readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { expect, onTestFinished, test } from 'vitest';
import { startSandbox } from '../../src/sandbox/sandbox.ts';
import { EVERY_SECOND, startDaemon, WITH_TOKEN } from '../support/daemon.ts';
import { commitAll, git } from '../support/git.ts';
import { listen } from '../support/loopback.ts';
import { times } from '../support/thorough.ts';
import { makeWorkspace, QUICK_API, type Result, until } from '../support/workspace.ts';

const CANARIES = ['canary-1', 'canary-2'];
/** In mode `approve-deletes`; the others are in mode `apply`. */
const CAREFUL = ['eu-01', 'eu-02', 'eu-03', 'eu-04', 'eu-05'];
const OTHERS = Array.from({ length: times(3, 33) }, (_, index) => `us-${String(index + 1).padStart(2, '0')}`);
const NAMES = [...CANARIES, ...CAREFUL, ...OTHERS];
const variable = (name: string): string => `TOKEN_${name.toUpperCase().replace('-', '_')}`;

/** Receives messages and statuses: the paths and bodies of all requests. */
async function startHooks() {
  const arrived: { path: string; body: Record<string, string> }[] = [];
  const server = createServer((request, response) => {
    void text(request).then((body) => {
      arrived.push({ path: request.url ?? '', body: JSON.parse(body) as Record<string, string> });
      response.writeHead(201).end('{}');
    });
  });
  const url = await listen(server);
  const bodies = (path: string) =>
    arrived.filter((each) => each.path.startsWith(path)).map(({ body }) => body);
  return {
    url,
    messages: () => bodies('/chat').map(({ text: shown = '' }) => shown),
    statuses: (sha: string) => bodies(`/repos/team/catalog/statuses/${sha}`),
  };
}

test('a team starts a repository, changes a catalog, approves five plans at once and stops everything', async () => {
  const accounts = NAMES.map((name, index) => ({
    name,
    id: String(1000 + index),
    token: `token-of-${name}`,
    skills: ['Flash', 'Go'],
    resources: [{ id: `somebody-${index}`, skills: ['Go'], salary: { amount: 7_654_321 } }],
  }));
  const sandbox = await startSandbox({ seed: { accounts }, settings: {} });
  onTestFinished(() => sandbox.close());
  const hooks = await startHooks();
  const team = makeWorkspace('unused');
  const machine = makeWorkspace('unused');
  const env = Object.fromEntries(NAMES.map((name) => [variable(name), `token-of-${name}`]));
  const here = (args: readonly string[]): Promise<Result> => team.run(args, { env, withoutConfig: true });

  // The first account and the pipelines, then further accounts.
  const origin = join(machine.folder, 'origin.git');
  git(machine.folder, ['init', '-q', '--bare', origin]);
  git(team.folder, ['init', '-q']);
  git(team.folder, ['remote', 'add', 'origin', origin]);
  const [first = '', second = ''] = NAMES;
  const region = ['--region', 'us', '--base-url', sandbox.regions.us];
  const started = await here([
    'init',
    '--ci',
    'github',
    ...region,
    '--account',
    first,
    '--token-env',
    variable(first),
  ]);
  expect([started.status, started.stderr]).toEqual([0, '']);
  expect(started.stdout).toContain(`create the secret ${variable(first)}`);
  expect(
    (await here(['init', '--account', second, '--region', 'us', '--token-env', variable(second)])).status,
  ).toBe(0);
  expect(readFileSync(join(team.folder, '.gitignore'), 'utf8')).toContain('data/');
  const file = join(team.folder, 'config/rolecall.yaml');
  const rollout = 'rollout: { after: ["canary-*"], wait: 2s }';
  const service = readFileSync(file, 'utf8')
    .replace(/mode: plan.*/, `mode: apply\n  ${rollout}`)
    .replace(/schedule: .*/, `schedule: ${EVERY_SECOND}`)
    .replace(/maxDeletes: .*/, 'unusedFor: 0s\n    maxDeletePercent: 100');
  writeFileSync(file, service);
  for (const name of NAMES) {
    const mode = CAREFUL.includes(name) ? 'mode: approve-deletes\n' : '';
    const head = `region: us\naccountId: "${1000 + NAMES.indexOf(name)}"\ntoken: { env: ${variable(name)} }\n`;
    team.write(`config/accounts/${name}.yaml`, `${head}${mode}extends: [../catalogs/engineering.yaml]\n`);
  }
  team.write('config/catalogs/engineering.yaml', 'skills: [Flash, Go]\n');
  const valid = await here(['validate', '--require-secrets']);
  expect([valid.status, valid.stderr]).toEqual([0, '']);
  commitAll(team.folder, 'Start with many accounts');
  git(team.folder, ['push', '-q', 'origin', 'HEAD:main']);

  machine.write(
    'config/rolecall.yaml',
    [
      'store: ../data/rolecall.db',
      `regions: { us: "${sandbox.regions.us}" }`,
      `api: ${QUICK_API}`,
      WITH_TOKEN.replace('{ listen', '{ publicUrl: "https://rolecall.example.com", listen'),
      `source: { git: { url: "file://${origin}", interval: 1h } }`,
      'notify:',
      `  - { format: slack, url: "${hooks.url}/chat", collect: 3s }`,
      `  - { format: github, url: "${hooks.url}", repository: team/catalog, token: { env: STATUS_TOKEN } }`,
      '',
    ].join('\n'),
  );
  const daemon = await startDaemon(machine, { env: { ...env, STATUS_TOKEN: 'status-token' } });
  await until(
    'every account ran',
    () => NAMES.every((name) => daemon.runsEnded(name, 'converged') > 0),
    60_000,
  );

  // A pull request: its report shows the change once.
  team.write('config/catalogs/engineering.yaml', 'skills: [Go, Kubernetes]\n');
  const commit = commitAll(team.folder, 'Replace Flash by Kubernetes');
  const report = await here(['plan', '--format', 'markdown', '--accept', 'no_evidence']);
  expect(report.status).toBe(0);
  expect(report.stdout.length).toBeLessThan(8000);
  expect(report.stdout.match(/Kubernetes/g)?.length).toBeLessThan(10);
  expect(report.stdout).not.toContain('7654321');

  // The merge: the pipeline lets the daemon fetch it at once. The canaries apply it, the others follow.
  git(team.folder, ['push', '-q', 'origin', 'HEAD:main']);
  expect((await daemon.api('source/fetch', {})).status).toBe(202);
  const has = (name: string, skills: string): boolean =>
    sandbox
      .state(name)
      .skills.map((skill) => skill.name)
      .toSorted()
      .join() === skills;
  await until('the canaries have it', () => CANARIES.every((name) => has(name, 'Go,Kubernetes')));
  expect(OTHERS.some((name) => has(name, 'Go,Kubernetes'))).toBe(false);
  await until('the others have it', () => OTHERS.every((name) => has(name, 'Go,Kubernetes')));
  await until('the careful ones have the new skill', () =>
    CAREFUL.every((name) => has(name, 'Flash,Go,Kubernetes')),
  );
  const writes = sandbox.requests().filter(({ method }) => method !== 'GET');
  const ofCanaries = writes.filter(({ account }) => CANARIES.includes(account ?? ''));
  expect(writes.slice(0, 4)).toEqual(ofCanaries);

  // Five plans of deletes wait; one command approves them.
  await until('five plans wait', async () => {
    const { body } = await daemon.api<{ accounts: { pending: object | null }[] }>('accounts');
    return body.accounts.filter(({ pending }) => pending !== null).length === 5;
  });
  const approved = await machine.run(['approve', '*', '--commit', commit.slice(0, 7), '--yes'], { env });
  expect([approved.status, approved.stdout]).toEqual([0, expect.stringContaining('approved 5 plans')]);
  await until('their deletes are applied', () => CAREFUL.every((name) => has(name, 'Go,Kubernetes')));

  // One status for the commit, and few messages for all accounts.
  const status = () => hooks.statuses(commit).at(-1);
  await until('the status is final', () => status()?.['description'] === `${NAMES.length} applied`);
  expect(status()?.['state']).toBe('success');
  await until('a message has come', () => hooks.messages().length > 0);
  expect(hooks.messages().length).toBeLessThanOrEqual(4);
  expect(hooks.messages().every((message) => message.includes(commit.slice(0, 7)))).toBe(true);

  const actions = await machine.run(['history', '--actions'], { env });
  expect(actions.stdout.match(/approve/g)?.length).toBeGreaterThanOrEqual(5);
  expect(actions.stdout).toContain('requested the newest configuration');
  await daemon.stop();

  // Somebody stops everything in the middle of an apply; what was on its way ends, and nothing follows.
  sandbox.setSettings({ latencyMs: 100 });
  const names = Array.from({ length: 40 }, (_, index) => `Skill ${index}`);
  team.write(
    'config/accounts/us-01.yaml',
    `region: us\ntoken: { env: ${variable('us-01')} }\nskills: [Go, Kubernetes, ${names.join(', ')}]\n`,
  );
  const applying = machine.start(['--config', file, 'apply', 'us-01', '--yes'], { env, withoutConfig: true });
  const sent = (): number =>
    sandbox.requests().filter((each) => each.account === 'us-01' && each.method === 'POST').length;
  const before = sent();
  await until('the apply has begun', () => sent() >= before + 5);
  const stopped = await team.run(['--config', file, 'pause', '--all', '--reason', 'wrong names'], {
    env,
    withoutConfig: true,
  });
  expect([stopped.status, stopped.stderr]).toEqual([0, '']);
  const ended = await applying.ended;
  expect([ended.status, ended.stdout + ended.stderr]).toEqual([3, expect.stringContaining('wrong names')]);
  const written = sandbox.state('us-01').skills.length;
  expect(written).toBeLessThan(40);
  expect((await here(['apply', 'us-01', '--yes'])).status).toBe(3);
  expect(sandbox.state('us-01').skills).toHaveLength(written);
  expect((await here(['resume', '--all'])).status).toBe(0);
  expect((await here(['apply', 'us-01', '--yes'])).status).toBe(0);
  expect(sandbox.state('us-01').skills).toHaveLength(42);
}, 240_000);
