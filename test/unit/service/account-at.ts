// The settings of an account at a given address, with defaults.
import type { AccountSettings } from '../../../src/core/settings.ts';
import { POLICY } from '../core/builders.ts';

export function accountAt(baseUrl: string, name = 'acme'): AccountSettings {
  return {
    name,
    file: `/config/accounts/${name}.yaml`,
    baseUrl,
    token: { env: 'TOKEN' },
    mode: 'apply',
    schedule: '0 * * * *',
    timezone: 'Etc/UTC',
    policy: POLICY,
    desired: { allowedDeletes: [] },
    configDigest: 'sha256:c',
  };
}
