import { describe, expect, it, vi } from 'vitest';
import type { SandboxSettings } from '../../../src/sandbox/sandbox.ts';
import { api, call, create, json, list, names, only, start } from './client.ts';

async function withSettings(settings: Partial<SandboxSettings>, skills: readonly string[] = []) {
  const seed = { accounts: [{ name: 'acme', skills, resources: [{}] }] };
  return await start({ seed, settings });
}

describe('the sandbox settings for names', () => {
  it('refuse a second entry of the same name and kind with 409, exactly or ignoring case', async () => {
    const sandbox = await withSettings({ uniqueNames: 'exact' }, ['Go']);
    expect((await create(sandbox.url, 'skill', 'Go')).status).toBe(409);
    expect((await create(sandbox.url, 'skill', 'GO')).status).toBe(201);
    expect((await create(sandbox.url, 'role', 'Go')).status).toBe(201);
    sandbox.setSettings({ uniqueNames: 'caseless' });
    expect((await create(sandbox.url, 'skill', 'gO')).status).toBe(409);
    const id = sandbox.state('acme').skills.map((each) => each.id);
    for (const each of id) await call('DELETE', api(sandbox.url, `skill/${each}`));
    expect((await create(sandbox.url, 'skill', 'gO')).status).toBe(201);
  });

  it('trim, change case and normalise; the defaults keep names unchanged', async () => {
    const sandbox = await withSettings({});
    const stored = async (name: string) => json(await create(sandbox.url, 'skill', name))['name'];
    expect(await stored(' Ca\u0301fe ')).toBe(' Ca\u0301fe ');
    sandbox.setSettings({ trimNames: true });
    expect(await stored(' Go ')).toBe('Go');
    sandbox.setSettings({ caseNames: 'lower' });
    expect(await stored('GO')).toBe('go');
    sandbox.setSettings({ caseNames: 'upper', normaliseNames: 'NFC' });
    expect(await stored('Ca\u0301fe')).toBe('C\u00c1FE');
  });

  it('limit the length of names in code points', async () => {
    const { url } = await withSettings({ maxNameLength: 2, minNameLength: 0 });
    expect((await create(url, 'skill', '😀😀')).status).toBe(201);
    expect((await create(url, 'skill', '')).status).toBe(201);
    const reply = await create(url, 'skill', 'abc');
    expect(only(json(reply)['detail'] as object[])).toMatchObject({
      type: 'string_too_long',
      ctx: { max_length: 2 },
    });
  });
});

describe('the sandbox settings for statuses', () => {
  const ANY_ERROR = [200, 204, 302, 400, 401, 403, 404, 409, 418, 422, 451, 500, 503, 599];

  it.each([200, 201, 202, 203, 206, 207, 226, 299])(
    'let a create and a list succeed with %i',
    async (status) => {
      const { url } = await withSettings({ createStatus: status, listStatus: status, deleteString: 'bye' });
      const reply = await create(url, 'skill', 'Go');
      expect([reply.status, json(reply)['name']]).toEqual([status, 'Go']);
      const listed = await call('GET', api(url, 'skill'));
      expect([listed.status, listed.text]).toEqual([status, expect.stringContaining('"Go"')]);
      expect((await call('GET', api(url, 'resource'))).status).toBe(200);
      const deleted = await call('DELETE', api(url, `skill/${String(json(reply)['_id'])}`));
      expect([deleted.status, deleted.text]).toEqual([200, '"bye"']);
    },
  );

  it.each([204, 205])('let a create succeed with %i, with an effect and without a body', async (status) => {
    const sandbox = await withSettings({ createStatus: status });
    const reply = await create(sandbox.url, 'skill', 'Go');
    expect([reply.status, reply.text]).toEqual([status, '']);
    expect(sandbox.state('acme').skills.map(({ name }) => name)).toEqual(['Go']);
  });

  it.each(ANY_ERROR)('set the status %i for every error, and no error has an effect', async (status) => {
    const sandbox = await withSettings(
      {
        uniqueNames: 'exact',
        duplicateStatus: status,
        validationStatus: status,
        unknownIdStatus: status,
        unauthorizedStatus: status,
        deleteRefusalStatus: status,
      },
      ['Go'],
    );
    const { url } = sandbox;
    const { skills } = sandbox.state('acme');
    const replies = [
      await create(url, 'skill', 'Go'),
      await call('POST', api(url, 'skill'), { raw: '{}' }),
      await call('DELETE', api(url, 'skill/unknown')),
      await call('DELETE', api(url, `skill/${only(skills).id}`)),
      await call('GET', api(url, 'role'), { token: 'wrong' }),
      await call('GET', api(url, 'role'), { token: null }),
    ];
    expect(replies.map((reply) => reply.status)).toEqual(replies.map(() => status));
    expect(sandbox.state('acme').skills).toEqual(skills);
  });
});

