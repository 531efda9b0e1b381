// The messages about failures: what happened, what was not done because of it, and what to do next.
import { expect, test } from 'vitest';
import type { FaultAction } from '../../src/sandbox/sandbox.ts';
import { type Scene, scene, type SceneOptions, TOKEN } from '../support/scene.ts';

/** Even shorter waits than in a scene, because most of these cases fail by waiting. */
const API = { timeout: '400ms', settle: '450ms', retries: 0 };
const NOTHING = 'Failed: nothing was written.';

/** A fault of every request, or of every one with this method, after `skip` requests that succeed. */
function always(action: FaultAction, method?: string, skip = 0): SceneOptions {
  const match = method === undefined ? {} : { match: { method, ...(skip > 0 ? { path: 'skill' } : {}) } };
  return { faults: [{ ...match, skip, times: 'always', do: action }] };
}

interface Case {
  readonly failure: string;
  readonly options?: SceneOptions;
  readonly given?: (s: Scene) => void | Promise<void>;
  readonly env?: Readonly<Record<string, string>>;
  readonly args?: readonly string[];
  /** What happened, what was not done, what to do. */
  readonly expected: readonly [string, string, string];
  readonly never?: string;
}

const CASES: readonly Case[] = [
  {
    failure: 'a refused token',
    options: always({ type: 'status', status: 401 }),
    expected: [
      'the service rejected the token (status 401)',
      NOTHING,
      'Next: rolecall validate --online acme',
    ],
  },
  {
    failure: 'a service that requests a pause of an hour',
    options: always({ type: 'rate-limit', retryAfter: 3600 }),
    expected: ['requested a pause until', NOTHING, 'Next: rolecall apply acme after the time given above'],
    never: 'doctor',
  },
  {
    failure: 'a service that does not answer',
    options: always({ type: 'latency', ms: 2000 }),
    expected: [
      'no complete response from 127.0.0.1:',
      NOTHING,
      'within 0.4 s (api.timeout); run it again later',
    ],
  },
  {
    failure: 'an address where nothing listens',
    given: (s) => s.write('config/accounts/acme.yaml', account('http://127.0.0.1:9')),
    expected: ['cannot connect to 127.0.0.1:9 (ECONNREFUSED)', NOTHING, 'check the base address'],
  },
  {
    failure: 'an empty secret',
    env: { TOKEN_ACME: '' },
    expected: ['TOKEN_ACME is empty', NOTHING, 'Next: rolecall validate --require-secrets'],
  },
  {
    failure: 'a name that the service refuses',
    options: { settings: { maxNameLength: 2 } },
    expected: [
      'the service rejected the create of a skill (status 422): body.name: String should have at most 2 characters',
      'Partial: 0 of 1 operation done; 1 failed.',
      "check the name in the account's file",
    ],
  },
  {
    failure: 'a create whose outcome is unknown',
    options: always({ type: 'status', status: 500 }, 'POST'),
    expected: [
      'Partial: 0 of 1 operation done; the outcome of 1 is unknown.',
      'a create of a skill did not succeed in this run, so no skill is deleted',
      'The next run checks the lists before it sends the request again.',
    ],
    never: '1 failed',
  },
  {
    failure: 'a list that breaks after something was created',
    options: always({ type: 'html' }, 'GET', 2),
    expected: [
      'Created (1)',
      'the lists could not be read again before deleting',
      'the changes could not be verified, and the next run checks again',
    ],
    never: 'nothing was written',
  },
  {
    failure: 'a saved plan that is out of date',
    async given(s) {
      await s.run(['plan']);
      await s.run(['plan', '--save', 'saved.json']);
      s.sandbox.addSkill('acme', 'Fortran');
    },
    args: ['apply', '--yes', '--plan', 'saved.json'],
    expected: ['so it no longer matches', NOTHING, 'Next: rolecall plan acme'],
    never: 'doctor',
  },
];

const account = (baseUrl: string): string =>
  `baseUrl: ${baseUrl}\ntoken: { env: TOKEN_ACME }\nskills: [Go, Zig]\n`;

const TABLE = CASES.map((given) => [given.failure, given] as const);

test.each(TABLE)('%s is reported with what was not done and what to do', async (_failure, given) => {
  const s = await scene({ skills: ['Go', 'Perl'], file: 'skills: [Go, Zig]', api: API, ...given.options });
  await given.given?.(s);
  const { env = {} } = given;
  const { status, stdout, stderr } = await s.run(
    given.args ?? ['apply', '--yes', '--accept', 'no_evidence'],
    {
      env,
    },
  );
  // Reports are wrapped, so line breaks do not count.
  const output = `${stdout}\n${stderr}`
    .replaceAll(/\s*\n\s+/g, ' ')
    .replaceAll(/rolecall --config \S+/g, 'rolecall');
  for (const phrase of given.expected) expect(output).toContain(phrase);
  if (given.never !== undefined) expect(output).not.toContain(given.never);
  expect(output).not.toMatch(/UND_ERR|\bat \S+:\d+:\d+|undefined|\[object|a bug in rolecall/);
  expect(output).not.toContain(TOKEN);
  expect(status).not.toBe(0);
});
