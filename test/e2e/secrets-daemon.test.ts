// The daemon reveals no secret: not in its log at any level, its pages, its API, its metrics, its errors or its
// notifications.
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { CANARY, GIT_CANARY, HOOK_CANARY, HTTP_CANARY, leaksOf } from '../support/canary.ts';
import { canaryWorkspace } from '../support/canary-workspace.ts';
import { type Parrot, startParrot } from '../support/parrot.ts';
import { costly } from '../support/thorough.ts';
import { until } from '../support/workspace.ts';

const refused = (text: string) => ({
  status: 422,
  body: { detail: [{ loc: [text], msg: text, type: text, input: text }] },
});
const MANNERS = {
  creates: { create: refused },
  lists: { skill: refused },
  people: { resource: (text: string) => ({ status: 401, body: text }) },
  broken: { skill: (text: string) => ({ body: `[{"_id": ${text}` }) },
};
const ACCOUNTS = ['good', ...Object.keys(MANNERS)];

/** A configuration with several kinds of accounts, and webhooks of all formats whose addresses are secrets. */
function configured(parrot: Parrot, log: string, accounts: readonly string[] = ACCOUNTS) {
  const w = canaryWorkspace();
  const hooks = ['json', 'slack', 'teams'].map(
    (format) => `  - { url: { env: HOOK_URL }, format: ${format}, secret: { env: HOOK_SECRET } }`,
  );
  w.serve(
    [
      'http: { listen: 127.0.0.1:0, token: { env: ROLECALL_HTTP_TOKEN } }',
      `log: ${log}`,
      'notify:',
      ...hooks,
      `  - { url: "http://127.0.0.1:1/${encodeURIComponent(HOOK_CANARY)}" }`,
    ].join('\n'),
  );
  for (const name of accounts) {
    w.account(
      name,
      `${parrot.url}/${name}`,
      'mode: apply\nschedule: "0 0 1 1 *"\nskills: [Go, New]\nroles: [Dev]',
    );
  }
  w.write('secrets/two-lines', `${CANARY}\n${GIT_CANARY}\n`);
  w.write('config/accounts/mistyped.yaml', `baseUrl: ${parrot.url}/x\ntoken: ${JSON.stringify(CANARY)}\n`);
  w.write(
    'config/accounts/two-lines.yaml',
    `baseUrl: ${parrot.url}/y\ntoken: { file: ../../secrets/two-lines }\n`,
  );
  const env = { HOOK_URL: `${parrot.url}/hook/${encodeURIComponent(HOOK_CANARY)}` };
  return { w, env, total: accounts.length + 2 };
}

/** Requests with secrets that the daemon must not repeat, with the status that shows that it read them. */
const REQUESTS: readonly (readonly [string, RequestInit, number])[] = [
  ['/api/v1/accounts', { headers: { authorization: `Bearer ${CANARY}` } }, 401],
  ['/api/v1/accounts', { headers: { authorization: CANARY } }, 401],
  [
    `/api/v1/accounts?token=${encodeURIComponent(CANARY)}`,
    { headers: { authorization: `Bearer ${HTTP_CANARY}` } },
    200,
  ],
  [`/?token=${encodeURIComponent(HTTP_CANARY)}`, {}, 401],
  ['/sign-in', { method: 'POST', body: new URLSearchParams({ token: CANARY }) }, 401],
  [
    '/api/v1/plans',
    { method: 'POST', body: `{"config": ${CANARY}`, headers: { 'content-type': 'application/json' } },
    401,
  ],
  [
    '/api/v1/plans',
    {
      method: 'POST',
      body: `{"config": ${CANARY}`,
      headers: { authorization: `Bearer ${HTTP_CANARY}`, 'content-type': 'application/json' },
    },
    400,
  ],
  [
    '/api/v1/accounts/good/approve',
    {
      method: 'POST',
      body: JSON.stringify({ digest: GIT_CANARY }),
      headers: { authorization: `Bearer ${HTTP_CANARY}`, 'content-type': 'application/json' },
    },
    400,
  ],
];

