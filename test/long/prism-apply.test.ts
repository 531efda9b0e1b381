// Complete runs of the built program through prism, which uses the document at /openapi.json: as a validating proxy in
// front of the sandbox it must find no violation, and as a mock it must be enough for a plan.
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { type Sandbox, startSandbox } from '../../src/sandbox/sandbox.ts';
import { makeWorkspace, type Workspace, writeAccount } from '../support/workspace.ts';
import { startPrism } from './prism.ts';

const TIME_LIMIT = { timeout: 60_000 };
const API = '{ requestsPerSecond: 1000, timeout: 20s, settle: 21s, retries: 0 }';

async function startAccount(): Promise<{ sandbox: Sandbox; workspace: Workspace; description: string }> {
  const sandbox = await startSandbox({
    seed: {
      accounts: [
        {
          name: 'acme',
          token: 'token-of-acme',
          skills: ['Go', 'Perl', 'Stray'],
          roles: ['Clerk', 'Engineer'],
          resources: [{ role: 'Engineer', skills: ['Go', 'Perl'], salary: { amount: 1 } }, {}],
        },
      ],
    },
  });
  onTestFinished(() => sandbox.close());
  const workspace = makeWorkspace('token-of-acme');
  workspace.write('openapi.json', await (await fetch(`${sandbox.url}/openapi.json`)).text());
  return { sandbox, workspace, description: join(workspace.folder, 'openapi.json') };
}

const DESIRED = [
  'skills: [Go, Rust, { name: Perl 5, formerly: [Perl] }]',
  'roles: [Engineer, Designer, "Äußeres & “Quotes”"]',
].join('\n');

test(
  'a complete apply through prism as a validating proxy violates no rule of the OpenAPI document',
  TIME_LIMIT,
  async () => {
    const { sandbox, workspace, description } = await startAccount();
    // With --errors a violation in a request or in a response becomes an error response.
    const prism = await startPrism('proxy', '--errors', description, sandbox.regions.us);
    writeAccount(workspace, prism.url, DESIRED, { api: API });

    const applied = await workspace.run([
      'apply',
      '--yes',
      '--accept-no-history',
      '--format',
      'json',
      '--allow-held',
    ]);
    expect(applied.stderr).toBe('');
    expect(JSON.parse(applied.stdout)).toMatchObject([{ status: 'held', created: 4, deleted: 2, failed: 0 }]);
    expect(applied.status).toBe(0);
    const { skills, roles } = sandbox.state('acme');
    expect(skills.map(({ name }) => name).toSorted()).toEqual(['Go', 'Perl', 'Perl 5', 'Rust']);
    expect(roles.map(({ name }) => name).toSorted()).toEqual(['Designer', 'Engineer', 'Äußeres & “Quotes”']);
    expect(sandbox.requests().filter(({ method }) => method !== 'GET')).toHaveLength(6);
    expect(prism.output()).not.toMatch(/violation|did not pass/i);
  },
);

test(
  'prism as a validating proxy reports a response that violates the OpenAPI document',
  TIME_LIMIT,
  async () => {
    const { sandbox, workspace, description } = await startAccount();
    sandbox.setFaults([
      { match: { path: 'skill' }, times: 'always', do: { type: 'wrong-type', field: 'createDate' } },
    ]);
    const prism = await startPrism('proxy', '--errors', description, sandbox.regions.us);
    writeAccount(workspace, prism.url, DESIRED, { api: API });

    const planned = await workspace.run(['plan', '--format', 'json']);
    expect(planned.status).toBe(1);
    expect(prism.output()).toMatch(/violation/i);
  },
);

test('a plan against prism as a mock of the OpenAPI document works', TIME_LIMIT, async () => {
  const { workspace, description } = await startAccount();
  const prism = await startPrism('mock', description);
  writeAccount(workspace, prism.url, DESIRED, { api: API });

  const planned = await workspace.run(['plan', '--format', 'json', '--detailed-exitcode']);
  expect(planned.stderr).toBe('');
  expect(planned.status).toBe(2);
  const [plan] = JSON.parse(planned.stdout) as {
    readonly status: string;
    readonly remoteAccountId: string | null;
    readonly operations: readonly { readonly action: string; readonly name: string }[];
  }[];
  expect(plan?.status).toBe('planned');
  expect(plan?.remoteAccountId).toBeTypeOf('string');
  expect(plan?.operations.filter(({ action }) => action === 'create').map(({ name }) => name)).toContain(
    'Perl 5',
  );
});
