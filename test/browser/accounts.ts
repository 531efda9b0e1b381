// The accounts on whose pages every state can be seen, and how they get there.
import type { Fault } from '../../src/sandbox/sandbox.ts';
import { LOUD_NAMES, ODD_NAMES } from '../support/hostile-names.ts';
import { waitUntil } from './daemon-process.ts';
import type { Stage, StagedAccount } from './stage.ts';

/** Names of 200 characters: unbroken, and in scripts of other widths and directions. */
const LONG_NAMES: readonly string[] = [
  'unbroken'.repeat(25),
  'words of a name '.repeat(13).slice(0, 199) + '.',
  '日本語の長い名前'.repeat(25),
  '👩‍🚀'.repeat(66) + '🚀🚀',
  'שםארוךמאוד'.repeat(20),
  'W'.repeat(200),
];

/** As long as a name of a file may be, to the nearest hundred. */
export const LONG_ACCOUNT = 'long-account-name_'.repeat(12).slice(0, 200);

const yaml = (kind: string, names: readonly string[]): string =>
  names.length === 0
    ? `${kind}: []`
    : `${kind}:\n${names.map((name) => `  - ${JSON.stringify(name)}`).join('\n')}`;
const numbered = (prefix: string, amount: number): string[] =>
  Array.from({ length: amount }, (_, index) => `${prefix} ${index + 1}`);

/** Creates, a rename that people wait for, deletes that nobody and that people are affected by. */
function drifting(name: string, mode: string): StagedAccount {
  return {
    name,
    skills: ['TypeScript', 'PostgreSQL', 'K8s', 'COBOL', 'Perl', 'Admin tools', 'typescript '],
    roles: ['Backend engineer', 'Webmaster'],
    resources: [
      { id: 'ada', role: 'Backend engineer', skills: ['TypeScript', 'K8s', 'Perl'] },
      { id: 'grace', role: 'Backend engineer', skills: ['K8s', 'PostgreSQL'] },
    ],
    file: [
      `mode: ${mode}`,
      'policy: { protect: ["Admin*"] }',
      'skills: [Go, TypeScript, PostgreSQL, { name: Kubernetes, formerly: [K8s] }]',
      'roles: [Backend engineer, Designer]',
    ].join('\n'),
  };
}

/** An account whose plan waits for approval and then takes a few seconds. */
function slow(name: string): StagedAccount {
  return {
    name,
    skills: ['Go'],
    file: `mode: approve\n${yaml('skills', ['Go', ...numbered('Skill', 40)])}`,
  };
}

const hostile = [...LONG_NAMES, ...ODD_NAMES.slice(0, 8), ...LOUD_NAMES.slice(0, 24)];

/** An account whose plan has this number of changes, and whose lists are as long. */
export function manyEntries(amount: number): StagedAccount {
  const half = Math.ceil(amount / 2);
  return {
    name: 'many-entries-eu',
    skills: numbered('Skill', half),
    file: ['mode: plan', yaml('skills', numbered('Skill', half)), yaml('roles', numbered('Role', half))].join(
      '\n',
    ),
  };
}

/** Accounts that are applied by the script, and by the page without it. */
export const JOURNEYS = { script: 'journey-script', plain: 'journey-plain', live: 'journey-live' } as const;

/** An account whose file is removed after it has deleted something. */
export const REMOVED = 'removed-il';

export const ACCOUNTS: readonly StagedAccount[] = [
  drifting('acme-eu', 'approve'),
  drifting('drift-us', 'plan'),
  drifting('held-il', 'apply'),
  drifting('approved-au', 'approve'),
  {
    name: 'many-held-us',
    skills: ['Go', ...numbered('Old skill', 300)],
    resources: [
      { id: 'ada', skills: numbered('Old skill', 20) },
      { id: 'grace', skills: ['Old skill 7', 'Old skill 250'] },
    ],
    file: 'mode: approve\nskills: [Go, Rust]',
  },
  { ...drifting(REMOVED, 'apply'), resources: [{ id: 'ada', skills: ['TypeScript'] }] },
  { name: 'calm-eu', skills: ['Go'], file: 'mode: apply\nskills: [Go]' },
  { name: 'paused-au', skills: ['Go'], file: 'mode: apply\nskills: [Go]' },
  { name: 'failed-us', skills: ['Go'], file: 'mode: apply\nskills: [Go]' },
  { name: 'partial-us', file: 'mode: apply\nskills: [Go, Rust, Zig]' },
  { name: 'broken-eu', file: 'mode: aply\nskils: [Go]' },
  { name: 'empty-eu', file: 'mode: apply\nskills: []\nroles: []' },
  { name: 'large-eu', file: `mode: plan\n${yaml('skills', numbered('Skill', 620))}` },
  {
    name: LONG_ACCOUNT,
    skills: LONG_NAMES.map((name) => `old ${name}`),
    resources: LONG_NAMES.map((name, index) => ({
      id: `${'p'.repeat(190)}${index}`,
      skills: [`old ${name}`],
    })),
    file: `mode: approve\n${yaml('skills', hostile)}`,
  },
  slow('running-eu'),
  slow(JOURNEYS.script),
  slow(JOURNEYS.plain),
  slow(JOURNEYS.live),
];

export const FAULTS: readonly Fault[] = [
  { match: { account: 'failed-us' }, times: 'always', do: { type: 'status', status: 401 } },
  { match: { account: 'partial-us', name: 'Rust' }, times: 'always', do: { type: 'status', status: 400 } },
];

/** Brings the accounts from their first run into the states of their names. */
export async function playStates(stage: Stage): Promise<void> {
  const { sandbox } = stage;
  // Deletes are held on the first run of an account, since nothing is known of its past.
  await stage.sync('acme-eu', 'drift-us', 'held-il', 'approved-au', 'many-held-us', REMOVED, LONG_ACCOUNT);
  await stage.remove(REMOVED);
  await stage.api('accounts/paused-au/pause', {
    reason: 'The catalog is being merged with that of another company',
  });
  await stage.api('accounts/approved-au/pause', {});
  await approve(stage, 'approved-au');
  // Creates of these accounts take their time.
  sandbox.setFaults([
    ...FAULTS,
    ...[JOURNEYS.script, JOURNEYS.plain].map((account) => delay(account, 1500)),
    delay('running-eu', 4500),
  ]);
  await approve(stage, 'running-eu');
  await waitUntil('an account runs', async () =>
    (await stage.accounts()).some(({ activity }) => activity === 'running'),
  );
}

/** Approves the pending plan of an account. Throws when there is none. */
export async function approve(stage: Stage, account: string): Promise<void> {
  const state = (await stage.accounts()).find(({ name }) => name === account);
  if (!state?.pending) throw new Error(`no plan of ${account} is pending`);
  await stage.api(`accounts/${account}/approve`, { digest: state.pending.digest });
}

function delay(account: string, ms: number): Fault {
  return { match: { account, method: 'POST' }, times: 'always', do: { type: 'latency', ms } };
}
