// The messages about failures: what happened, what was not done because of it, and what to do next.
import { expect, test } from 'vitest';
import type { FaultAction } from '../../src/sandbox/sandbox.ts';
import { type Scene, scene, type SceneOptions, TOKEN } from '../support/scene.ts';

/** Waits are shorter still than in a scene: each of these fails, and most of them by waiting. */
const API = { timeout: '400ms', settle: '450ms', retries: 0 };
const NOTHING = 'Failed: nothing was written.';

/** A fault of every request of this method (of every one without), after so many that pass. */
function always(action: FaultAction, method?: string, skip = 0): SceneOptions {
  const match = method === undefined ? {} : { match: { method, ...(skip > 0 ? { path: 'skill' } : {}) } };
  return { faults: [{ ...match, skip, times: 'always', do: action }] };
}

interface Case {
  readonly trouble: string;
  readonly options?: SceneOptions;
  readonly given?: (s: Scene) => void | Promise<void>;
  readonly env?: Readonly<Record<string, string>>;
  readonly args?: readonly string[];
  /** What happened, what was not done, what to do. */
  readonly says: readonly [string, string, string];
  readonly never?: string;
}

const CASES: readonly Case[] = [
  {
    trouble: 'a refused token',
    options: always({ type: 'status', status: 401 }),
    says: ['the service rejected the token (status 401)', NOTHING, 'Next: rolecall doctor acme'],
  },
  {
    trouble: 'a service in trouble',
    options: always({ type: 'status', status: 500 }),
    says: ['failed with status 500', NOTHING, 'failure of the service; run it again later'],
  },
  {
    trouble: 'a page instead of a list',
    options: always({ type: 'html' }),
    says: ['is a web page and not JSON', NOTHING, 'check the base address and the proxy'],
  },
  {
    trouble: 'a service that asks for an hour of rest',
    options: always({ type: 'rate-limit', retryAfter: 3600 }),
    says: ['requested a pause until', NOTHING, 'Next: rolecall apply acme  # after the time given above'],
    never: 'doctor',
  },
  {
    trouble: 'a service that does not answer',
    options: always({ type: 'latency', ms: 2000 }),
    says: ['no complete response from 127.0.0.1:', NOTHING, 'within 0.4 s (api.timeout); run it again later'],
  },
  {
    trouble: 'a connection that breaks',
    options: always({ type: 'drop-before-effect' }),
    says: ['broke before a response arrived', NOTHING, 'check the network and run it again'],
  },
  {
    trouble: 'an address where nothing listens',
    given: (s) => s.write('config/accounts/acme.yaml', account('http://127.0.0.1:9')),
    says: ['cannot connect to 127.0.0.1:9 (ECONNREFUSED)', NOTHING, 'check the base address'],
  },
  {
    trouble: 'an address that speaks no TLS',
    given: (s) => s.write('config/accounts/acme.yaml', account(s.sandbox.url.replace('http:', 'https:'))),
    says: ['did not complete the TLS handshake', NOTHING, 'check the base address, its port and the proxy'],
    never: 'certificate',
  },
  {
    trouble: 'a secret that is not there',
    env: { TOKEN_ACME: '' },
    says: ['TOKEN_ACME is empty', NOTHING, 'Next: rolecall validate --require-secrets'],
  },
  {
    trouble: 'a name that the service refuses',
    options: { settings: { maxNameLength: 2 } },
    says: [
      'the service rejected the create of a skill (status 422): body.name: String should have at most 2 characters',
      'Partial: 1 of 1 operation failed.',
      "check the name in the account's file",
    ],
  },
  {
    trouble: 'a name beside a near one that stays',
    options: {
      skills: ['Go', 'zig'],
      resources: [{ skills: ['zig'] }],
      settings: { uniqueNames: 'caseless' },
    },
    says: [
      'the service rejected the create of a skill (status 409)',
      'Partial: 1 of 1 operation failed.',
      '"zig" exists and is not deleted, and the service may not accept a name so similar to it',
    ],
  },
  {
    trouble: 'a create of which nobody knows what came',
    options: always({ type: 'status', status: 500 }, 'POST'),
    says: [
      'Partial: the outcome of 1 of 1 operation is unknown.',
      'a create of a skill did not succeed in this run, so no skill is deleted',
      'The next run checks the lists before it sends the request again.',
    ],
    never: '1 operation failed',
  },
  {
    trouble: 'a list that breaks after something was created',
    options: always({ type: 'html' }, 'GET', 1),
    says: [
      'Created (1)',
      'the lists could not be read again before deleting',
      'the changes could not be verified, and the next run checks again',
    ],
    never: 'nothing was written',
  },
  {
    trouble: 'a saved plan that is out of date',
    async given(s) {
      await s.run(['plan']);
      await s.run(['plan', '--save', 'saved.json']);
      s.sandbox.addSkill('acme', 'Fortran');
    },
    args: ['apply', '--yes', '--plan', 'saved.json'],
    says: ['so it no longer matches', NOTHING, 'Next: rolecall plan acme'],
    never: 'doctor',
  },
  {
    trouble: 'a plan that could not be made',
    options: always({ type: 'status', status: 403 }),
    args: ['plan'],
    says: ['the service rejected the token', 'could not be planned', 'Next: rolecall doctor acme'],
  },
  {
    trouble: 'a backup that has no place',
    given: async (s) => void (await s.run(['apply', '--yes'])),
    args: ['backup', 'nowhere/copy.db'],
    says: ['copy.db cannot be written (ENOENT)', 'no backup was made', 'check its path'],
    never: 'store:',
  },
  {
    trouble: 'a shell that has no completion',
    args: ['completion', 'tcsh'],
    says: ["'tcsh' is invalid", 'error:', 'Allowed choices are'],
  },
];

const account = (baseUrl: string): string =>
  `baseUrl: ${baseUrl}\ntoken: { env: TOKEN_ACME }\nskills: [Go, Zig]\n`;

const TABLE = CASES.map((given) => [given.trouble, given] as const);

test.each(TABLE)('%s is reported with what was not done and what to do', async (_trouble, given) => {
  const s = await scene({ skills: ['Go', 'Perl'], file: 'skills: [Go, Zig]', api: API, ...given.options });
  await given.given?.(s);
  const { env = {} } = given;
  const { status, stdout, stderr } = await s.run(given.args ?? ['apply', '--yes', '--accept-no-history'], {
    env,
  });
  // A report is wrapped; what it says is not about lines.
  const said = `${stdout}\n${stderr}`
    .replaceAll(/\s*\n\s+/g, ' ')
    .replaceAll(/rolecall --config \S+/g, 'rolecall');
  for (const phrase of given.says) expect(said).toContain(phrase);
  if (given.never !== undefined) expect(said).not.toContain(given.never);
  expect(said).not.toMatch(/UND_ERR|\bat \S+:\d+:\d+|undefined|\[object|a bug in rolecall/);
  expect(said).not.toContain(TOKEN);
  expect(status).not.toBe(0);
});
