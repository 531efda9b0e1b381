import { readFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { api, call, create, json, list, names, only, start } from './client.ts';

const SEED = {
  accounts: [
    {
      name: 'acme',
      skills: ['TypeScript', 'Perl'],
      roles: ['Engineer'],
      resources: [{ role: 'Engineer', skills: ['TypeScript', 'Perl'] }, { skills: ['Perl'] }],
    },
  ],
} as const;

describe('the sandbox service', () => {
  it('removes a deleted skill from all people and unassigns a deleted role', async () => {
    const sandbox = await start({ seed: SEED });
    const { skills, roles } = sandbox.state('acme');
    const perl = skills.find((skill) => skill.name === 'Perl');
    await call('DELETE', api(sandbox.url, `skill/${perl?.id}`));
    await call('DELETE', api(sandbox.url, `role/${only(roles).id}`));
    expect(sandbox.state('acme').resources.map((each) => [each.role, each.skills])).toEqual([
      [null, ['TypeScript']],
      [null, []],
    ]);
    expect((await list(sandbox.url, 'resource')).map((each) => each['skillsIds'])).toEqual([
      [skills[0]?.id],
      [],
    ]);
  });

  it('creates two entries for two creates of the same name', async () => {
    const { url } = await start();
    await create(url, 'skill', 'Go');
    await create(url, 'skill', 'Go');
    const ids = (await list(url, 'skill')).map((each) => each._id);
    expect(new Set(ids).size).toBe(2);
  });
});

describe('the validation of requests by the sandbox', () => {
  it.each([
    ['a missing name', '{}', 'missing', ['body', 'name']],
    ['a name that is not a string', '{"name": 7}', 'string_type', ['body', 'name']],
    ['a null name', '{"name": null}', 'string_type', ['body', 'name']],
    ['an empty name', '{"name": ""}', 'string_too_short', ['body', 'name']],
    ['an extra field', '{"name": "a", "level": 3}', 'extra_forbidden', ['body', 'level']],
    ['a body that is not an object', '["a"]', 'object_type', ['body']],
    ['malformed JSON', '{"name": ', 'json_invalid', ['body']],
    ['no body', '', 'json_invalid', ['body']],
  ])('rejects %s with a validation error', async (_what, raw, type, loc) => {
    const sandbox = await start();
    const reply = await call('POST', api(sandbox.url, 'skill'), { raw });
    expect(reply.status).toBe(422);
    const detail = only(json(reply)['detail'] as Record<string, unknown>[]);
    expect(Object.keys(detail).toSorted()).toEqual(['ctx', 'input', 'loc', 'msg', 'type']);
    expect(detail).toMatchObject({ type, loc });
    expect(sandbox.state('account-1').skills).toEqual([]);
  });

  it('requires the content type of JSON and valid UTF-8', async () => {
    const { url } = await start();
    const typed = await call('POST', api(url, 'skill'), {
      raw: '{"name":"a"}',
      headers: { 'content-type': 'text/plain' },
    });
    expect([typed.status, typed.text.includes('content-type')]).toEqual([422, true]);
    const reply = await fetch(api(url, 'skill'), {
      method: 'POST',
      headers: { authorization: 'Bearer sandbox-token-1', 'content-type': 'application/json' },
      body: Buffer.from([0x7b, 0xff, 0x7d]),
    });
    expect(reply.status).toBe(422);
  });

  it('returns 401 for a missing, malformed or unknown token before it validates the body', async () => {
    const { url } = await start();
    const calls = [
      call('GET', api(url, 'skill'), { token: null }),
      call('GET', api(url, 'skill'), { token: 'wrong' }),
      call('GET', api(url, 'resource'), { token: null, headers: { authorization: 'Basic sandbox-token-1' } }),
      call('POST', api(url, 'skill'), { token: 'wrong', raw: 'nonsense' }),
      call('DELETE', api(url, 'skill/x'), { token: null }),
    ];
    for (const reply of await Promise.all(calls)) {
      expect(reply.status).toBe(401);
      expect(json(reply)).toHaveProperty('detail');
    }
  });

  it('returns 404 for unknown ids and paths and 405 for unsupported methods', async () => {
    const { url } = await start();
    const status = async (method: string, path: string) => (await call(method, `${url}${path}`)).status;
    expect(await status('DELETE', '/api/public/v1/skill/65a000000000000000000001')).toBe(404);
    expect(await status('GET', '/api/public/v1/skills')).toBe(404);
    expect(await status('GET', '/api/public/v2/skill')).toBe(404);
    expect(await status('DELETE', '/api/public/v1/resource/1')).toBe(404);
    expect(await status('POST', '/api/public/v1/resource')).toBe(405);
    expect(await status('GET', '/api/public/v1/role/1')).toBe(405);
    const put = await call('PUT', api(url, 'skill'));
    expect([put.status, put.headers['allow']]).toEqual([405, 'GET, POST']);
  });
});

describe('an account of the sandbox', () => {
  it('has its own region, id and token, the same at every start', async () => {
    const { accounts, regions } = await start({ accounts: 5 });
    expect(accounts.map((each) => [each.name, each.id, each.token, each.region])).toEqual([
      ['account-1', 'sandbox-account-1', 'sandbox-token-1', 'us'],
      ['account-2', 'sandbox-account-2', 'sandbox-token-2', 'eu'],
      ['account-3', 'sandbox-account-3', 'sandbox-token-3', 'au'],
      ['account-4', 'sandbox-account-4', 'sandbox-token-4', 'il'],
      ['account-5', 'sandbox-account-5', 'sandbox-token-5', 'us'],
    ]);
    expect(accounts.every((each) => each.baseUrl === regions[each.region])).toBe(true);
  });

  it('has a token that is valid in its region only; the address without a region is us', async () => {
    const { url, regions } = await start({ accounts: 2 });
    const status = async (base: string, token: string) =>
      (await call('GET', api(base, 'skill'), { token })).status;
    expect(await status(regions.eu, 'sandbox-token-2')).toBe(200);
    expect(await status(regions.us, 'sandbox-token-1')).toBe(200);
    expect(await status(url, 'sandbox-token-1')).toBe(200);
    expect(await status(url, 'sandbox-token-2')).toBe(401);
    expect(await status(regions.au, 'sandbox-token-2')).toBe(401);
    expect(await status(regions.eu, 'sandbox-token-1')).toBe(401);
  });

  it('does not share entries with another account', async () => {
    const { accounts } = await start({ accounts: 2 });
    const [first, second] = accounts;
    if (first === undefined || second === undefined) throw new Error('two accounts were asked for');
    const reply = await call('POST', api(first.baseUrl, 'skill'), {
      token: first.token,
      body: { name: 'Go' },
    });
    const id = String(json(reply)['_id']);
    const path = api(second.baseUrl, `skill/${id}`);
    expect((await call('DELETE', path, { token: second.token })).status).toBe(404);
    expect(await list(second.baseUrl, 'skill', { token: second.token })).toEqual([]);
    expect(await list(first.baseUrl, 'skill', { token: first.token })).toHaveLength(1);
  });
});

describe('the compression of the sandbox', () => {
  const long = Array.from({ length: 100 }, (_, index) => `Skill number ${index}`);

  it('gzips a long response only for a client that accepts gzip', async () => {
    const sandbox = await start({ seed: { accounts: [{ name: 'acme', skills: long }] } });
    const zipped = await call('GET', api(sandbox.url, 'skill'), {
      headers: { 'accept-encoding': 'br, gzip' },
    });
    expect(zipped.headers['content-encoding']).toBe('gzip');
    expect(JSON.parse(gunzipSync(zipped.bytes).toString('utf8'))).toHaveLength(100);
    const refusing = await call('GET', api(sandbox.url, 'skill'), {
      headers: { 'accept-encoding': 'gzip;q=0' },
    });
    expect(refusing.headers['content-encoding']).toBeUndefined();
    expect(await names(sandbox.url, 'skill')).toEqual(long);
    sandbox.setSettings({ compress: false });
    const plain = await call('GET', api(sandbox.url, 'skill'), { headers: { 'accept-encoding': 'gzip' } });
    expect(plain.headers['content-encoding']).toBeUndefined();
  });
});

it('a sandbox serves a large list of real names completely and in order', async () => {
  const file = new URL('../../bench/onet-names.json', import.meta.url);
  const { skills, roles } = JSON.parse(readFileSync(file, 'utf8')) as Record<'skills' | 'roles', string[]>;
  expect([skills.length, roles.length]).toEqual([8785, 923]);
  const sandbox = await start({ seed: { accounts: [{ name: 'big', skills, roles }] } });
  expect((await list(sandbox.url, 'skill')).map((each) => each.name)).toEqual(skills);
  expect((await list(sandbox.url, 'role')).map((each) => each.name)).toEqual(roles);
});
