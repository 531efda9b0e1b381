// The wrapper that keeps a token out of everything.
import { inspect, format } from 'node:util';
import { describe, expect, it } from 'vitest';
import { Secret } from '../../../src/core/secret.ts';

const VALUE = 'tok-3n-s3cret';
const secret = new Secret(VALUE);

describe('a secret', () => {
  it.each([
    ['a template', `${String(secret)}`],
    ['a concatenation', 'x' + secret],
    ['JSON', JSON.stringify({ token: secret, list: [secret] })],
    ['inspection', inspect({ deep: { token: secret } }, { depth: 9, showHidden: true })],
    ['a format string', format('%s %o %O %j', secret, secret, secret, secret)],
    ['its own keys', JSON.stringify([Object.keys(secret), Object.entries(secret)])],
    ['an error that carries it', inspect(new Error('x', { cause: secret }))],
  ])('does not show in %s', (_, text) => {
    expect(text).not.toContain(VALUE);
  });

  it('is given away by reveal alone', () => {
    expect(secret.reveal()).toBe(VALUE);
  });

  it('is taken out of a text as often as it stands there', () => {
    expect(secret.scrub(`a ${VALUE} b ${VALUE}${VALUE}`)).toBe('a [redacted] b [redacted][redacted]');
  });

  it('that is empty leaves a text as it is', () => {
    expect(new Secret('').scrub('abc')).toBe('abc');
  });

  it('with characters of regular expressions is taken literally', () => {
    expect(new Secret('a.c$&').scrub('abc$& a.c$&')).toBe('abc$& [redacted]');
  });
});
