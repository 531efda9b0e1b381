// The spellings of a secret that are removed from texts.
import { describe, expect, it } from 'vitest';
import { spellings } from '../../../src/core/secret.ts';

/** The text unchanged, in JSON, and in JSON within JSON. */
const inJson = (text: string): string[] => {
  const once = JSON.stringify(text).slice(1, -1);
  return [text, once, JSON.stringify(once).slice(1, -1)];
};

describe('the spellings of a secret', () => {
  it('are plain, in JSON twice, in HTML, percent-encoded, in hex and in base64', () => {
    expect(spellings('k"?>')).toEqual([
      'k"?>',
      'k\\"?>',
      'k\\\\\\"?>',
      'k&quot;?&gt;',
      'k%22%3F%3E',
      'k%22%3f%3e',
      'k%22%3F%3E',
      'k%22%3f%3e',
      '6b223f3e',
      '6B223F3E',
      // Base64 of k"?> at the offsets 0, 1 and 2, without the characters that neighbouring bytes affect.
      'ayI/P',
      'siPz',
      'rIj8+',
      'ayI_P',
      'siPz',
      'rIj8-',
    ]);
  });

  it('are also percent-encoded as in forms', () => {
    const [code, small, strict, strictSmall] = spellings("-_.!~*'()").slice(4);
    expect([code, small]).toEqual(["-_.!~*'()", "-_.!~*'()"]);
    expect([strict, strictSmall]).toEqual(['-_.%21%7E%2A%27%28%29', '-_.%21%7e%2a%27%28%29']);
  });

  it('have two digits for every byte in hex, from the first character of ASCII to the last', () => {
    expect(spellings('\0\t\x7f')).toContain('00097f');
  });

  it('do not include hex and base64 for a text that is not ASCII', () => {
    const encoded = ['a%C3%BC', 'a%c3%bc'];
    expect(spellings('aü')).toEqual([...inJson('aü'), 'aü', ...encoded, ...encoded]);
  });

  it('do not include bytes for a lone surrogate', () => {
    expect(spellings('a\ud800')).toEqual([...inJson('a\ud800'), 'a\ud800']);
  });
});
