// Which addresses count as one client, and how many clients are remembered.
import { expect, it } from 'vitest';
import { createAttempts } from '../../../../src/daemon/http/attempts.ts';

function failTen(attempts: ReturnType<typeof createAttempts>, address: string): void {
  for (let index = 0; index < 10; index += 1) attempts.failed(address);
}

it('an IPv6 /64 network is one client, and so is an IPv4 address in both spellings', () => {
  const attempts = createAttempts(() => 0);
  failTen(attempts, '2001:db8:1:2:aaaa::1');
  expect(attempts.waitMs('2001:db8:1:2::ffff')).toBe(60_000);
  expect(attempts.waitMs('2001:db8:1:3::1')).toBe(0);
  failTen(attempts, '::ffff:192.0.2.7');
  expect(attempts.waitMs('192.0.2.7')).toBe(60_000);
  expect(attempts.waitMs('::ffff:192.0.2.8')).toBe(0);
  failTen(attempts, 'fe80::1%eth0');
  expect(attempts.waitMs('fe80::1')).toBe(60_000);
  expect(attempts.waitMs('::1')).toBe(0);
});

it('the failures of one client do not affect another', () => {
  const attempts = createAttempts(() => 0);
  failTen(attempts, '192.0.2.1');
  expect([attempts.waitMs('192.0.2.1'), attempts.waitMs('192.0.2.2')]).toEqual([60_000, 0]);
});

it('with too many clients, the one whose last failure is the oldest is forgotten', () => {
  const attempts = createAttempts(() => 0);
  failTen(attempts, '192.0.2.1');
  failTen(attempts, '192.0.2.2');
  for (let index = 0; index < 9998; index += 1) attempts.failed(`10.${index >> 8}.${index & 255}.1`);
  expect(attempts.waitMs('192.0.2.1')).toBe(60_000);
  attempts.failed('10.255.255.255');
  expect(attempts.waitMs('192.0.2.1')).toBe(0);
  expect(attempts.waitMs('192.0.2.2')).toBe(60_000);
});

it('failures older than a minute no longer count', () => {
  let nowMs = 0;
  const attempts = createAttempts(() => nowMs);
  for (nowMs = 0; nowMs < 100_000; nowMs += 10_000) attempts.failed('192.0.2.1');
  expect(attempts.waitMs('192.0.2.1')).toBe(0);
});
