import { request } from 'node:http';
import { describe, expect, it } from 'vitest';
import { SandboxError } from '../../../src/sandbox/sandbox.ts';
import { api, call, create, json, list, only, start } from './client.ts';

function control(url: string, path: string): string {
  return `${url}/_sandbox/${path}`;
}

async function sendControl(method: string, url: string, body?: unknown) {
  const reply = await call(method, url, { token: null, ...(body === undefined ? {} : { body }) });
  return { status: reply.status, body: reply.text === '' ? null : (JSON.parse(reply.text) as unknown) };
}

describe('the sandbox controls in the process', () => {
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

  it('change the given settings and keep the others', async () => {
    const sandbox = await start({ settings: { createStatus: 200 } });
    sandbox.setSettings({ trimNames: true });
    expect(sandbox.settings()).toMatchObject({ createStatus: 200, trimNames: true });
  });
});

describe('the sandbox controls over HTTP', () => {
  it('serve accounts, entries and resources', async () => {
    const { url, accounts } = await start();
    expect((await sendControl('GET', control(url, 'accounts'))).body).toEqual(accounts);
    const entries = control(url, 'accounts/account-1/entries');
    const people = control(url, 'accounts/account-1/resources');
    const skill = (await sendControl('POST', entries, { kind: 'skill', name: 'Go' })).body as { id: string };
    const role = (await sendControl('POST', entries, { kind: 'role', name: 'Dev' })).body as { id: string };
    const added = await sendControl('POST', people, { skills: ['Go'] });
    expect(added.status).toBe(201);
    const { id } = added.body as { id: string };
    const changed = await sendControl('PATCH', `${people}/${id}`, {
      assign: [role.id],
      unassign: [skill.id],
    });
    expect(changed.body).toMatchObject({ role: 'Dev', skills: [] });
    expect((await sendControl('PATCH', `${entries}/${skill.id}`, { name: 'Golang' })).body).toMatchObject({
      name: 'Golang',
    });
    expect((await sendControl('DELETE', `${entries}/${role.id}`)).status).toBe(204);
    expect((await sendControl('GET', entries)).body).toMatchObject({
      skills: [{ name: 'Golang' }],
      roles: [],
    });
    expect((await sendControl('GET', people)).body).toMatchObject([{ id, roleId: null }]);
    expect((await sendControl('DELETE', `${people}/${id}`)).status).toBe(204);
    expect((await sendControl('GET', people)).body).toEqual([]);
  });

  it('serve faults, settings and the log of requests', async () => {
    const { url } = await start();
    const faults = [{ do: { type: 'status', status: 503 } }];
    expect((await sendControl('PUT', control(url, 'faults'), faults)).body).toEqual({ faults, acted: [0] });
    expect((await create(url, 'skill', 'x')).status).toBe(503);
    expect((await sendControl('GET', control(url, 'faults'))).body).toEqual({ faults, acted: [1] });
    expect((await sendControl('PUT', control(url, 'settings'), { createStatus: 200 })).body).toMatchObject({
      createStatus: 200,
    });
    expect((await sendControl('GET', control(url, 'settings'))).body).toMatchObject({
      createStatus: 200,
      latencyMs: 0,
    });
    expect((await create(url, 'skill', 'x')).status).toBe(200);
    expect((await sendControl('GET', control(url, 'requests'))).body).toHaveLength(2);
    expect((await sendControl('DELETE', control(url, 'requests'))).status).toBe(204);
    expect((await sendControl('GET', control(url, 'requests'))).body).toEqual([]);
  });

  it('return an error for each invalid request', async () => {
    const { url } = await start();
    const entries = control(url, 'accounts/account-1/entries');
    const wrong = await sendControl('POST', entries, { kind: 'skil', nam: 'x' });
    expect(wrong.status).toBe(400);
    expect((wrong.body as { issues: string[] }).issues).toHaveLength(3);
    expect((await sendControl('DELETE', `${entries}/none`)).status).toBe(404);
    expect((await sendControl('GET', control(url, 'accounts/none/entries'))).status).toBe(404);
    expect((await sendControl('GET', control(url, 'nothing'))).status).toBe(404);
    expect((await sendControl('PUT', control(url, 'faults'), [{ do: { type: 'fire' } }])).status).toBe(400);
    expect((await sendControl('PUT', control(url, 'settings'), { colour: 1 })).status).toBe(400);
    expect((await call('PUT', control(url, 'settings'), { raw: '{' })).status).toBe(400);
  });

  it('refuse web pages and foreign host names', async () => {
    const { url } = await start();
    const page = await call('GET', control(url, 'accounts'), { headers: { origin: 'http://evil.example' } });
    expect(page.status).toBe(403);
    expect(page.text).not.toContain('sandbox-token');
    const status = await new Promise((resolve, reject) => {
      const foreign = request(control(url, 'accounts'), { headers: { host: 'evil.example' } }, (response) => {
        response.resume();
        resolve(response.statusCode);
      });
      foreign.on('error', reject).end();
    });
    expect(status).toBe(403);
  });
});

describe('the OpenAPI description of the sandbox', () => {
  it('names the base addresses of this sandbox as its servers', async () => {
    const { url, regions } = await start();
    const document = json(await call('GET', `${url}/openapi.json`, { token: null }));
    expect((document['servers'] as { url: string }[]).map((each) => each.url)).toEqual(
      Object.values(regions),
    );
  });
});
