// The Standard Webhooks headers against the specification's own example, and the arithmetic of retries and targets.
import fc from 'fast-check';
import { createHmac } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { Secret } from '../../../../src/core/secret.ts';
import { MAX_RETRY_AFTER_MS, retryWaitMs, webhookHeaders } from '../../../../src/daemon/notify/delivery.ts';
import { targetKey, targetsByKey } from '../../../../src/daemon/notify/target.ts';
import { target } from './stage.ts';

describe('the headers of a webhook', () => {
  it('are those of the published example', () => {
    const secret = new Secret('whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw');
    const headers = webhookHeaders(
      'msg_p5jXN8AQM9LWM0D4loKWxJek',
      1_614_265_330_000,
      '{"test": 2432232314}',
      secret,
    );
    expect(headers).toEqual({
      'webhook-id': 'msg_p5jXN8AQM9LWM0D4loKWxJek',
      'webhook-timestamp': '1614265330',
      'webhook-signature': 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=',
    });
  });

  it.each(['plain words', 'whsec_not base64!', 'whsec_', 'TWZLUQ=='])('use %j itself as the key', (text) => {
    const signature = createHmac('sha256', text).update('id.1.body').digest('base64');
    expect(webhookHeaders('id', 1999, 'body', new Secret(text))).toMatchObject({
      'webhook-timestamp': '1',
      'webhook-signature': `v1,${signature}`,
    });
  });

  it('have no signature without a secret', () => {
    expect(webhookHeaders('id', 0, '', null)).toEqual({ 'webhook-id': 'id', 'webhook-timestamp': '0' });
  });
});

describe('the wait before the next attempt', () => {
  it('varies by a fifth, and ends after the seventh attempt', () => {
    expect([retryWaitMs(1, 0), retryWaitMs(1, 0.5), retryWaitMs(1, 1)]).toEqual([800, 1000, 1200]);
    expect(retryWaitMs(6, 0.5)).toBe(1_024_000);
    expect(retryWaitMs(7, 0.5)).toBeNull();
    expect(retryWaitMs(7, 0.5, 60_000)).toBeNull();
  });

  it('is at least the Retry-After of the receiver, up to an hour, and at least the planned wait', () => {
    const attempt = fc.integer({ min: 1, max: 6 });
    const random = fc.double({ min: 0, max: 0.999, noNaN: true });
    fc.assert(
      fc.property(attempt, random, fc.integer({ min: 0, max: 1e9 }), (attempts, chance, retryAfterMs) => {
        const waitMs = retryWaitMs(attempts, chance, retryAfterMs) ?? 0;
        expect(waitMs).toBeGreaterThanOrEqual(Math.min(retryAfterMs, MAX_RETRY_AFTER_MS));
        expect(waitMs).toBeGreaterThanOrEqual(retryWaitMs(attempts, chance) ?? 0);
        expect(waitMs).toBeLessThanOrEqual(MAX_RETRY_AFTER_MS);
      }),
    );
  });
});

describe('the key of a target', () => {
  const hook = target('https://hooks.example/s3cr3t');

  it('depends on address, format and secret, not on events', () => {
    expect(targetKey({ ...hook, events: ['failed'] })).toBe(targetKey(hook));
    const others = [
      target('https://hooks.example/other'),
      { ...hook, format: 'slack' as const },
      { ...hook, secret: { env: 'A' } },
      { ...hook, secret: { file: 'A' } },
      target({ env: 'A' }),
      target({ file: 'A' }),
    ];
    expect(new Set([hook, ...others].map(targetKey)).size).toBe(7);
  });

  it('does not contain its address', () => {
    expect(targetKey(hook)).toMatch(/^[0-9a-f]{64}$/);
  });

  it('is the same for a target that is configured twice, which receives the events of both', () => {
    const merged = targetsByKey([
      { ...hook, events: ['failed', 'held'] },
      { ...hook, events: ['held', 'drift'] },
    ]);
    expect([...merged.values()]).toEqual([
      {
        ...hook,
        events: expect.toSatisfy((events: string[]) => events.toSorted().join() === 'drift,failed,held'),
      },
    ]);
  });
});
