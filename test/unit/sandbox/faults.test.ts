import { gunzipSync } from 'node:zlib';
import { describe, expect, it, vi } from 'vitest';
import type { Fault, FaultAction } from '../../../src/sandbox/sandbox.ts';
import { api, call, create, json, list, names, only, start } from './client.ts';

const SKILLS = Array.from({ length: 10 }, (_, index) => `s${index}`);

async function withFault(
  action: FaultAction,
  match: NonNullable<Fault['match']> = {},
  more: Partial<Fault> = {},
) {
  const seed = { accounts: [{ name: 'acme', skills: SKILLS, resources: [{}] }] };
  return await start({ seed, faults: [{ match, do: action, ...more }] });
}

const CREATE = { method: 'POST' };
const stored = (sandbox: Awaited<ReturnType<typeof withFault>>) =>
  sandbox
    .state('acme')
    .skills.slice(SKILLS.length)
    .map((each) => each.name);

describe('a sandbox fault without effect', () => {
  it('returns a status with a body and headers, once, and does not execute the request', async () => {
    const sandbox = await withFault({
      type: 'status',
      status: 503,
      body: { a: 1 },
      headers: { 'retry-after': '3' },
    });
    const reply = await create(sandbox.url, 'skill', 'x');
    expect([reply.status, reply.text, reply.headers['retry-after']]).toEqual([503, '{"a":1}', '3']);
    expect(stored(sandbox)).toEqual([]);
    expect((await create(sandbox.url, 'skill', 'x')).status).toBe(201);
  });

  it('returns an HTML page, a redirect and a rate limit', async () => {
    const sandbox = await withFault({ type: 'html' });
    const html = await call('GET', api(sandbox.url, 'skill'));
    expect([html.status, html.headers['content-type']]).toEqual([200, 'text/html; charset=utf-8']);
    sandbox.setFaults([{ do: { type: 'redirect', to: 'https://elsewhere.example/' } }]);
    const redirect = await create(sandbox.url, 'skill', 'x');
    expect([redirect.status, redirect.headers['location']]).toEqual([307, 'https://elsewhere.example/']);
    const limits: (FaultAction & { type: 'rate-limit' })[] = [
      { type: 'rate-limit', retryAfter: 7 },
      { type: 'rate-limit', retryAfter: 60, format: 'date' },
      { type: 'rate-limit', retryAfter: 'soon' },
      { type: 'rate-limit' },
    ];
    sandbox.setFaults(limits.map((action) => ({ do: action })));
    const sentAtMs = Date.now();
    const replies = [];
    for (const _ of limits) replies.push(await create(sandbox.url, 'skill', 'x'));
    expect(replies.map((each) => each.status)).toEqual([429, 429, 429, 429]);
    const [seconds, date, text, none] = replies.map((each) => each.headers['retry-after']);
    expect([seconds, text, none]).toEqual(['7', 'soon', undefined]);
    // The header has whole seconds.
    expect(Date.parse(String(date))).toBeGreaterThanOrEqual(sentAtMs + 59_000);
    expect(Date.parse(String(date))).toBeLessThanOrEqual(Date.now() + 61_000);
    expect(stored(sandbox)).toEqual([]);
  });

  it('echoes the token in an error', async () => {
    const sandbox = await withFault({ type: 'echo-token', status: 500 });
    const reply = await call('GET', api(sandbox.url, 'skill'));
    expect([reply.status, reply.text.includes('Bearer sandbox-token-1')]).toEqual([500, true]);
  });
});

describe('a sandbox fault that loses the response', () => {
  it.each<[FaultAction, number | null, string[]]>([
    [{ type: 'drop-before-effect' }, null, []],
    [{ type: 'drop-after-effect' }, null, ['x']],
    [{ type: 'effect-then-status', status: 502 }, 502, ['x']],
  ])(
    'breaks the connection or returns an error, before or after the effect: %j',
    async (action, status, made) => {
      const sandbox = await withFault(action);
      const sent = await create(sandbox.url, 'skill', 'x').then(
        (reply) => reply.status,
        () => null,
      );
      expect([sent, stored(sandbox)]).toEqual([status, made]);
      const logged = { status, effect: made.length > 0, fault: action.type };
      expect(only(sandbox.requests())).toMatchObject(logged);
    },
  );

  it('delays the effect until after the connection broke', async () => {
    const sandbox = await withFault({ type: 'delay-effect', ms: 200 });
    await expect(create(sandbox.url, 'skill', 'x')).rejects.toThrow();
    expect(stored(sandbox)).toEqual([]);
    await vi.waitFor(() => expect(stored(sandbox)).toEqual(['x']), { interval: 10, timeout: 60_000 });
    expect(only(sandbox.requests())).toMatchObject({ status: null, effect: true });
  });
});

