// Which requests are repeated, against a real server that fails.
import { describe, expect, it } from 'vitest';
import { ServiceError } from '../../../src/core/errors.ts';
import { freePort } from '../../support/loopback.ts';
import { accountAt } from './account-at.ts';
import { ALWAYS, client, connect, json, newSignals, serve } from './loopback.ts';

async function failure(promise: Promise<unknown>): Promise<ServiceError> {
  const error: unknown = await promise.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (error instanceof ServiceError) return error;
  throw new Error(`expected a ServiceError, got ${String(error)}`);
}

const SKILL = { _id: 's1', name: 'New', accountId: '42' };

describe('a list', () => {
  it.each([408, 425, 429, 500, 502, 503, 504])('is requested again after %d', async (status) => {
    const server = await serve((response, _, index) =>
      json(response, index === 0 ? {} : [], index === 0 ? status : 200),
    );
    const { reader } = await client(server.url);
    expect((await reader.listEntries('skill')).items).toEqual([]);
    expect(server.arrived).toHaveLength(2);
    expect(reader.traffic()).toEqual({ requests: 2, retries: 1 });
  });

  it.each([400, 404, 405, 409, 410, 413, 422, 501])('is not requested again after %d', async (status) => {
    const server = await serve((response) => json(response, { detail: 'no' }, status));
    const { reader } = await client(server.url);
    expect((await failure(reader.listEntries('role'))).httpStatus).toBe(status);
    expect(server.arrived).toHaveLength(1);
  });

  it.each([401, 403])('fails as unauthorized after %d, immediately', async (status) => {
    const server = await serve((response) => json(response, { detail: 'no' }, status));
    const { reader } = await client(server.url);
    expect(await failure(reader.listResources())).toMatchObject({ kind: 'auth', code: 'unauthorized' });
    expect(server.arrived).toHaveLength(1);
  });

  it('is requested at most as often as retries allow', async () => {
    const server = await serve((response) => json(response, {}, 503));
    const { reader } = await client(server.url, { retries: 3 });
    expect(await failure(reader.listEntries('skill'))).toMatchObject({
      kind: 'unavailable',
      httpStatus: 503,
    });
    expect(server.arrived).toHaveLength(4);
  });

  it('is requested again when the service does not listen yet', async () => {
    const { reader } = await client(`http://127.0.0.1:${String(await freePort())}`, { retries: 1 });
    const error = await failure(reader.listEntries('skill'));
    expect(error).toMatchObject({ kind: 'unavailable' });
    expect(error.message).toContain('ECONNREFUSED');
    expect(reader.traffic()).toEqual({ requests: 2, retries: 1 });
  });

  it('is not requested after the stop', async () => {
    const server = await serve((response) => json(response, []));
    const { reader, stop } = await client(server.url);
    stop.abort();
    expect((await failure(reader.listEntries('skill'))).kind).toBe('unavailable');
    expect(server.arrived).toEqual([]);
  });
});

