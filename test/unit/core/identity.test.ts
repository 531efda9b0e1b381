// The check that the account behind the token is the intended one.
import { describe, expect, it } from 'vitest';
import { ServiceError } from '../../../src/core/errors.ts';
import {
  checkIdentity,
  copiedToken,
  foreignEntries,
  listedAccountId,
  sharedToken,
} from '../../../src/core/identity.ts';
import { entry, observed, person } from './builders.ts';

const FACTS = { account: 'acme', pinned: undefined, remembered: null };

function failure(run: () => unknown): ServiceError {
  try {
    run();
  } catch (error) {
    if (error instanceof ServiceError) return error;
  }
  throw new Error('it did not fail as an error of the service');
}

describe('the listed account id', () => {
  it('is the one that all objects of all lists carry', () => {
    expect(listedAccountId(observed({ skill: [entry('a'), { ...entry('b'), accountId: '7' }] }))).toBe('7');
    expect(listedAccountId(observed({ role: [{ ...entry('a'), accountId: '7' }] }))).toBe('7');
    expect(listedAccountId(observed({ resources: [{ ...person('p'), accountId: '7' }] }))).toBe('7');
  });

  it('is null when no object carries one', () => {
    expect(listedAccountId(observed({ skill: [entry('a')], resources: [person('p')] }))).toBeNull();
  });

  it('is refused when two objects of different lists disagree', () => {
    const mixed = observed({
      skill: [{ ...entry('a'), accountId: '7' }],
      resources: [{ ...person('p'), accountId: '8' }],
    });
    expect(failure(() => listedAccountId(mixed))).toMatchObject({
      kind: 'identity',
      code: 'identity_mismatch',
    });
  });
});

describe('a refusal of lists that disagree', () => {
  it('names the account ids in their order, five at most', () => {
    const skill = ['6', '5', '4', '3', '2', '1'].map((accountId) => ({ ...entry(accountId), accountId }));
    expect(failure(() => listedAccountId(observed({ skill }))).message).toContain('(1, 2, 3, 4, 5);');
  });
});

describe('the check of identity', () => {
  it('returns the listed id in a first run', () => {
    expect(checkIdentity('7', FACTS)).toBe('7');
  });

  it('returns the pin, otherwise the remembered id, when no id is listed', () => {
    expect(checkIdentity(null, { ...FACTS, remembered: '7' })).toBe('7');
    expect(checkIdentity(null, { ...FACTS, pinned: '8', remembered: '7' })).toBe('8');
    expect(checkIdentity(null, FACTS)).toBeNull();
  });

  it('refuses another id than the remembered one, with advice for an intended change', () => {
    const error = failure(() => checkIdentity('8', { ...FACTS, remembered: '7' }));
    expect(error.code).toBe('identity_mismatch');
    expect(error.message).toContain('accountId: "8"');
  });

  it('compares with the pin, not with the remembered id', () => {
    expect(checkIdentity('8', { ...FACTS, pinned: '8', remembered: '7' })).toBe('8');
    const error = failure(() => checkIdentity('7', { ...FACTS, pinned: '8', remembered: '7' }));
    expect([error.kind, error.message]).toEqual(['identity', expect.stringContaining('pins accountId: "8"')]);
  });

  it('names the account that already uses a copied token', () => {
    const error = copiedToken('7', 'other');
    expect(error).toMatchObject({ kind: 'identity', code: 'identity_mismatch' });
    expect(error.message).toContain('“other”');
  });

  it('names the running account that uses the same token', () => {
    const error = sharedToken('other');
    expect(error).toMatchObject({ kind: 'identity', code: 'identity_mismatch' });
    expect(error.message).toContain('“other”');
  });

  it('names both accounts when the entries belong to another one', () => {
    const owner = { account: 'acme', remoteAccountId: '8' };
    const error = foreignEntries({ account: 'acme', remoteAccountId: '7' }, owner);
    expect(error).toMatchObject({ kind: 'identity', code: 'identity_mismatch' });
    expect(error.message).toContain('in account 8, and this account is 7;');
    const unknown = foreignEntries({ account: 'acme', remoteAccountId: null }, owner);
    expect(unknown.message).toContain('in account 8, and that is not this account;');
    const other = foreignEntries({ account: 'copy', remoteAccountId: null }, owner);
    expect(other).toMatchObject({ kind: 'identity', code: 'identity_mismatch' });
    expect(other.message).toContain('an entry of “acme”');
  });
});
