// The wrapper that keeps a token out of every output.
import { inspect, format } from 'node:util';
import { describe, expect, it } from 'vitest';
import { Secret, spellings } from '../../../src/core/secret.ts';

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

  it('is returned only by reveal', () => {
    expect(secret.reveal()).toBe(VALUE);
  });

  it('is removed from a text wherever it occurs', () => {
    expect(secret.scrub(`a ${VALUE} b ${VALUE}${VALUE}`)).toBe('a [redacted] b [redacted][redacted]');
  });

  it('that is empty leaves a text unchanged', () => {
    expect(new Secret('').scrub('abc')).toBe('abc');
  });

  it.each([
    ['the secret', VALUE, true],
    ['a text with the secret in it', `Bearer ${VALUE}, it says`, true],
    ['all but its last character', VALUE.slice(0, -1), false],
    ['nothing', '', false],
  ])('is found in %s (%s): %s', (_, text, within) => {
    expect(secret.isIn(text)).toBe(within);
  });

  const LONG = 'k9/Qw"7\\z+R2&x%4=tY~m1LpV8sB3';
  it.each([
    ['in JSON', JSON.stringify(LONG)],
    ['in JSON within JSON', JSON.stringify(JSON.stringify(LONG))],
    ['in an address', encodeURIComponent(LONG)],
    [
      'in an address in small letters',
      encodeURIComponent(LONG).replace(/%../g, (byte) => byte.toLowerCase()),
    ],
    ['in a form', new URLSearchParams([['', LONG]]).toString()],
    ['in HTML', LONG.replace(/&/g, '&amp;').replace(/"/g, '&quot;')],
    ['in hex', Buffer.from(LONG).toString('hex')],
    ['in HEX', Buffer.from(LONG).toString('hex').toUpperCase()],
    ['in base64', Buffer.from(LONG).toString('base64')],
    ['in the base64 of a longer text', Buffer.from(`user:${LONG} and more`).toString('base64')],
    ['in the base64 of another', Buffer.from(`users:${LONG} and more`).toString('base64url')],
    ['cut to its first half', LONG.slice(0, 15)],
    ['cut to its second half', `…${LONG.slice(15)}`],
  ])('is removed from a text where it is %s', (_, spelled) => {
    const left = new Secret(LONG).scrub(`before ${spelled} after`);
    expect(left).toMatch(/^before .{0,12}\[redacted\].{0,20} after$/);
    expect(left.length).toBeLessThan(60);
  });

  it.each([
    ['the complete text', LONG.slice(0, 15), '[redacted]'],
    ['its last twelve characters', `x ${LONG.slice(-12)}`, 'x [redacted]'],
    ['at the start', `${LONG.slice(3, 18)} after`, '[redacted] after'],
    ['in two places', `a ${LONG.slice(0, 12)} b ${LONG.slice(15)} c`, 'a [redacted] b [redacted] c'],
    ['twice without a gap', `a ${LONG.slice(0, 12)}${LONG.slice(0, 12)} b`, 'a [redacted] b'],
  ])('is removed from a text where a part of it is %s', (_, text, left) => {
    expect(new Secret(LONG).scrub(text)).toBe(left);
  });

  it('leaves a text unchanged that shares a few characters with it', () => {
    const text = 'k9/Qw"7 and z+R2&x%4=tY, also 3d3d3d3d3d';
    expect(new Secret(LONG).scrub(text)).toBe(text);
  });

  it('with characters of regular expressions is matched literally', () => {
    expect(new Secret('a.c$&').scrub('abc$& a.c$&')).toBe('abc$& [redacted]');
  });
});

