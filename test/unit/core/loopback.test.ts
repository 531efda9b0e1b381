// The hosts that are this machine.
import { describe, expect, it } from 'vitest';
import { isLoopback } from '../../../src/core/remote-address.ts';

describe('a host', () => {
  it.each(['localhost', 'LocalHost', '::1', '[::1]', '127.0.0.1', '127.255.255.255', '127.1.20.200'])(
    'is this machine: %s',
    (host) => {
      expect(isLoopback(host)).toBe(true);
    },
  );

  it.each([
    '',
    'example.com',
    'localhost.example.com',
    '127.example.com',
    '127.0.0.1.example.com',
    'a127.0.0.1',
    '128.0.0.1',
    '127.0.0.256',
    '127.0.0',
    '0.0.0.0',
    '::',
    '[::2]',
    'local[host',
    'local]host',
  ])('may be another machine: %j', (host) => {
    expect(isLoopback(host)).toBe(false);
  });
});
