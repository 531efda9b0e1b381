// One example of each file that `sandbox` takes, for its help.

const SEED = {
  accounts: [
    {
      name: 'acme',
      token: 'token-of-acme',
      region: 'eu',
      skills: ['Go', { name: 'Perl', id: 'skill-1' }],
      roles: ['Developer'],
      resources: [{ id: 'person-1', skills: ['Go'], role: 'Developer' }],
    },
  ],
  settings: { uniqueNames: 'exact' },
};

const FAULTS = [
  { match: { method: 'POST', path: 'skill' }, times: 2, do: { type: 'status', status: 503 } },
  { match: { account: 'acme' }, times: 'always', do: { type: 'latency', ms: 200 } },
];

export const SANDBOX_HELP = `
A file for --seed, with accounts by which the sandbox starts and settings of the service:
  ${JSON.stringify(SEED)}

A file for --faults, with rules of which the first that matches a request acts:
  ${JSON.stringify(FAULTS)}`;
