// Text from outside is read in time that grows no faster than its length; test/long/ does it with more functions and shapes.
import { expect, it } from 'vitest';
import { joinAccounts } from '../../src/config/join-accounts.ts';
import { withoutUsers } from '../../src/core/remote-address.ts';
import { Secret } from '../../src/core/secret.ts';
import { stripped } from '../../src/config/secrets.ts';
import { visible } from '../../src/report/escape-invisible.ts';

const scrub = (text: string): string => new Secret('tok_SECRETsecret+/=77aaBBcc').scrub(text);

it.each([
  ['user names are removed from addresses', withoutUsers, 'a'],
  ['line ends are removed from a secret', stripped, '\n'],
  ['invisible characters are escaped', visible, '\\'],
  ['a secret is searched among backslashes', scrub, '\\'],
  ['a secret is searched among combining characters', scrub, '\u0300\u0316'],
  ['a secret is searched among percent codes', scrub, '25%25'],
])('a megabyte is processed in linear time when %s', (_, read, unit) => {
  // Quadratic time would take minutes, which is the limit of each test.
  expect(read(`x${unit.repeat(1_000_000 / unit.length)}x`)).toBeDefined();
});

it('accounts of which half wait for the other half are checked without following each of their globs for each of them', () => {
  const place = { file: '', line: 1, column: 1, severity: 'error', message: '' } as const;
  const rollout = { globs: [{ glob: 'b*', place }], isOwn: true };
  const account = (name: string) => ({ name, file: name, issues: [], isDated: false, rollout });
  const names = Array.from({ length: 3000 }, (_, index) => `${index % 2 === 0 ? 'a' : 'b'}${index}`);
  const joined = joinAccounts(names.map(account), true, String, []);
  // Cubic time would take minutes.
  expect(joined.filter(({ issues }) => issues.length > 0)).toHaveLength(1500);
});