test('no page, response, log, metric or notification of a daemon contains a secret', async () => {
  const parrot = await startParrot(MANNERS);
  const { w, env, total } = configured(parrot, 'trace');
  const running = w.start(['serve'], { env });
  const log = (): string => running.output().stderr;
  await until('every account has run', () => log().split('"run_ended"').length > total);
  // The notices of the good account, and of those that failed. Chat messages are made later, from the same rows of the store.
  await until('the notices have arrived', () => parrot.posted().length >= total);
  const [, url = ''] = /"url":"(http:[^"]+)"/.exec(log()) ?? [];

  const headers = { authorization: `Bearer ${HTTP_CANARY}` };
  const runs = w.rows<{ id: string }>('select id from runs').map(({ id }) => id);
  const pages = [
    '/',
    '/api/v1/accounts',
    '/api/v1/runs',
    '/metrics',
    '/healthz',
    '/readyz',
    '/none',
    '/api/v1/none',
  ]
    .concat(ACCOUNTS.flatMap((name) => [`/accounts/${name}`, `/api/v1/accounts/${name}`]))
    .concat(['/accounts/mistyped', '/api/v1/accounts/two-lines'])
    .concat(runs.flatMap((id) => [`/runs/${id}`, `/api/v1/runs/${id}`]));
  const leaks: unknown[] = [];
  async function ask(path: string, init: RequestInit): Promise<number> {
    const reply = await fetch(url + path, { redirect: 'manual', ...init });
    const found = leaksOf(JSON.stringify([...reply.headers]) + (await reply.text()));
    if (found.length > 0) leaks.push([path, found]);
    return reply.status;
  }
  const statuses = new Map<string, number>();
  for (const path of pages) statuses.set(path, await ask(path, { headers }));
  expect([...statuses].filter(([path, status]) => (status === 200) === path.endsWith('none'))).toEqual([]);
  for (const [path, init, status] of REQUESTS) expect([path, await ask(path, init)]).toEqual([path, status]);
  // Signing in answers with a cookie that is not the token.
  const signIn = {
    method: 'POST',
    body: new URLSearchParams({ token: HTTP_CANARY }),
    headers: { origin: url },
  };
  expect(await ask('/sign-in', signIn)).toBe(303);

  // A webhook receives its own address and signature, and no other secret.
  for (const posted of parrot.posted()) leaks.push(...leaksOf(posted));
  expect(leaks).toEqual([]);
  // Every user of the machine can read the command line and the name of the process.
  expect(leaksOf(readFileSync(`/proc/${running.process.pid}/cmdline`, 'latin1'))).toEqual([]);
  expect(leaksOf(readFileSync(`/proc/${running.process.pid}/comm`, 'latin1'))).toEqual([]);

  running.process.kill('SIGTERM');
  expect((await running.ended).status).toBe(0);
  expect(log()).toContain('"level":');
  expect(w.leaks()).toEqual([]);
  expect(w.leaksOnDisk()).toEqual([]);
});

costly('the log of the daemon contains no secret at any level', async () => {
  // The test above has the level trace.
  const levels = ['silent', 'debug', 'info', 'warn', 'error'];
  // One after the other: on a busy machine six daemons would starve each other.
  for (const log of levels) await serveWithLog(log);
});

async function serveWithLog(log: string): Promise<void> {
  const parrot = await startParrot(MANNERS);
  const { w, env, total } = configured(parrot, log, ['good', 'creates']);
  const running = w.start(['serve'], { env });
  await until('every account has run, and its notices have arrived', () => parrot.posted().length >= total);
  running.process.kill('SIGTERM');
  expect((await running.ended).status).toBe(0);
  expect([log, running.output().stderr === '']).toEqual([log, log.includes('silent')]);
  expect(w.leaks()).toEqual([]);
}

test('a token that cannot be sent fails its account without a request, and is not printed', async () => {
  const parrot = await startParrot({});
  const w = canaryWorkspace();
  w.serve();
  const values: Readonly<Record<string, string>> = {
    empty: '',
    'two-lines': `${CANARY}\n${GIT_CANARY}`,
    carriage: `${CANARY}\r\n\r${GIT_CANARY}`,
    tab: `${CANARY}\t`,
    blank: ` ${CANARY}`,
    umlaut: `${CANARY}ü`,
    mark: `\uFEFF\uFEFF${CANARY}`,
    control: `${CANARY}\u0007`,
  };
  const env: Record<string, string> = {};
  for (const [name, value] of Object.entries(values)) {
    const variable = `BAD_${name.toUpperCase().replace('-', '_')}`;
    env[variable] = value;
    w.write(`secrets/${name}`, value);
    w.write(
      `config/accounts/env-${name}.yaml`,
      `baseUrl: ${parrot.url}/e-${name}\ntoken: { env: ${variable} }\n`,
    );
    w.write(
      `config/accounts/file-${name}.yaml`,
      `baseUrl: ${parrot.url}/f-${name}\ntoken: { file: ../../secrets/${name} }\n`,
    );
  }
  const validated = await w.run(['validate', '--require-secrets'], { env });
  expect(validated.status).toBe(4);
  const applied = await w.run(['apply', '--all', '--yes', '--format', 'json'], { env });
  const failed = (JSON.parse(applied.stdout) as { errorCode: string }[]).filter(
    ({ errorCode }) => errorCode === 'secret_missing',
  );
  expect(failed).toHaveLength(2 * Object.keys(values).length);
  await w.run(['validate', '--online'], { env });
  expect(parrot.requests()).toEqual([]);
  expect(w.leaks()).toEqual([]);
  expect(w.leaksOnDisk()).toEqual([]);
});
