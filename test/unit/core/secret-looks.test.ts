// Texts that look like a token.
import { describe, expect, it } from 'vitest';
import { holdsToken, looksLikeSecret } from '../../../src/core/secret-looks.ts';

// prettier-ignore
const USUAL = [
  '', 'A', 'ACME_TOKEN', 'ACME_EU_WEST_TOKEN', 'K8S_TOKEN_2', 'a1b2', 'PLANNING_TOKEN_20260310', 'token-2026-03-10',
  'acme.token', 'acme token', 'ünïcödé', 'Acme-Token', '.env', 'v1', 'x'.repeat(15), 'Abcdefghijklmno', 'ABCDEFGHIJKLMNO',
  `a_${'b'.repeat(24)}`, `${'word_'.repeat(12)}word`, 'x23', 'A1',
];

describe('a name of a variable or a file', () => {
  it('is usual if it consists of words and short numbers', () => {
    expect(USUAL.filter(looksLikeSecret)).toEqual([]);
  });

  it.each([
    ['is longer than 64 characters', `${'word_'.repeat(12)}words`],
    ['has more than eight digits', 'TOKEN_123456789'],
    ['has more than eight digits in several words', 'TOKEN_1234_56789'],
    ['changes between letters and digits more than three times', 'a1b2c'],
    ['changes between letters and digits more than three times in all words', 'a1b_c2d'],
    ['has a word of more than 24 letters', `a_${'b'.repeat(25)}`],
    ['has a word in mixed case', 'acmeToken'],
    ['has a word in mixed case among others', 'MY_acmeToken_X'],
    ['has a capitalised word with another capital', 'AcMe'],
    ['has a word that only ends with a capital', 'acmE'],
    ['has a capitalised word with a capital after a digit', 'Acme2E'],
    ['is one word of 16 characters', 'x'.repeat(16)],
    ['is one word of 16 characters with its signs', `.${'x'.repeat(14)}.`],
  ])('looks like a secret when it %s', (_, name) => {
    expect(looksLikeSecret(name)).toBe(true);
  });
});

describe('a text', () => {
  it.each([
    ['a token of GitHub', 'ghp_a1b2c3d4e5f6g7h8i9j0'],
    ['a token of Stripe', 'sk_live_51HxAbCdEfGhIjKlMnOpQ'],
    ['a JSON web token', 'eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N'],
    ['a digest', '0f9e8d7c6b5a4f3e2d1c0b9a8f7e6d5c4b3a2f1e'],
    ['a key with slashes', 'wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLE4K9'],
    ['a key that is padded', 'abc/def+ghi1/jkl2/mno3/pqr/stu/v=='],
    ['a key of 32 characters', 'abc/def/ghi1/jkl2/mno3/pqr/stu/v'],
    ['a token of 20 characters', 'abcdefghijklmno12345'],
    ['a token beside words', 'the token abcdefghijklmno12345 is wrong'],
    ['a token in quotes', `x="abcdefghijklmno12345"`],
    ['a token in single quotes', `x='abcdefghijklmno12345'`],
    ['a token in a path', '/run/abcdefghijklmno12345/x'],
    ['a token in a path of Windows', 'C:\\abcdefghijklmno12345\\x'],
    ['a token on a line of its own', 'a\nabcdefghijklmno12345\nb'],
    ['a key with slashes in quotes', '"abc/def/ghi1/jkl2/mno3/pqr/stu/v" is wrong'],
    ['a token that only begins like an id', '0123456789abcdef0123456789'],
    ['a token that only ends like an id', 'zz0123456789abcdef01234567'],
    ['an id with another letter', '0123456789abcdefg0123456'],
    ['a UUID without its dashes', '0190000000007000800000000000000a'],
  ])('contains a token if it has %s', (_, text) => {
    expect(holdsToken(text)).toBe(true);
  });

  it.each([
    ['nothing', ''],
    ['words', 'Senior backend engineer, Kubernetes and JavaScript'],
    ['a name in mixed case', 'JavaScript'],
    ['a long word without a digit', 'Donaudampfschifffahrtsgesellschaft'],
    ['a long word in mixed case without a digit', 'internationalizationAndLocalization'],
    ['a long number', '12345678901234567890'],
    ['a piece of 19 characters', 'abcdefghijklmn12345'],
    ['a long name of usual words', 'planning-service-token-2'],
    ['the id of an entry', '65a1f0c2e4b0a1b2c3d4e5f6'],
    ['the id of an entry in upper case', '65A1F0C2E4B0A1B2C3D4E5F6'],
    ['a UUID', '01900000-0000-7000-8000-00000000000a'],
    ['a path', '/srv/rolecall/config/accounts/europe/acme.yaml'],
    ['a path with two digits', '/srv/rolecall/config1/accounts2/europe'],
    ['a number with slashes', '1234/1234/1234/1234/1234/1234/1234'],
    ['a short key with slashes', 'abc/def/ghi1/jkl2/mno3/pqr/stu'],
    ['a key with three signs of padding', 'abc/def/ghi1/jkl2/mno3/pqr/stu/v==='],
    ['a key with another character', 'abc/def/ghi1/jkl2/mno3/pqr/stu/v,'],
    ['a key after another character', ',abc/def/ghi1/jkl2/mno3/pqr/stu/v'],
  ])('contains no token if it has only %s', (_, text) => {
    expect(holdsToken(text)).toBe(false);
  });
});
