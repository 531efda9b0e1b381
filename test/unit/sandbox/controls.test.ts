import { describe, expect, it } from 'vitest';
import { SandboxError } from '../../../src/sandbox/sandbox.ts';
import { api, call, create, list, only, start } from './client.ts';

describe('the controls of a sandbox', () => {
  it('add, rename, assign and remove entries and resources', async () => {
    const sandbox = await start({ settings: { listDelayMs: 60_000 } });
    const skill = sandbox.addSkill('account-1', 'Go', { id: 'my-id' });
    const role = sandbox.addRole('account-1', 'Engineer');
    const person = sandbox.addResource('account-1', { skills: ['Go'], dailyCapacity: 6 });
    expect(person).toMatchObject({ skills: ['Go'], skillsIds: ['my-id'], role: null, dailyCapacity: 6 });
    expect(sandbox.assign('account-1', person.id, role.id)).toMatchObject({ role: 'Engineer' });
    expect(sandbox.assign('account-1', person.id, skill.id).skillsIds).toEqual(['my-id']);
    sandbox.renameEntry('account-1', skill.id, 'Golang');
    expect(only(await list(sandbox.url, 'skill'))).toMatchObject({ _id: 'my-id', name: 'Golang' });
    expect(sandbox.unassign('account-1', person.id, role.id).roleId).toBeNull();
    sandbox.removeEntry('account-1', skill.id);
    expect(sandbox.state('account-1')).toMatchObject({ skills: [], resources: [{ skillsIds: [] }] });
    sandbox.removeResource('account-1', person.id);
    expect(await list(sandbox.url, 'resource')).toEqual([]);
  });

  it('move a person over HTTP from one skill to another', async () => {
    const resources = [{ id: 'ada', skills: ['K8s', 'Perl'] }];
    const sandbox = await start({
      seed: {
        accounts: [{ name: 'acme', skills: ['K8s', 'Kubernetes', 'Perl'], roles: ['Lead'], resources }],
      },
    });
    const move = async (person: string, body: string) => {
      const reply = await fetch(`${sandbox.url}/people/acme/${person}`, { method: 'POST', body });
      return [reply.status, await reply.json()] as const;
    };
    expect(await move('ada', '{"take":["K8s"],"give":["Kubernetes","Lead"]}')).toMatchObject([
      200,
      { skills: ['Perl', 'Kubernetes'], role: 'Lead' },
    ]);
    expect(await move('ada', '{"take":["Perl"],"give":["Go"]}')).toEqual([
      404,
      { detail: 'account acme has no skill or role “Go”' },
    ]);
    expect((await move('bob', '{}'))[0]).toBe(404);
    for (const body of ['', '{"gives":["Perl"]}']) expect((await move('ada', body))[0]).toBe(400);
    expect(sandbox.state('acme').resources).toMatchObject([{ skills: ['Perl', 'Kubernetes'] }]);
  });

  it('report an unknown account, entry or name, and the accounts that exist', async () => {
    const sandbox = await start();
    expect(() => sandbox.state('acme')).toThrow(/no account is named acme; the accounts are account-1/);
    expect(() => sandbox.removeEntry('account-1', 'x')).toThrow(SandboxError);
    expect(() => sandbox.addResource('account-1', { role: 'None' })).toThrow(/no entry named None/);
    const { id } = sandbox.addSkill('account-1', 'a');
    expect(() => sandbox.addRole('account-1', 'b', { id })).toThrow(/already exists/);
  });

  it('return a log of the requests without tokens, also in paths', async () => {
    const logged: unknown[] = [];
    const sandbox = await start({ log: (entry) => logged.push(entry) });
    await create(sandbox.url, 'skill', 'Go');
    await call('DELETE', api(sandbox.url, 'skill/sandbox-token-1'));
    await call('GET', api(sandbox.url, 'role?key=sandbox-token-1'), { token: 'wrong' });
    expect(sandbox.requests()).toMatchObject([
      { seq: 1, method: 'POST', account: 'account-1', name: 'Go', status: 201, effect: true, region: 'us' },
      { method: 'DELETE', status: 404, effect: false, path: '/api/public/v1/skill/[token]' },
      { method: 'GET', account: null, status: 401, path: '/api/public/v1/role' },
    ]);
    expect(logged).toEqual(sandbox.requests());
    expect(JSON.stringify(logged)).not.toContain('sandbox-token-1');
    sandbox.clearRequests();
    expect(sandbox.requests()).toEqual([]);
  });
});
