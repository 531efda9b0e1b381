// Posted files are planned account by account; nothing here reaches a service.
import { expect, it } from 'vitest';
import { planPosted, type PostedAccount, type PostedPlanOptions } from '../../../src/run/posted-plan.ts';
import { ServiceError } from '../../../src/core/errors.ts';
import type { AccountSettings } from '../../../src/core/settings.ts';

const BODY = new Uint8Array();

// Only the fields that are read before the service is opened.
const settings = (name: string): AccountSettings =>
  ({
    name,
    baseUrl: 'https://eu.example.com',
    token: { env: 'TOKEN' },
    file: `/${name}.yaml`,
  }) as AccountSettings;

/** Plans these posted accounts with a daemon that has `acme`. */
async function plan(accounts: Readonly<Record<string, PostedAccount>>) {
  const opened: string[] = [];
  const options = {
    readFiles: async () => ({
      names: Object.keys(accounts),
      commit: null,
      account: (name: string) => accounts[name] ?? {},
    }),
    own: async () => ({
      accounts: [{ name: 'acme', file: '/acme.yaml', settings: settings('acme'), issues: [] }],
      api: {},
    }),
    signals: { stop: new AbortController().signal, kill: new AbortController().signal },
    deps: {
      journal: {},
      service: {
        async reader({ name }: AccountSettings) {
          opened.push(name);
          throw new ServiceError('unavailable', 'no route');
        },
      },
    },
  } as unknown as PostedPlanOptions; // a plan that ends before it reads lists needs no more
  const outcome = await planPosted(BODY, options);
  if ('problem' in outcome) throw new Error(outcome.problem);
  return {
    errors: outcome.plans.map((each) => (each.status === 'failed' ? each.error : null)),
    opened,
  };
}

it('posted accounts are planned in their order, and each failure concerns one account', async () => {
  const { errors, opened } = await plan({
    zeta: { failure: { code: 'config_invalid', message: 'zeta.yaml:1:1: wrong' } },
    acme: { settings: settings('acme') },
    beta: { settings: settings('beta') },
    gamma: {},
  });
  expect(errors).toMatchObject([
    { code: 'config_invalid', message: 'zeta.yaml:1:1: wrong' },
    { code: 'unavailable', message: 'no route' },
    { code: 'unknown_account' },
    { code: 'unknown_account', message: 'no posted file is of this account' },
  ]);
  expect(opened).toEqual(['acme']);
});
