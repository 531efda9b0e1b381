// The help of `sandbox` with an example of each file that it reads.

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
Example of a --seed file, with initial accounts and settings of the service:
  ${JSON.stringify(SEED)}

Example of a --faults file; the first rule that matches a request applies:
  ${JSON.stringify(FAULTS)}`;
