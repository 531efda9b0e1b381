// What operators can give to a command.
import { describe, expect, it } from 'vitest';
import { isPauseReason, PLAN_DIGEST } from '../../../src/core/operator.ts';

describe('the reason of a pause', () => {
  it('can be absent, empty or up to 300 characters long', () => {
    expect([null, '', 'x'.repeat(300)].map(isPauseReason)).toEqual([true, true, true]);
    expect(isPauseReason('x'.repeat(301))).toBe(false);
  });
});

describe('the name of a plan', () => {
  const hex = '0123456789abcdef'.repeat(4);

  it.each([hex, `sha256:${hex}`, hex.slice(0, 8), `sha256:${hex.slice(0, 8)}`])('can be %s', (text) => {
    expect(PLAN_DIGEST.test(text)).toBe(true);
  });

  it.each([
    '',
    'sha256:',
    hex.slice(0, 7),
    `sha256:${hex.slice(0, 7)}`,
    `${hex}0`,
    hex.toUpperCase(),
    `sha1:${hex}`,
    `x${hex.slice(1)}`,
    ` ${hex}`,
    `${hex}\n`,
    '%%%%%%%%',
  ])('cannot be %j, which could be a guess or a pattern', (text) => {
    expect(PLAN_DIGEST.test(text)).toBe(false);
  });
});
