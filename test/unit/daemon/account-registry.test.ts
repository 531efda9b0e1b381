// The configuration as the daemon uses it: valid parts replace the earlier ones, invalid ones never do.
import { expect, it } from 'vitest';
import type { ConfigIssue } from '../../../src/core/errors.ts';
import type {
  AccountSettings,
  Configuration,
  ConfiguredAccount,
  ServiceSettings,
  Trust,
} from '../../../src/core/settings.ts';
import { createAccountRegistry } from '../../../src/daemon/account-registry.ts';
import { createMetrics } from '../../../src/daemon/metrics.ts';
import { testLog } from './notify/stage.ts';

const ISSUE: ConfigIssue = { file: 'a.yaml', line: 1, column: 1, severity: 'error', message: 'wrong' };

// Only what the registry reads.
const service = (store: string): ServiceSettings => ({ store, notify: [] }) as unknown as ServiceSettings;
const settings = (baseUrl: string): AccountSettings =>
  ({ baseUrl, schedule: '0 * * * *', timezone: 'Etc/UTC' }) as AccountSettings;

function valid(name: string, baseUrl = 'https://eu'): ConfiguredAccount {
  return { name, file: `/${name}.yaml`, settings: settings(baseUrl), issues: [] };
}

function broken(name: string): ConfiguredAccount {
  return { name, file: `/${name}.yaml`, issues: [ISSUE] };
}

/** A registry that has read `first`, and then reads what `set` receives. */
async function registryOf(first: Configuration) {
  const log = testLog();
  let reading: Configuration | Error = first;
  const read = async (): Promise<Configuration> => {
    if (reading instanceof Error) throw reading;
    return reading;
  };
  const registry = createAccountRegistry({
    service: service('a.db'),
    configuration: { read, readFor: read, commit: async () => null, sourceProblem: () => null },
    log,
    metrics: createMetrics('test'),
  });
  let changes = 0;
  registry.onChange(() => (changes += 1));
  await registry.reload();
  return {
    registry,
    changes: () => changes,
    events: () => log.lines.map(({ event }) => event),
    set: (next: Configuration | Error) => void (reading = next),
  };
}

const REST = { secrets: [], trust: {} as Trust };
const GOOD: Configuration = {
  ...REST,
  service: service('a.db'),
  accounts: [valid('acme'), valid('beta', 'https://us')],
  issues: [],
};

it('listeners of the account registry are called for each change, and not for a reading without a change', async () => {
  const { registry, changes, set } = await registryOf(GOOD);
  await registry.reload();
  expect(changes()).toBe(1);
  set({ ...GOOD });
  await registry.refresh('acme');
  expect(changes()).toBe(2);
});

it('an invalid account file keeps its last valid settings, and reports its errors once', async () => {
  const { registry, events, set } = await registryOf(GOOD);
  for (const _ of [1, 2]) {
    set({ ...GOOD, accounts: [broken('acme'), valid('beta', 'https://us')] });
    await registry.reload();
  }
  expect(registry.account('acme')).toMatchObject({ errors: [ISSUE], settings: { baseUrl: 'https://eu' } });
  expect(registry.account('beta')?.errors).toEqual([]);
  expect([registry.addressOf('acme'), registry.addressCount()]).toEqual(['https://eu', 2]);
  expect(events()).toEqual(['config_invalid']);
  set(GOOD);
  await registry.reload();
  expect([registry.account('acme')?.errors, events()]).toEqual([[], ['config_invalid', 'config_fixed']]);
});

it.each<[string, Configuration]>([
  ['an invalid service file', { ...REST, accounts: [valid('acme')], issues: [ISSUE] }],
  ['a folder without any account file', { ...GOOD, accounts: [], issues: [ISSUE] }],
])('%s removes no account, and is reported as an error of each', async (_, reading) => {
  const { registry, set } = await registryOf(GOOD);
  set(reading);
  await registry.reload();
  expect([...registry.names()]).toEqual(['acme', 'beta']);
  expect(registry.accounts().map(({ errors }) => errors)).toEqual([[ISSUE], [ISSUE]]);
  expect(registry.serviceErrors()).toEqual([ISSUE]);
});

it('a removed account is no longer known', async () => {
  const { registry, set } = await registryOf(GOOD);
  set({ ...GOOD, accounts: [valid('beta', 'https://us')] });
  await registry.reload();
  expect([[...registry.names()], registry.account('acme'), registry.addressOf('acme')]).toEqual([
    ['beta'],
    undefined,
    '',
  ]);
});

it('a configuration that cannot be read is logged by a reload, and thrown to a run', async () => {
  const { registry, events, set } = await registryOf(GOOD);
  set(new Error('no disk'));
  await registry.reload();
  await expect(registry.refresh('acme')).rejects.toThrow('no disk');
  expect([events(), registry.names().size]).toEqual([['reload_failed'], 2]);
});

it('a changed setting that needs a restart is logged', async () => {
  const { registry, events, set } = await registryOf(GOOD);
  set({ ...GOOD, service: service('b.db') });
  await registry.reload();
  expect([events(), registry.service().store]).toEqual([['restart_needed'], 'b.db']);
});

it('a closed registry calls no listener, while the last runs still read their files', async () => {
  const { registry, changes, set } = await registryOf(GOOD);
  registry.close();
  set({ ...GOOD, accounts: [valid('acme')] });
  await registry.reload();
  expect(registry.names().size).toBe(2);
  await registry.refresh('acme');
  expect([registry.names().size, changes()]).toEqual([1, 1]);
});
