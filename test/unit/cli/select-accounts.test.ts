import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { accountNamed, selectAccounts } from '../../../src/cli/load-accounts.ts';
import { UsageError } from '../../../src/core/errors.ts';

const ACCOUNTS = ['au', 'eu-live', 'eu-test', 'us'].map((name) => ({ name }));
const select = (...args: string[]): string[] => selectAccounts(ACCOUNTS, args).map(({ name }) => name);

describe('the selected accounts', () => {
  test.each([
    [[], ['au', 'eu-live', 'eu-test', 'us']],
    [
      ['us', 'au'],
      ['us', 'au'],
    ],
    [['us', 'us'], ['us']],
    [['eu-*'], ['eu-live', 'eu-test']],
    [['?u'], ['au']],
    [['*'], ['au', 'eu-live', 'eu-test', 'us']],
    [
      ['us', '*'],
      ['us', 'au', 'eu-live', 'eu-test'],
    ],
    [['!eu-test'], ['au', 'eu-live', 'us']],
    [['!eu-*', '!us'], ['au']],
    [['eu-*', '!eu-test'], ['eu-live']],
    [['!eu-test', 'eu-*'], ['eu-live']],
    [['!eu-test', 'eu-test', 'us'], ['us']],
  ])('for %j are %j', (args, expected) => {
    expect(select(...args)).toEqual(expected);
  });

  test.each([
    [['nobody'], 'there is no account "nobody"; the accounts are: au, eu-live, eu-test, us'],
    [
      ['eu-tset'],
      'there is no account "eu-tset" (did you mean "eu-test"?); the accounts are: au, eu-live, eu-test, us',
    ],
    [['zz-*'], 'no account matches "zz-*"; the accounts are: au, eu-live, eu-test, us'],
    [['EU-*'], 'no account matches "EU-*"; the accounts are: au, eu-live, eu-test, us'],
    [['us', '!eu-tset'], 'no account matches "!eu-tset"; the accounts are: au, eu-live, eu-test, us'],
    [[''], 'there is no account ""; the accounts are: au, eu-live, eu-test, us'],
    [['!'], 'no account matches "!"; the accounts are: au, eu-live, eu-test, us'],
    [['us', '!us'], '"us" "!us" selects no account; the accounts are: au, eu-live, eu-test, us'],
  ])('for %j are an error', (args, message) => {
    expect(() => select(...args)).toThrow(new UsageError(message));
  });

  test('for an argument that is the name of an account are that account, even if it is also a glob', () => {
    const accounts = [{ name: 'a*' }, { name: 'ab' }];
    expect(selectAccounts(accounts, ['a*'])).toEqual([{ name: 'a*' }]);
    expect(accountNamed(accounts, 'a*')).toEqual({ name: 'a*' });
    expect(() => accountNamed(accounts, 'a?')).toThrow(UsageError);
  });

  test('never include what an exclusion matches, and are never listed twice', () => {
    const arg = fc.tuple(fc.constantFrom('', '!'), fc.constantFrom('*', 'eu-*', '?u', 'us', 'eu-test'));
    fc.assert(
      fc.property(fc.array(arg, { minLength: 1 }), (parts) => {
        const args = parts.map((part) => part.join(''));
        const excluded = parts.flatMap(([sign, glob]) => (sign === '!' ? select(glob) : []));
        const included = parts.flatMap(([sign, glob]) => (sign === '' ? select(glob) : []));
        const base = included.length === 0 ? select() : included;
        const expected = new Set(base.filter((name) => !excluded.includes(name)));
        if (expected.size === 0) expect(() => select(...args)).toThrow(UsageError);
        else expect(select(...args)).toEqual([...expected]);
      }),
    );
  });
});
