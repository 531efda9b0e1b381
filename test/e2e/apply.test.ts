// The main job through the built program: plan, apply, apply again.
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { SQLite } from '../../src/system/sqlite.ts';
import { startSandbox } from '../../src/sandbox/sandbox.ts';
import { makeWorkspace, writeAccount } from '../support/workspace.ts';

async function sandboxWith(skills: readonly string[]) {
  const sandbox = await startSandbox({
    seed: {
      accounts: [{ name: 'acme', id: '42', skills: [...skills], roles: [], resources: [{ id: 'someone' }] }],
    },
  });
  const [account] = sandbox.accounts;
  if (account === undefined) throw new Error('no account');
  return { sandbox, token: account.token };
}

test('apply creates missing entries and deletes an unused undesired one, and a second apply writes nothing', async () => {
  const { sandbox, token } = await sandboxWith(['Old', 'Kept']);
  try {
    const workspace = makeWorkspace(token);
    writeAccount(workspace, sandbox.url, 'skills: [Kept, New]\nroles: [Designer]');

    await workspace.run(['plan']);
    const planned = await workspace.run(['plan', '--detailed-exitcode']);
    expect(planned.stderr).toBe('');
    expect(planned.status).toBe(2);
    expect(sandbox.requests().every(({ method }) => method === 'GET')).toBe(true);

    const applied = await workspace.run(['apply', '--yes', '--format', 'json']);
    expect(applied.status).toBe(0);
    const [run] = JSON.parse(applied.stdout) as { status: string; created: number; deleted: number }[];
    expect(run).toMatchObject({ status: 'converged', created: 2, deleted: 1 });
    expect(
      sandbox
        .state('acme')
        .skills.map(({ name }) => name)
        .toSorted(),
    ).toEqual(['Kept', 'New']);

    sandbox.clearRequests();
    const again = await workspace.run(['apply', '--yes']);
    expect(again.status).toBe(0);
    expect(sandbox.requests().every(({ method }) => method === 'GET')).toBe(true);
  } finally {
    await sandbox.close();
  }
});

test('apply warns when the store cannot be pruned afterwards, and exits with the status of its runs', async () => {
  const { sandbox, token } = await sandboxWith([]);
  try {
    const workspace = makeWorkspace(token);
    writeAccount(workspace, sandbox.url, 'skills: [New]');
    expect((await workspace.run(['apply', '--yes'])).status).toBe(0);
    const store = new SQLite(join(workspace.folder, 'data/rolecall.db'));
    store.exec(`
      insert into plan_bodies values ('sha256:0', x'00');
      create trigger refuse before delete on plan_bodies begin select raise(abort, 'not now'); end`);
    store.close();
    const applied = await workspace.run(['apply', '--yes']);
    expect(applied.stderr).toMatch(/^warning: old runs could not be pruned.*not now/m);
    expect(applied.status).toBe(0);
    expect(applied.stdout).toContain('converged');
  } finally {
    await sandbox.close();
  }
});
