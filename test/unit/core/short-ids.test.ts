// The shortest beginnings of ids that name one run.
import { describe, expect, it } from 'vitest';
import { distinctLength } from '../../../src/store/short-run-ids.ts';

const ID = '01900000-0000-7000-8000-000000000001';

describe('the beginning of an id that names one run', () => {
  it('contains at least the time, with which no later run begins', () => {
    expect(distinctLength(ID, [])).toBe(13);
    expect(distinctLength(ID, [null, null])).toBe(13);
    expect(distinctLength(ID, ['0190ffff-0000-7000-8000-000000000001'])).toBe(13);
    expect(ID.slice(0, 13)).toBe('01900000-0000');
  });

  it('ends with the first character in which the id differs from all others', () => {
    const near = '01900000-0000-7000-8000-000000000111';
    const nearer = '01900000-0000-7000-8000-000000000011';
    expect(distinctLength(ID, [near])).toBe(34);
    expect(distinctLength(ID, [near, nearer])).toBe(35);
    expect(distinctLength(ID, [nearer, near])).toBe(35);
    expect(distinctLength(ID, ['01900000-0000x', null])).toBe(14);
    expect(distinctLength(ID, ['01900000-000x0'])).toBe(13);
  });

  it('is the complete id when another id begins with it', () => {
    expect(distinctLength(ID, [`${ID}0`])).toBe(ID.length);
  });

  it('is not longer than a short id', () => {
    expect(distinctLength('run-1', ['run-2', null])).toBe(5);
    expect(distinctLength('', ['run-2'])).toBe(0);
  });
});
