// Proposed changes are planned account by account; nothing here reaches a service.
import { expect, it } from 'vitest';
import { planPosted, type PostedPlanOptions } from '../../../src/run/posted-plan.ts';
import { ServiceError } from '../../../src/core/errors.ts';
import type { AccountSettings } from '../../../src/core/settings.ts';
import { POLICY, sha256, wanted } from '../core/builders.ts';
import { bareRequest } from './bare-context.ts';

it('proposed changes are planned in their order with the address and the token of the daemon, and each failure concerns one account', async () => {
  const own = { ...bareRequest().settings, name: 'acme' };
  const opened: AccountSettings[] = [];
  const options = {
    accounts: new Map([
      ['acme', own],
      ['broken', undefined],
    ]),
    api: {},
    signals: { stop: new AbortController().signal, kill: new AbortController().signal },
    deps: {
      sha256,
      journal: {},
      service: {
        async reader(settings: AccountSettings) {
          opened.push(settings);
          throw new ServiceError('unavailable', 'no route');
        },
      },
    },
  } as unknown as PostedPlanOptions; // a plan that ends before it reads lists needs no more
  const desired = { skill: wanted('Go'), allowedDeletes: [] };
  const posted = ['beta', 'acme', 'broken'].map((account) => ({
    account,
    desired,
    policy: { ...POLICY, maxDeletes: 3 },
    commit: null,
  }));
  expect(await planPosted(posted, options)).toMatchObject([
    { account: 'beta', error: { code: 'unknown_account' } },
    { account: 'acme', error: { code: 'unavailable', message: 'no route' } },
    { account: 'broken', error: { code: 'unknown_account' } },
  ]);
  const [used] = opened;
  expect(opened).toHaveLength(1);
  expect(used).toMatchObject({ baseUrl: own.baseUrl, token: own.token, desired, policy: { maxDeletes: 3 } });
  expect(used?.configDigest).not.toBe(own.configDigest);
});