describe('Retry-After', () => {
  it('of one call delays the other calls of the account', async () => {
    const server = await serve((response, _, index) =>
      index === 0 ? json(response, {}, 429, { 'retry-after': '1' }) : json(response, []),
    );
    const { reader } = await client(server.url, { concurrency: 1 });
    await Promise.all([reader.listEntries('skill'), reader.listEntries('role'), reader.listResources()]);
    const [first, ...others] = server.arrived.map(({ atMs }) => atMs);
    expect(others.length).toBe(3);
    expect(Math.min(...others) - (first ?? 0)).toBeGreaterThan(950);
  });

  it.each([401, 403, 409, 429, 501, 503])(
    'over two minutes fails as throttled after %d, and no further request is sent',
    async (status) => {
      const server = await serve((response) => json(response, {}, status, { 'retry-after': '121' }));
      const { reader, writer } = await client(server.url);
      const error = await failure(reader.listEntries('skill'));
      expect(error).toMatchObject({ kind: 'throttled', code: 'throttled', retryAfterMs: 121_000 });
      expect(error.message).not.toContain('token');
      expect((await failure(reader.listEntries('role'))).kind).toBe('throttled');
      expect(await writer.create('skill', 'New', ALWAYS)).toMatchObject({ type: 'failed', attempts: 0 });
      expect(await writer.delete('skill', 's1', ALWAYS)).toMatchObject({ type: 'failed', attempts: 0 });
      expect(server.arrived).toHaveLength(1);
    },
  );

  it('of one run applies to the next run of this process, but not to another account', async () => {
    const server = await serve((response) => json(response, {}, 503, { 'retry-after': '3600' }));
    const connections = connect();
    for (const account of ['acme', 'acme', 'other']) {
      const reader = await connections.reader(accountAt(server.url, account), newSignals().signals);
      expect(await failure(reader.listEntries('skill'))).toMatchObject({ kind: 'throttled' });
    }
    expect(server.arrived).toHaveLength(2);
  });

  it.each([403, 404, 501])('of a refusal with status %d delays the next attempt', async (status) => {
    const server = await serve((response, _, index) =>
      index === 0 ? json(response, {}, status, { 'retry-after': '0' }) : json(response, []),
    );
    const { reader } = await client(server.url);
    expect((await reader.listEntries('skill')).items).toEqual([]);
    expect(server.arrived).toHaveLength(2);
  });

  it('does not hide that the token was rejected with 401', async () => {
    const server = await serve((response) => json(response, {}, 401, { 'retry-after': '1' }));
    const { reader } = await client(server.url);
    expect(await failure(reader.listEntries('skill'))).toMatchObject({ kind: 'auth' });
    expect(server.arrived).toHaveLength(1);
  });
});

describe('a create', () => {
  it('is sent in the documented form', async () => {
    const server = await serve((response) => json(response, SKILL, 201));
    const { writer } = await client(server.url);
    expect(await writer.create('skill', 'New', ALWAYS)).toMatchObject({
      type: 'created',
      attempts: 1,
      httpStatus: 201,
      entry: { id: 's1', name: 'New', accountId: '42' },
    });
    const [sent] = server.arrived;
    expect([sent?.method, sent?.url, sent?.body]).toEqual(['POST', '/api/public/v1/skill', '{"name":"New"}']);
    expect(sent?.headers['content-type']).toMatch(/^application\/json/);
  });

  it.each([200, 201, 202, 299])('is done with any 2xx and a valid entry: %d', async (status) => {
    const server = await serve((response) => json(response, SKILL, status));
    const { writer } = await client(server.url);
    expect((await writer.create('role', 'New', ALWAYS)).type).toBe('created');
  });

  it.each([403, 429])('is sent again after %d, because it certainly had no effect', async (status) => {
    const headers = status === 403 ? { 'retry-after': '0' } : {};
    const server = await serve((response, _, index) =>
      index < 2 ? json(response, {}, status, headers) : json(response, SKILL, 201),
    );
    const { writer } = await client(server.url);
    expect(await writer.create('skill', 'New', ALWAYS)).toMatchObject({ type: 'created', attempts: 3 });
  });

  it.each([300, 302, 304, 308, 408, 500, 501, 502, 503, 504, 520])(
    'is doubtful after %d and is not sent again',
    async (status) => {
      const server = await serve((response) => json(response, {}, status));
      const { writer } = await client(server.url);
      expect(await writer.create('skill', 'New', ALWAYS)).toMatchObject({
        type: 'doubtful',
        attempts: 1,
        httpStatus: status,
      });
      expect(server.arrived).toHaveLength(1);
    },
  );

  it.each([400, 401, 403, 404, 409, 413, 422, 425])(
    'is refused by %d and is not sent again',
    async (status) => {
      const server = await serve((response) => json(response, { detail: 'no' }, status));
      const { writer } = await client(server.url);
      const outcome = await writer.create('skill', 'New', ALWAYS);
      expect(outcome).toMatchObject({ type: 'failed', attempts: 1, error: { httpStatus: status } });
      expect(server.arrived).toHaveLength(1);
    },
  );

  it.each(['destroy', 'resetAndDestroy'] as const)(
    'is doubtful when the connection breaks: %s',
    async (how) => {
      const server = await serve((_response, _request, _index, socket) => void socket[how]());
      const { writer } = await client(server.url);
      expect(await writer.create('skill', 'New', ALWAYS)).toMatchObject({
        type: 'doubtful',
        attempts: 1,
        httpStatus: null,
      });
      expect(server.arrived).toHaveLength(1);
    },
  );

  it('is doubtful when the answer takes longer than the timeout', async () => {
    const server = await serve(() => undefined);
    const { writer } = await client(server.url, { timeoutMs: 200 });
    expect(await writer.create('skill', 'New', ALWAYS)).toMatchObject({ type: 'doubtful', attempts: 1 });
    expect(server.arrived).toHaveLength(1);
  });

  it('is doubtful when it is aborted in flight, and is not sent again', async () => {
    let reached = (): void => undefined;
    const arrived = new Promise<void>((resolve) => (reached = resolve));
    const server = await serve(() => reached());
    const { writer, kill } = await client(server.url);
    const outcome = writer.create('skill', 'New', ALWAYS);
    await arrived;
    kill.abort();
    expect(await outcome).toMatchObject({ type: 'doubtful', attempts: 1 });
    expect(server.arrived).toHaveLength(1);
  });
});

