// Deliveries to a real server that misbehaves: what is sent, how often, when it stops, and what is stored of it.
import { createHmac } from 'node:crypto';
import { readFileSync, readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import type { Answering, Arrived } from '../../service/loopback.ts';
import { serve } from '../../service/loopback.ts';
import { T0 } from '../../core/run-details.ts';
import type { Stage } from './stage.ts';
import { end, FAILED, noticeRows, stage, target, until } from './stage.ts';

const GIVEN_UP = 'select id from notices where failed_at is not null';

const status =
  (...codes: number[]): Answering =>
  (response, _, index) => {
    response.writeHead(codes[Math.min(index, codes.length - 1)] ?? 500).end();
  };

const bodyOf = (request: Arrived | undefined) =>
  JSON.parse(request?.body ?? 'null') as Record<string, unknown>;

/** Waits until this many attempts of the first notice have ended. */
async function attempted({ store }: Stage, attempts: number): Promise<void> {
  await until(() => expect(noticeRows(store)[0]).toMatchObject({ attempts }));
}

describe('a delivery', () => {
  it('posts the documented JSON with a user agent', async () => {
    const on = stage();
    const server = await serve(status(204));
    await end(on.notifier([target(`${server.url}/hook?key=1`)]), 3, FAILED);
    await until(() => expect(on.results).toHaveLength(1));
    expect(server.arrived).toHaveLength(1);
    const [request] = server.arrived;
    expect([request?.method, request?.url]).toEqual(['POST', '/hook?key=1']);
    expect(request?.headers).toMatchObject({
      'content-type': 'application/json',
      'user-agent': 'rolecall/1.2.3',
      'webhook-id': noticeRows(on.store)[0]?.id,
      'webhook-timestamp': String(T0 / 1000),
    });
    expect(request?.headers).not.toHaveProperty('webhook-signature');
    expect(bodyOf(request)).toEqual({
      type: 'failed',
      timestamp: '2026-03-10T12:03:01.000Z',
      data: {
        account: 'acme',
        runId: '01900000-0000-7000-8000-000000000003',
        status: 'failed',
        summary: null,
        created: 0,
        deleted: 0,
        failed: 0,
        error: { code: 'unavailable', message: 'the service did not answer' },
      },
    });
    expect(on.results).toEqual([{ account: 'acme', format: 'json', result: 'delivered' }]);
    expect(on.log.lines).toMatchObject([{ level: 'info', event: 'notification_delivered', attempts: 1 }]);
  });

  it('is signed over id, time and body when there is a secret', async () => {
    const on = stage();
    const server = await serve(status(500, 200));
    const key = Buffer.from('a key of twenty-four byte');
    on.env.set('KEY', `whsec_${key.toString('base64')}`);
    await end(on.notifier([target(server.url, { secret: { env: 'KEY' } })]), 1, FAILED);
    await attempted(on, 1);
    await on.clock.pass(1000);
    await attempted(on, 2);
    const signed = server.arrived.map(({ headers, body }) => {
      const content = `${String(headers['webhook-id'])}.${String(headers['webhook-timestamp'])}.${body}`;
      expect(headers['webhook-signature']).toBe(
        `v1,${createHmac('sha256', key).update(content).digest('base64')}`,
      );
      return [headers['webhook-id'], headers['webhook-timestamp'], body];
    });
    const [[id, time, body] = [], second] = signed;
    expect(second).toEqual([id, String(Number(time) + 1), body]);
  });

  it('that fails is repeated after 1, 4, 16 … seconds, and then reported as undelivered', async () => {
    const on = stage();
    const server = await serve(status(500));
    await end(on.notifier([target(server.url)]), 1, FAILED);
    const waits = [1, 4, 16, 64, 256, 1024];
    for (const [index, seconds] of waits.entries()) {
      await attempted(on, index + 1);
      const nextMs = Date.parse(noticeRows(on.store)[0]?.next_attempt_at ?? '');
      expect(nextMs - on.clock.nowMs()).toBe(seconds * 1000);
      await on.clock.pass(seconds * 1000);
    }
    await attempted(on, 7);
    expect(noticeRows(on.store)[0]).toMatchObject({ delivered_at: null, error: 'http_500' });
    await until(() =>
      expect(on.results.map(({ result }) => result).slice(-2)).toEqual(['retry', 'undelivered']),
    );
    expect(on.log.lines.map(({ level, event }) => [level, event])).toEqual([
      ['warn', 'notification_retried'],
      ['error', 'notification_undelivered'],
    ]);
    expect(on.log.lines[1]).toMatchObject({
      account: 'acme',
      runId: '01900000-0000-7000-8000-000000000001',
      type: 'failed',
      attempts: 7,
      reason: 'http_500',
    });
    expect(on.store.rows(GIVEN_UP)).toHaveLength(1);
    await on.clock.pass(3_600_000);
    expect(server.arrived).toHaveLength(7);
  });

  it('to an address that answers 410 is not repeated', async () => {
    const on = stage();
    const server = await serve(status(410));
    await end(on.notifier([target(server.url)]), 1, FAILED);
    await until(() =>
      expect(on.log.lines).toMatchObject([{ event: 'notification_undelivered', reason: 'http_410' }]),
    );
    expect(noticeRows(on.store)[0]).toMatchObject({ attempts: 1, error: 'http_410' });
  });

  it('follows no redirect', async () => {
    const on = stage();
    const elsewhere = await serve(status(200));
    const server = await serve((response) => {
      response.writeHead(307, { location: elsewhere.url }).end();
    });
    await end(on.notifier([target(server.url)]), 1, FAILED);
    await attempted(on, 1);
    expect(noticeRows(on.store)[0]).toMatchObject({ delivered_at: null, error: 'http_307' });
    expect(elsewhere.arrived).toEqual([]);
  });

  it('without an answer is aborted after ten seconds', async () => {
    const on = stage();
    const server = await serve((response, _, index) => {
      if (index > 0) response.writeHead(200).end();
    });
    await end(on.notifier([target(server.url)]), 1, FAILED);
    await until(() => expect(server.arrived).toHaveLength(1));
    await on.clock.pass(9999);
    expect(noticeRows(on.store)[0]?.attempts).toBe(0);
    await on.clock.pass(1);
    await attempted(on, 1);
    expect(noticeRows(on.store)[0]?.error).toBe('timeout');
    await on.clock.pass(1000);
    await until(() => expect(on.results.map(({ result }) => result)).toEqual(['retry', 'delivered']));
  });

  it('succeeds by the status of the response, whatever its body is', async () => {
    const on = stage();
    const endless = await serve((response) => {
      response.writeHead(200);
      const more = (): void => {
        if (response.write(Buffer.alloc(65_536))) setImmediate(more);
        else response.once('drain', more);
      };
      more();
    });
    const stuck = await serve((response) => {
      response.writeHead(200).write('…');
    });
    await end(on.notifier([target(endless.url), target(stuck.url)]), 1, FAILED);
    await until(() => expect(on.results).toHaveLength(1));
    await until(() => expect(stuck.arrived).toHaveLength(1));
    await until(async () => {
      await on.clock.pass(10_000);
      expect(on.results.map(({ result }) => result)).toEqual(['delivered', 'delivered']);
    });
  });

  it('to a closed port, or through one, reports the system error code', async () => {
    vi.stubEnv('http_proxy', '127.0.0.1:1');
    onTestFinished(() => void vi.unstubAllEnvs());
    const on = stage();
    const server = await serve((_response, _request, _index, socket) => void socket.destroy());
    await end(
      on.notifier([target('http://127.0.0.1:1/'), target(server.url), target('http://hook.test/')]),
      1,
      FAILED,
    );
    await until(() => {
      const errors = noticeRows(on.store).map(({ error }) => error);
      expect(errors).toEqual(['ECONNREFUSED', 'UND_ERR_SOCKET', 'proxy_ECONNREFUSED']);
    });
  });
});

describe('Retry-After', () => {
  const withRetryAfter =
    (header: string): Answering =>
    (response, _, index) => {
      response.writeHead(index === 0 ? 429 : 200, index === 0 ? { 'retry-after': header } : {}).end();
    };

  it.each([
    ['30', 30_000],
    [new Date(T0 + 90_000).toUTCString(), 90_000],
    ['999999', 3_600_000],
    ['0', 1000],
    ['soon', 1000],
  ])('of %s delays the next attempt', async (header, waitMs) => {
    const on = stage();
    const server = await serve(withRetryAfter(header));
    await end(on.notifier([target(server.url)]), 1, FAILED);
    await attempted(on, 1);
    expect(Date.parse(noticeRows(on.store)[0]?.next_attempt_at ?? '') - T0).toBe(waitMs);
  });

  it('pauses the target for all accounts', async () => {
    const on = stage();
    const server = await serve(withRetryAfter('30'));
    const notifier = on.notifier([target(server.url)]);
    await end(notifier, 1, FAILED);
    await attempted(on, 1);
    await end(notifier, 2, { ...FAILED, account: 'other' });
    await on.clock.pass(29_999);
    await end(notifier, 3, { ...FAILED, account: 'third' });
    expect(server.arrived).toHaveLength(1);
    await on.clock.pass(1);
    await until(() => expect(server.arrived).toHaveLength(4));
    const times = server.arrived.map(({ headers }) => Number(headers['webhook-timestamp']) - T0 / 1000);
    expect(times).toEqual([0, 30, 30, 30]);
  });
});

describe('a reference to an address or secret', () => {
  it('that cannot be resolved is a failure with its reason, and is used when it is fixed', async () => {
    const on = stage();
    const server = await serve(status(200));
    await end(on.notifier([target({ env: 'HOOK' }, { secret: { env: 'KEY' } })]), 1, FAILED);
    await attempted(on, 1);
    expect(noticeRows(on.store)[0]?.error).toBe('url_missing');
    on.env.set('HOOK', 'ftp://127.0.0.1/');
    await on.clock.pass(1000);
    await attempted(on, 2);
    expect(noticeRows(on.store)[0]?.error).toBe('url_invalid');
    on.env.set('HOOK', server.url);
    await on.clock.pass(4000);
    await attempted(on, 3);
    expect(noticeRows(on.store)[0]?.error).toBe('secret_missing');
    on.env.set('KEY', 'plain');
    await on.clock.pass(16_000);
    await until(() => expect(server.arrived).toHaveLength(1));
    expect(server.arrived[0]?.headers).toHaveProperty('webhook-signature');
  });
});

describe('secrets of notifications', () => {
  it('are neither in the store nor in the log, even if a server echoes them', async () => {
    const on = stage();
    const secrets = ['s3cr3t-in-the-address', 's3cr3t-by-reference', 's3cr3t-signing-key'] as const;
    const server = await serve((response, request) => {
      response.writeHead(400, `${request.url} ${secrets[2]}`, {
        location: request.url,
        'x-echo': secrets[2],
      });
      response.end(JSON.stringify([request.url, secrets]));
    });
    on.env.set('HOOK', `${server.url}/${secrets[1]}`);
    on.env.set('KEY', secrets[2]);
    const secret = { env: 'KEY' };
    const notifier = on.notifier([
      target(`${server.url}/${secrets[0]}`, { secret }),
      target({ env: 'HOOK' }, { secret, format: 'slack' }),
      target(`http://127.0.0.1:1/${secrets[0]}`, { secret, format: 'teams' }),
    ]);
    await end(notifier, 1, FAILED);
    for (const [index, waitMs] of [1000, 4000, 16_000, 64_000, 256_000, 1_024_000].entries()) {
      await until(() => expect(on.results).toHaveLength(3 * (index + 1)));
      await on.clock.pass(waitMs);
    }
    await until(() => expect(on.log.lines.filter(({ level }) => level === 'error')).toHaveLength(3));
    expect(on.store.rows(GIVEN_UP)).toHaveLength(3);
    const folder = dirname(on.store.file);
    const bytes = readdirSync(folder).map((name) => readFileSync(join(folder, name), 'latin1'));
    expect(bytes.join('')).toContain('http_400');
    for (const text of [...bytes, JSON.stringify(on.log.lines), JSON.stringify(on.results)]) {
      expect(text).not.toContain('s3cr3t');
      expect(text).not.toContain('127.0.0.1');
    }
  });
});
