// Unusual requests: unknown paths and encodings, failures, and the headers of every answer.
import { describe, expect, it } from 'vitest';
import { StoreError } from '../../../../src/core/errors.ts';
import type { HttpOptions } from '../../../../src/daemon/http/server.ts';
import { BEARER, FORM, HTML, JSON_BODY, start, TOKEN } from './stage.ts';

const AUTHORIZED = `Host: x\r\nAuthorization: Bearer ${TOKEN}\r\nConnection: close\r\n\r\n`;

const NOTHING = (): void => undefined;

describe('the path of a request', () => {
  const unknown = [
    '/nope',
    '/accounts/..%2f..%2fetc/passwd',
    '/accounts/%00',
    '/accounts/acme-eu%2fsync',
    '/accounts/%zz',
    '/accounts/%ff',
    '/accounts',
    '/accounts/',
    '/accounts/acme-eu/',
    '//accounts/acme-eu',
    '/accounts/acme%20eu',
    '/accounts/%E2%80%AE',
    '/accounts/acme-eu%3Fx',
    '/accounts/nobody',
    '/accounts/__proto__',
    '/accounts/constructor',
    '/runs/zz',
    '/runs/ffff',
    '/api/v1/accounts/nobody',
    '/api/v1/accounts/x;y',
    '/api/v1/runs/ffff',
    '/api/v1/runs/%27%20or%201=1',
    '/api/v2/accounts',
    '/api',
  ];

  it.each(unknown)('that is unknown is answered with 404, as JSON or as a page: %j', async (path) => {
    const { raw, get, logged } = await start();
    expect(await raw(`GET ${path} HTTP/1.1\r\n${AUTHORIZED}`)).toMatch(/^HTTP\/1\.1 404 /);
    const answer = await get(path, { ...BEARER, ...HTML });
    if (path.startsWith('/api')) expect(answer.json()).toMatchObject({ error: { code: 'not_found' } });
    else expect(answer.headers.get('content-type')).toMatch(/^text\/html/);
    expect(logged).toEqual([]);
  });

  it('can contain percent encodings that change nothing', async () => {
    const { get } = await start();
    expect((await get('/accounts/%61cme-eu', BEARER)).status).toBe(200);
    expect((await get('/accounts/%61cme-eu')).status).toBe(401);
    expect((await get('/%68ealthz')).status).toBe(200);
  });
});

describe('a failure of the server', () => {
  it('is answered without its reason, and logged', async () => {
    const broken = new Error('SQLITE_IOERR in /srv/secret/place.ts:12');
    const { get, post, logged } = await start({}, { broken });
    const api = await get('/api/v1/accounts', BEARER);
    expect([api.status, api.json()]).toMatchObject([500, { error: { code: 'internal' } }]);
    const page = await get('/', { ...BEARER, ...HTML });
    const plain = await get('/', BEARER);
    const action = await post('/api/v1/accounts/acme-eu/sync', BEARER);
    for (const { status, text, headers } of [api, page, plain, action]) {
      expect(status).toBe(500);
      expect(text).not.toMatch(/SQLITE|place|\bat /);
      expect(headers.get('content-security-policy')).toContain("default-src 'none'");
    }
    expect(logged).toHaveLength(4);
    expect(logged[0]).toMatchObject({
      event: 'http_failed',
      method: 'GET',
      path: '/api/v1/accounts',
      error: broken.message,
    });
  });

  it('of the store is answered with its message, which contains the fix', async () => {
    const broken = new StoreError(
      'store_full',
      'the disk of the store is full; free some space (SQLITE_FULL)',
    );
    const { get } = await start({}, { broken });
    const api = await get('/api/v1/accounts', BEARER);
    const error = { code: 'internal', message: broken.message };
    expect([api.status, api.json()]).toEqual([500, { error }]);
  });

  it('of the connection to the store is a 503 with a page that loads itself again, and is not logged for each request', async () => {
    const broken = new StoreError('store_unavailable', 'the database is not available (ECONNREFUSED)');
    const { get, post, logged } = await start({}, { broken });
    const api = await get('/api/v1/accounts', BEARER);
    expect([api.status, api.json()]).toEqual([
      503,
      { error: { code: 'store_unavailable', message: broken.message } },
    ]);
    const page = await get('/', { ...BEARER, ...HTML });
    expect(page.status).toBe(503);
    expect(page.text).toContain('<h1>The store is not available</h1>');
    expect(page.text).toContain('data-live="soon"');
    const action = await post('/accounts/acme-eu/pause', { ...BEARER, ...HTML, ...FORM });
    expect(action.status).toBe(503);
    expect(action.text).toContain('It is not known whether the action was done');
    expect(action.text).not.toContain('data-live');
    expect(logged).toEqual([]);
  });

  it('of a store that another program keeps locked is a 503, and logged, since the watch of the store may miss it', async () => {
    const broken = new StoreError('store_busy', 'another program keeps the store locked');
    const { get, logged } = await start({}, { broken });
    expect((await get('/api/v1/accounts', BEARER)).status).toBe(503);
    expect(logged).toMatchObject([{ event: 'http_failed', path: '/api/v1/accounts', error: broken.message }]);
  });

  it('of the connection to the store refuses everything that needs the store while it lasts', async () => {
    const outage = new AbortController();
    const error = new StoreError('store_unavailable', 'the database has not answered');
    const running = await start({ outage: () => outage.signal });
    await running.get('/api/v1/accounts', BEARER);
    outage.abort(error);
    const before = running.recorded.calls;
    for (const headers of [BEARER, { cookie: 'rolecall_session=whatever' }, {}])
      expect((await running.get('/api/v1/accounts', headers)).json()).toMatchObject({
        error: { code: 'store_unavailable' },
      });
    expect((await running.post('/api/v1/accounts/acme-eu/sync', BEARER)).status).toBe(503);
    expect(running.recorded.calls).toBe(before);
    for (const path of ['/healthz', '/readyz', '/metrics', '/sign-in'])
      expect((await running.get(path)).status).toBe(200);
  });

  it('of a readiness check is answered as not ready', async () => {
    const { get } = await start({ notReady: async () => ['the store cannot be written'] });
    const answer = await get('/readyz');
    expect([answer.status, answer.text]).toEqual([503, 'the store cannot be written\n']);
    expect((await get('/healthz')).status).toBe(200);
  });
});

