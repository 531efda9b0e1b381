// Which address is that of the client behind proxies.
import { expect, it } from 'vitest';
import { createClientAddress } from '../../../../src/daemon/http/client-address.ts';

it('X-Forwarded-For is ignored unless the connection comes from a trusted proxy', () => {
  const address = createClientAddress(['10.0.0.0/8']);
  expect(address('192.0.2.1', '203.0.113.9')).toBe('192.0.2.1');
  expect(createClientAddress([])('10.0.0.1', '203.0.113.9')).toBe('10.0.0.1');
});

it.each([
  ['203.0.113.9', '203.0.113.9'],
  ['1.1.1.1, 203.0.113.9', '203.0.113.9'],
  ['203.0.113.9, 10.2.3.4 , 2001:db8::7', '203.0.113.9'],
  ['203.0.113.9:4711', '203.0.113.9'],
  ['[2001:db8:1::9]:4711', '2001:db8:1::9'],
  ['::ffff:203.0.113.9', '203.0.113.9'],
  ['10.9.9.9', '10.9.9.9'],
  // A part that is not an address ends the chain: then the last known proxy is the client.
  ['203.0.113.9, unknown, 10.2.3.4', '10.2.3.4'],
  ['"><script>', '10.0.0.1'],
  ['', '10.0.0.1'],
  [undefined, '10.0.0.1'],
  [Array.from({ length: 5000 }, () => '10.0.0.2').join(), '10.0.0.2'],
])(
  'in X-Forwarded-For %s the client is the rightmost address that is not a trusted proxy',
  (header, client) => {
    const address = createClientAddress(['10.0.0.0/8', '2001:db8::7', '2001:db8:2::/48']);
    expect(address('::ffff:10.0.0.1', header)).toBe(client);
  },
);