describe('a secret in another spelling', () => {
  const hex = '9f86d081884c7d659a2feaa0c55ad015';
  const secret = new Secret(hex);
  const codes = (form: (code: string) => string): string =>
    Array.from(hex, (character) => form(character.charCodeAt(0).toString(16))).join('');

  it.each([
    ['in upper case', hex.toUpperCase()],
    ['in groups', hex.replace(/(.{4})/g, '$1 ')],
    ['with invisible characters', Array.from(hex).join('\u200b')],
    ['percent-encoded', codes((code) => `%${code}`)],
    ['in codes of HTML', codes((code) => `&#x${code};`)],
    ['in decimal codes of HTML', codes((code) => `&#${Number.parseInt(code, 16)};`)],
    ['in codes of HTML without semicolons', codes((code) => `&#x${code}`).replaceAll('&', ' &')],
    ['in decimal codes without semicolons', codes((code) => ` &#${Number.parseInt(code, 16)}`)],
    ['with codes that only end like a letter between its own', Array.from(hex).join('&#x10061;')],
    ['with characters beyond ASCII between its own', Array.from(hex).join('&#8203;')],
    ['with percent-encoded bytes beyond ASCII between its own', Array.from(hex).join('%e2%80%8b')],
  ])('is removed %s', (_, written) => {
    expect(secret.scrub(`unknown key ${written} here`)).not.toContain(written.slice(0, 12));
    expect(secret.scrub(`unknown key ${written} here`)).toContain('[redacted]');
  });

  const mixed = 'tok_SECRETsecret+/=77aaBBcc';
  const each = (form: (character: string) => string): string => Array.from(mixed, form).join('');
  const hexCode = (character: string): string => character.charCodeAt(0).toString(16).padStart(2, '0');

  it.each([
    ['with escaped slashes', mixed.replace('/', '\\/')],
    ['with slashes that are escaped twice', mixed.replace('/', '\\\\\\/')],
    ['percent-encoded twice', encodeURIComponent(encodeURIComponent(mixed))],
    ['percent-encoded three times', encodeURIComponent(encodeURIComponent(encodeURIComponent(mixed)))],
    ['with one entity of HTML', mixed.replace('+', '&#43;')],
    ['with named entities of HTML', mixed.replace('+', '&plus;').replace('/', '&sol;')],
    ['in escapes of two digits', each((character) => `\\x${hexCode(character)}`)],
    ['in escapes of four digits', each((character) => `\\\\u00${hexCode(character)}`)],
    ['in escapes with braces', each((character) => `\\u{${hexCode(character)}}`)],
    ['in full width', each((character) => String.fromCharCode(character.charCodeAt(0) + 0xfee0))],
  ])('leaves no part %s', (_, written) => {
    expect(new Secret(mixed).scrub(`${mixed} and ${written} here`)).toBe('[redacted]');
  });

  it('and a usual spelling leave the text around them', () => {
    const text = `sent ${mixed}, not ${mixed.toUpperCase()}`;
    expect(new Secret(mixed).scrub(text)).toBe('sent [redacted], not [redacted]');
  });

  it('is removed if it has at least eight letters and digits, since a shorter one occurs by chance', () => {
    expect(new Secret('a1b2-c3d4').scrub('a1 b2 c3 d4')).toBe('[redacted]');
    expect(new Secret('a1b2-c3d').scrub('a1 b2 c3 d')).toBe('a1 b2 c3 d');
  });

  it('leaves other texts unchanged', () => {
    expect(secret.scrub('the key 9f86 d081 is unknown')).toBe('the key 9f86 d081 is unknown');
  });
});

describe('the spellings of a secret', () => {
  it('are plain, in JSON twice, in HTML, percent-encoded, in hex and in base64', () => {
    // Base64 of k"?> at the offsets 0, 1 and 2, without the characters that neighbouring bytes affect.
    const encoded = ['6b223f3e', '6B223F3E', 'ayI/P', 'siPz', 'rIj8+', 'ayI_P', 'rIj8-'];
    const readable = ['k"?>', 'k\\"?>', 'k\\\\\\"?>', 'k&quot;?&gt;', 'k%22%3F%3E', 'k%22%3f%3e'];
    expect([...new Set(spellings('k"?>'))]).toEqual(readable.concat(encoded));
  });

  it('do not include hex and base64 for a text that is not ASCII', () => {
    expect([...new Set(spellings('aü'))]).toEqual(['aü', 'a%C3%BC', 'a%c3%bc']);
  });
});