describe('every response', () => {
  it('has headers against loading, framing, sniffing, caching and referrers', async () => {
    const { send, url } = await start();
    const answers = [
      await send('GET', '/', { ...BEARER, ...HTML }),
      await send('GET', '/', HTML),
      await send('GET', '/nope', BEARER),
      await send('GET', '/accounts/%00', BEARER),
      await send('GET', '/api/v1/accounts', BEARER),
      await send('GET', '/api/v1/accounts'),
      await send('PUT', '/api/v1/accounts', BEARER),
      await send('POST', '/api/v1/plans', { ...BEARER, ...JSON_BODY }, '{'),
      await send('POST', '/sign-in', { origin: url, ...FORM }, 'token=x'),
      await send('POST', '/sign-in', { origin: url, ...FORM }, `token=${encodeURIComponent(TOKEN)}`),
      await send('GET', '/healthz'),
      await send('HEAD', '/metrics'),
    ];
    for (const { headers } of answers) {
      const policy = headers.get('content-security-policy') ?? '';
      expect(policy).toContain("default-src 'none'");
      const parts = policy.split('; ');
      for (const part of ["frame-ancestors 'none'", "base-uri 'none'", "form-action 'self'"]) {
        expect(parts).toContain(part);
      }
      // Everything that is allowed at all is allowed from this server only.
      expect(parts.filter((part) => !/ '(none|self)'$/.test(part))).toEqual([]);
      expect(headers.get('x-content-type-options')).toBe('nosniff');
      expect(headers.get('referrer-policy')).toBe('no-referrer');
      expect(headers.get('cache-control')).toBe('no-store');
      expect(headers.get('cross-origin-opener-policy')).toBe('same-origin');
      expect(headers.get('cross-origin-resource-policy')).toBe('same-origin');
      expect(headers.has('strict-transport-security')).toBe(false);
      expect(headers.has('access-control-allow-origin')).toBe(false);
      expect(headers.has('x-powered-by')).toBe(false);
    }
  });

  it('sets Strict-Transport-Security only when https was used', async () => {
    const { get } = await start();
    const { headers } = await get('/healthz', { 'x-forwarded-proto': 'https' });
    expect(headers.get('strict-transport-security')).toMatch(/^max-age=\d{8}/);
  });
});

describe('a scrape', () => {
  function withMetrics(text: () => Promise<string>): Partial<HttpOptions> {
    return {
      metrics: {
        contentType: 'text/plain; version=0.0.4',
        text,
        wrongToken: NOTHING,
        connectionDropped: NOTHING,
      },
    };
  }

  it('is compressed for clients that accept it', async () => {
    const text = 'rolecall_a 1\n'.repeat(200);
    const { url } = await start(withMetrics(async () => text));
    for (const encoding of ['gzip', 'identity']) {
      const response = await fetch(`${url}/metrics`, { headers: { 'accept-encoding': encoding } });
      expect(await response.text()).toBe(text);
      expect(response.headers.get('content-type')).toBe('text/plain; version=0.0.4');
      expect(response.headers.get('content-encoding')).toBe(encoding === 'gzip' ? 'gzip' : null);
    }
  });

  it('that fails is answered with 500 and logged', async () => {
    const { get, logged } = await start(withMetrics(() => Promise.reject(new Error('broken'))));
    expect((await get('/metrics')).status).toBe(500);
    expect(logged).toMatchObject([{ event: 'http_failed', path: '/metrics', error: 'broken' }]);
  });
});