describe('a sandbox fault that changes the body', () => {
  it('cuts the body so that the connection breaks, or so that the body looks complete', async () => {
    const sandbox = await withFault({ type: 'cut-body', fraction: 0.5 });
    await expect(list(sandbox.url, 'skill')).rejects.toThrow();
    sandbox.setFaults([{ do: { type: 'cut-body', fraction: 0.5, silent: true } }]);
    const cut = await call('GET', api(sandbox.url, 'skill'));
    const full = await call('GET', api(sandbox.url, 'skill'));
    expect(cut.status).toBe(200);
    expect(full.text.startsWith(cut.text)).toBe(true);
    expect(cut.bytes.length).toBe(Math.floor(full.bytes.length / 2));
  });

  it('empties, shortens and repeats lists, and does not change other requests', async () => {
    const sandbox = await withFault({ type: 'empty-list' });
    expect((await create(sandbox.url, 'role', 'x')).status).toBe(201);
    expect(await list(sandbox.url, 'skill')).toEqual([]);
    sandbox.setFaults([{ match: { path: 'skill' }, do: { type: 'partial-list', fraction: 0.3 } }]);
    expect(await list(sandbox.url, 'resource')).toHaveLength(1);
    expect(await names(sandbox.url, 'skill')).toEqual(['s0', 's1', 's2']);
    sandbox.setFaults([{ do: { type: 'repeat-ids' } }]);
    const ids = (await list(sandbox.url, 'skill')).map((each) => each._id);
    expect([ids.length, new Set(ids).size]).toEqual([20, 10]);
    expect(await names(sandbox.url, 'skill')).toEqual(SKILLS);
  });

  it('returns JSON with a syntax error or of the wrong type', async () => {
    const sandbox = await withFault({ type: 'invalid-json' });
    const broken = await call('GET', api(sandbox.url, 'skill'));
    expect(() => json(broken)).toThrow(SyntaxError);
    sandbox.setFaults([
      { do: { type: 'wrong-type' } },
      { match: CREATE, do: { type: 'wrong-type' } },
      { do: { type: 'wrong-type', field: '_id' } },
    ]);
    expect(json(await call('GET', api(sandbox.url, 'skill')))['data']).toHaveLength(10);
    expect(JSON.parse((await create(sandbox.url, 'skill', 'x')).text)).toBeInstanceOf(Array);
    expect((await list(sandbox.url, 'skill')).every((each) => (each._id as unknown) === 7)).toBe(true);
  });

  it('sets a wrong account id, removes the id, or stores another name', async () => {
    const sandbox = await withFault({ type: 'wrong-account-id', id: 'stranger' });
    expect((await list(sandbox.url, 'skill')).every((each) => each['accountId'] === 'stranger')).toBe(true);
    sandbox.setFaults([{ do: { type: 'no-id' } }, { do: { type: 'rename', to: '{name} (2)' } }]);
    const nameless = await create(sandbox.url, 'skill', 'x');
    expect([nameless.status, '_id' in json(nameless)]).toEqual([201, false]);
    expect(json(await create(sandbox.url, 'skill', 'y'))['name']).toBe('y (2)');
    expect(stored(sandbox)).toEqual(['x', 'y (2)']);
  });

  it('fills the body with white space, compressed if the client accepts it', async () => {
    const sandbox = await withFault({ type: 'huge-body', bytes: 3_000_000 }, {}, { times: 2 });
    const plain = await call('GET', api(sandbox.url, 'skill'));
    expect(plain.bytes.length).toBe(3_000_000);
    expect(json(plain)).toHaveLength(10);
    const zipped = await call('GET', api(sandbox.url, 'skill'), { headers: { 'accept-encoding': 'gzip' } });
    expect(zipped.bytes.length).toBeLessThan(50_000);
    expect(gunzipSync(zipped.bytes).length).toBe(3_000_000);
  });
});

describe('a sandbox fault rule', () => {
  it('delays the response, and a later rule acts too', async () => {
    const sandbox = await start({
      faults: [{ do: { type: 'latency', ms: 60 } }, { do: { type: 'status', status: 500 } }],
    });
    const began = performance.now();
    expect((await call('GET', api(sandbox.url, 'skill'))).status).toBe(500);
    expect(performance.now() - began).toBeGreaterThan(55);
    expect(sandbox.faults().acted).toEqual([1, 1]);
  });

  it('ignores its first matches, acts the given number of times, then stops', async () => {
    const sandbox = await withFault({ type: 'status', status: 500 }, CREATE, { skip: 1, times: 2 });
    const seen = [];
    for (const name of ['a', 'b', 'c', 'd']) seen.push((await create(sandbox.url, 'skill', name)).status);
    expect(seen).toEqual([201, 500, 500, 201]);
  });

  it('acts with a probability that the random seed repeats', async () => {
    const run = async () => {
      const sandbox = await withFault(
        { type: 'status', status: 500 },
        {},
        { probability: 0.5, times: 'always' },
      );
      const seen = [];
      for (let turn = 0; turn < 30; turn += 1)
        seen.push((await call('GET', api(sandbox.url, 'role'))).status);
      return seen;
    };
    const [first, second] = [await run(), await run()];
    expect(first).toEqual(second);
    expect(new Set(first)).toEqual(new Set([200, 500]));
  });

  it('matches by method, kind, path, account and name', async () => {
    const sandbox = await start({ accounts: 2 });
    const isHit = async (match: NonNullable<Fault['match']>, send: () => Promise<{ status: number }>) => {
      sandbox.setFaults([{ match, do: { type: 'status', status: 599 } }]);
      return (await send()).status === 599;
    };
    const lists = () => call('GET', api(sandbox.url, 'skill'));
    for (const match of [{ method: 'get' }, { path: 'skill' }, { path: '^/api/public/v1/sk' }])
      expect([match, await isHit(match, lists)]).toEqual([match, true]);
    for (const match of [{ method: 'POST' }, { path: 'role' }, { path: 'v2' }])
      expect([match, await isHit(match, lists)]).toEqual([match, false]);
    const other = () => call('GET', api(sandbox.regions.eu, 'skill'), { token: 'sandbox-token-2' });
    expect(await isHit({ account: 'account-1' }, other)).toBe(false);
    expect(await isHit({ account: 'account-2' }, other)).toBe(true);
    const creates = () => create(sandbox.url, 'skill', 'Go');
    expect(await isHit({ name: 'Perl' }, creates)).toBe(false);
    expect(await isHit({ name: 'Go' }, creates)).toBe(true);
    const id = only(sandbox.state('account-1').skills).id;
    const deletes = () => call('DELETE', api(sandbox.url, `skill/${id}`));
    expect(await isHit({ method: 'DELETE', name: 'Go' }, deletes)).toBe(true);
  });
});
