// A catalog of full size through the built program: every skill and role name of O*NET, into an empty account.
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { startSandbox } from '../../src/sandbox/sandbox.ts';
import { makeWorkspace, writeAccount } from '../support/workspace.ts';

interface Names {
  readonly skills: readonly string[];
  readonly roles: readonly string[];
}

const NAMES = JSON.parse(
  readFileSync(new URL('../../config/demo/onet-names.json', import.meta.url), 'utf8'),
) as Names;

const FAST_API = '{ concurrency: 32, requestsPerSecond: 10000, timeout: 20s, settle: 21s }';

function asYaml({ skills, roles }: Names): string {
  const list = (names: readonly string[]): string =>
    names.map((name) => `  - ${JSON.stringify(name)}\n`).join('');
  return `skills:\n${list(skills)}roles:\n${list(roles)}`;
}

test(
  'a catalog of 9,708 names is applied, applied again without a write, and dumped to an empty plan',
  {
    timeout: 90_000,
  },
  async () => {
    expect([NAMES.skills.length, NAMES.roles.length]).toEqual([8785, 923]);
    const sandbox = await startSandbox({ seed: { accounts: [{ name: 'acme', token: 'token-of-acme' }] } });
    try {
      const workspace = makeWorkspace('token-of-acme');
      writeAccount(workspace, sandbox.url, asYaml(NAMES), { api: FAST_API });

      const applied = await workspace.run(['apply', '--yes', '--format', 'json']);
      expect(applied.stderr).toBe('');
      expect(applied.status).toBe(0);
      expect(JSON.parse(applied.stdout)).toMatchObject([{ status: 'converged', created: 9708, failed: 0 }]);
      const { skills, roles } = sandbox.state('acme');
      expect(skills.map(({ name }) => name).toSorted()).toEqual(NAMES.skills.toSorted());
      expect(roles.map(({ name }) => name).toSorted()).toEqual(NAMES.roles.toSorted());

      sandbox.clearRequests();
      const again = await workspace.run(['apply', '--yes', '--format', 'json']);
      expect(again.status).toBe(0);
      expect(JSON.parse(again.stdout)).toMatchObject([{ status: 'converged', created: 0, kept: 9708 }]);
      expect(new Set(sandbox.requests().map(({ method }) => method))).toEqual(new Set(['GET']));

      const dumped = await workspace.run(['dump', 'acme']);
      expect(dumped.status).toBe(0);
      workspace.write('config/accounts/acme.yaml', dumped.stdout);
      const planned = await workspace.run(['plan', '--detailed-exitcode', '--format', 'json']);
      expect(planned.stderr).toBe('');
      expect(JSON.parse(planned.stdout)).toMatchObject([
        { operations: [], held: [], leftAlone: [], summary: { keep: 9708 } },
      ]);
      expect(planned.status).toBe(0);
    } finally {
      await sandbox.close();
    }
  },
);
