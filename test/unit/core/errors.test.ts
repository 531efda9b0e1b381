// The error classes: names, stable codes, and the fields that callers need.
import { describe, expect, it } from 'vitest';
import type { ServiceErrorKind } from '../../../src/core/errors.ts';
import { ConfigError, formatConfigIssue, ServiceError, StoreError } from '../../../src/core/errors.ts';

const issue = { file: 'a.yaml', line: 3, column: 7, message: 'unknown key', severity: 'error' } as const;

describe('the error', () => {
  it.each<[ServiceErrorKind, string]>([
    ['auth', 'unauthorized'],
    ['throttled', 'throttled'],
    ['unavailable', 'unavailable'],
    ['rejected', 'rejected'],
    ['malformed', 'malformed_response'],
    ['identity', 'identity_mismatch'],
  ])('of the service of kind %s has the code %s', (kind, code) => {
    expect(new ServiceError(kind, 'm')).toMatchObject({ kind, code, message: 'm' });
  });

  it.each([
    ['ServiceError', (options?: { cause: unknown }) => new ServiceError('auth', 'm', options)],
    ['StoreError', (options?: { cause: unknown }) => new StoreError('c', 'm', options)],
  ])('keeps its cause if it has one: %s', (_, make) => {
    expect(make({ cause: 'why' }).cause).toBe('why');
    expect('cause' in make()).toBe(false);
  });
});

describe('issues of the configuration', () => {
  it('are one line each, with their place', () => {
    const second = { ...issue, line: 4, message: 'another' };
    expect(formatConfigIssue(issue)).toBe('a.yaml:3:7: unknown key');
    expect(new ConfigError([issue, second]).message).toBe('a.yaml:3:7: unknown key\na.yaml:4:7: another');
    expect(new ConfigError([issue]).issues).toEqual([issue]);
  });
});
