// The settings of an account at a given address, with defaults.
import type { AccountSettings } from '../../../src/core/settings.ts';

export function accountAt(baseUrl: string, name = 'acme'): AccountSettings {
  return {
    name,
    file: `/config/accounts/${name}.yaml`,
    baseUrl,
    token: { env: 'TOKEN' },
    mode: 'apply',
    schedule: '0 * * * *',
    timezone: 'Etc/UTC',
    jitterMs: 0,
    policy: {
      delete: 'unused',
      ownership: 'all',
      maxDeletes: 10,
      maxDeletesPerDay: 30,
      maxDeletePercent: 30,
      allowEmpty: false,
      allowNoPeople: true,
      protect: [],
      duplicates: 'report',
      unusedForMs: 0,
      freeze: [],
    },
    desired: { approvedDeletes: [] },
    configDigest: 'sha256:c',
  };
}