describe('the sandbox settings for lists', () => {
  it('show creates and deletes only after the delay', async () => {
    const sandbox = await withSettings({ listDelayMs: 150 }, ['Old']);
    const { url } = sandbox;
    const old = only(await list(url, 'skill'));
    await create(url, 'skill', 'New');
    await call('DELETE', api(url, `skill/${old._id}`));
    expect(await names(url, 'skill')).toEqual(['Old']);
    expect(sandbox.state('acme').skills.map((each) => each.name)).toEqual(['New']);
    await vi.waitFor(async () => expect(await names(url, 'skill')).toEqual(['New']), {
      interval: 10,
      timeout: 60_000,
    });
  });

  it('never show an entry that was created and deleted within the delay', async () => {
    const { url } = await withSettings({ listDelayMs: 60_000 });
    const id = String(json(await create(url, 'skill', 'New'))['_id']);
    expect((await call('DELETE', api(url, `skill/${id}`))).status).toBe(200);
    expect(await names(url, 'skill')).toEqual([]);
  });

  it('omit optional fields, in lists only', async () => {
    const sandbox = await withSettings({ omitOptionalFields: true }, ['Go']);
    const { url } = sandbox;
    expect(Object.keys(only(await list(url, 'skill'))).toSorted()).toEqual(['_id', 'name']);
    expect(Object.keys(only(await list(url, 'resource'))).toSorted()).toEqual([
      '_id',
      'accountId',
      'dailyCapacity',
      'workingDays',
    ]);
    expect(json(await create(url, 'role', 'r'))).toHaveProperty('accountId');
    const { skills, resources } = sandbox.state('acme');
    sandbox.assign('acme', only(resources).id, only(skills).id);
    expect(only(await list(url, 'resource'))['skillsIds']).toEqual([only(skills).id]);
  });

  it('set another account id and add undocumented fields', async () => {
    const { url } = await withSettings({ listedAccountId: { acme: 'other' }, extraFields: { level: [1] } }, [
      'Go',
    ]);
    for (const of of ['skill', 'resource']) {
      expect(only(await list(url, of))).toMatchObject({ accountId: 'other', level: [1] });
    }
    expect(json(await create(url, 'role', 'r'))).toMatchObject({ accountId: 'other', level: [1] });
  });
});

describe('the sandbox settings for speed', () => {
  it('limit the rate of each account, with Retry-After', async () => {
    const sandbox = await start({
      accounts: 2,
      settings: { rateLimit: { requestsPerSecond: 0.1, burst: 2, retryAfter: 'seconds' } },
    });
    const replies = [];
    for (const name of ['a', 'b', 'c']) replies.push(await create(sandbox.url, 'skill', name));
    expect(replies.map((each) => each.status)).toEqual([201, 201, 429]);
    expect(Number(replies[2]?.headers['retry-after'])).toBeGreaterThan(5);
    expect(sandbox.state('account-1').skills).toHaveLength(2);
    const other = await call('GET', api(sandbox.regions.eu, 'skill'), { token: 'sandbox-token-2' });
    expect(other.status).toBe(200);
    sandbox.setSettings({ rateLimit: { requestsPerSecond: 0.1, burst: 1, retryAfter: 'date' } });
    await call('GET', api(sandbox.url, 'skill'));
    const dated = await call('GET', api(sandbox.url, 'skill'));
    expect(Date.parse(String(dated.headers['retry-after']))).toBeGreaterThan(Date.now() + 5000);
    sandbox.setSettings({ rateLimit: { requestsPerSecond: 0.1, burst: 1, retryAfter: 'none' } });
    await call('GET', api(sandbox.url, 'skill'));
    const silent = await call('GET', api(sandbox.url, 'skill'));
    expect([silent.status, silent.headers['retry-after']]).toEqual([429, undefined]);
    sandbox.setSettings({ rateLimit: null });
    expect(await list(sandbox.url, 'skill')).toHaveLength(2);
  });

  it('delay each response until after its effect', async () => {
    const sandbox = await withSettings({ latencyMs: 300 });
    const began = performance.now();
    let answered = false;
    const answer = create(sandbox.url, 'skill', 'Go').finally(() => (answered = true));
    await vi.waitFor(() => expect(sandbox.state('acme').skills).toHaveLength(1), {
      interval: 5,
      timeout: 60_000,
    });
    expect(answered).toBe(false);
    expect((await answer).status).toBe(201);
    expect(performance.now() - began).toBeGreaterThanOrEqual(295);
  });
});
