// Suggestions for mistyped words.
import { describe, expect, it } from 'vitest';
import { nearestWord } from '../../../src/core/did-you-mean.ts';

describe('the word that a mistyped one is nearest to', () => {
  it.each([
    ['a missing letter', 'polcy'],
    ['an additional letter', 'pollicy'],
    ['another letter', 'palicy'],
    ['two neighbours in the wrong order', 'poilcy'],
    ['a missing first letter', 'olicy'],
    ['an additional first letter', 'xpolicy'],
    ['the first two letters in the wrong order', 'oplicy'],
    ['the last two letters in the wrong order', 'poliyc'],
    ['a missing last letter', 'polic'],
    ['an additional last letter', 'policys'],
    ['two additional letters', 'pxolicyx'],
    ['two other letters', 'pelecy'],
    ['two swaps', 'oplciy'],
    ['the case of all letters', 'POLICY'],
    ['none', 'policy'],
  ])('is found although the mistake is %s', (_, word) => {
    expect(nearestWord(word, ['mode', 'policy', 'schedule'])).toBe('policy');
  });

  it.each([
    ['three missing letters', 'pol'],
    ['three additional letters', 'policyxyz'],
    ['three other letters', 'pelaci'],
    ['a swap and two other letters', 'oplaci'],
    ['letters in another order', 'ploiyx'],
    ['a missing letter and two additional ones', 'pxoicyz'],
    ['letters of the word in reverse', 'ycilop'],
    ['no letters at all', ''],
  ])('is not found when the mistake is %s', (_, word) => {
    expect(nearestWord(word, ['policy'])).toBeUndefined();
  });

  it('differs by one mistake at most when the word has up to four letters', () => {
    expect(nearestWord('mdoe', ['mode'])).toBe('mode');
    expect(nearestWord('mode', ['nude'])).toBeUndefined();
    expect(nearestWord('plcy', ['policy'])).toBeUndefined();
    expect(nearestWord('sedule', ['schedule'])).toBe('schedule');
    expect(nearestWord('modes', ['nodep'])).toBe('nodep');
  });

  it('is the one with the fewest mistakes, and the first one of those', () => {
    expect(nearestWord('roles', ['rules', 'roles', 'holes'])).toBe('roles');
    expect(nearestWord('roleX', ['poleX', 'roles', 'roleY'])).toBe('poleX');
    expect(nearestWord('skilsl', ['shells', 'skills'])).toBe('skills');
  });

  it('is not searched for when the word has more than 64 characters, which would take time', () => {
    const known = 'x'.repeat(64);
    expect(nearestWord(known, [known])).toBe(known);
    expect(nearestWord(`${known}x`, [known, `${known}x`])).toBeUndefined();
  });

  it('is undefined when no word is known', () => {
    expect(nearestWord('policy', [])).toBeUndefined();
  });
});