describe('a delete', () => {
  it.each([408, 425, 429, 500, 502, 503, 504])('is sent again after %d', async (status) => {
    const server = await serve((response, _, index) => json(response, 'x', index === 0 ? status : 200));
    const { writer } = await client(server.url);
    expect(await writer.delete('skill', 's1', ALWAYS)).toMatchObject({ type: 'deleted', attempts: 2 });
  });

  it('is sent again when the connection breaks', async () => {
    const server = await serve((response, _, index, socket) =>
      index === 0 ? void socket.destroy() : json(response, 'gone', 200),
    );
    const { writer } = await client(server.url);
    expect(await writer.delete('skill', 's1', ALWAYS)).toMatchObject({ type: 'deleted', attempts: 2 });
  });

  it('is doubtful when all its answers are lost', async () => {
    const server = await serve((_response, _request, _index, socket) => void socket.destroy());
    const { writer } = await client(server.url);
    const lost = { type: 'failed', maybeDone: true, attempts: 3 };
    expect(await writer.delete('role', 'r1', ALWAYS)).toMatchObject(lost);
  });

  it('counts as possibly done when a stop follows an inconclusive answer', async () => {
    const server = await serve((response) => {
      stop.abort();
      json(response, 'x', 503);
    });
    const { writer, stop } = await client(server.url);
    expect(await writer.delete('role', 'r1', ALWAYS)).toMatchObject({
      type: 'failed',
      attempts: 1,
      maybeDone: true,
    });
  });

  it.each([400, 401, 429])(
    'counts as possibly done when %d follows an inconclusive answer',
    async (status) => {
      const server = await serve((response, _, index) => json(response, 'x', index === 0 ? 503 : status));
      const { writer } = await client(server.url);
      expect(await writer.delete('role', 'r1', ALWAYS)).toMatchObject({
        type: 'failed',
        error: { httpStatus: status },
        maybeDone: true,
      });
    },
  );

  it('requests exactly one id, whatever characters it has', async () => {
    const server = await serve((response) => json(response, 'x'));
    const { writer } = await client(server.url);
    await writer.delete('role', 'a/b?c#d e%2F', ALWAYS);
    expect(server.arrived[0]?.url).toBe('/api/public/v1/role/a%2Fb%3Fc%23d%20e%252F');
    expect([server.arrived[0]?.method, server.arrived[0]?.body]).toEqual(['DELETE', '']);
  });

  it.each([
    '.',
    '..',
    '../role/x',
    'x/..',
    'a\\..\\b',
    '%2e%2E',
    '%252e%252e/role/x',
    '..%2Frole%2fx',
    '..%5crole',
    '..;a/role/x',
    './x',
  ])('with the id %j never requests another path', async (id) => {
    const server = await serve((response) => json(response, 'x'));
    const { writer } = await client(server.url);
    expect(await writer.delete('skill', id, ALWAYS)).toMatchObject({ type: 'failed', attempts: 0 });
    expect(server.arrived).toEqual([]);
  });

  it.each([
    ['nothing', ''],
    ['no JSON', '<html>'],
    ['an object', '{"a":1}'],
  ])('is done when the body of the 2xx answer is %s', async (_, body) => {
    const server = await serve((response) => void response.writeHead(200).end(body));
    const { writer } = await client(server.url);
    expect(await writer.delete('skill', 's1', ALWAYS)).toMatchObject({ type: 'deleted', attempts: 1 });
  });
});
