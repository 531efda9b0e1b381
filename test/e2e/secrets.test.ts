// Neither a token nor a salary ever comes out: not in what is printed, not in the store (contract, section 1, fact 6).
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import type { Fault } from '../../src/sandbox/sandbox.ts';
import { scene, type Scene } from '../support/scene.ts';

const CANARY = 'canary-7f3a9c2e-token';
const AMOUNTS = [918_273, 564_738];
const SECRETS = [CANARY, ...AMOUNTS.map(String), 'XCN', 'compensation-4711', 'bonus-4712'];

/** A scene whose account answers to the canary, and whose people have salaries, also where nobody expects them. */
async function guarded(faults: readonly Fault[] = []): Promise<Scene> {
  const s = await scene({
    others: [
      {
        name: 'vault',
        id: '77',
        token: CANARY,
        skills: ['Go', 'Perl', 'Old'],
        roles: ['Dev'],
        resources: AMOUNTS.map((amount, i) => ({
          id: `r${i}`,
          skills: ['Go', 'Perl'],
          role: 'Dev',
          salary: { amount, currency: 'XCN', period: 'yearly' as const },
        })),
      },
    ],
    settings: {
      extraFields: {
        echo: `Bearer ${CANARY}`,
        salaryBand: 'compensation-4711',
        details: { baseSalary: 'compensation-4711', list: [{ Salary: { bonus: 'bonus-4712' } }] },
      },
    },
    faults,
    api: { retries: 0 },
  });
  s.configure('skills: [Go, New]\nroles: [Dev]', 'vault');
  return s;
}

/** The salaries are really served, so that not finding them means something. */
async function served(s: Scene): Promise<string> {
  const response = await fetch(`${s.sandbox.url}/api/public/v1/resource`, {
    headers: { authorization: `Bearer ${CANARY}` },
  });
  return await response.text();
}

function leaksOf(text: string): string[] {
  return SECRETS.filter((secret) => text.includes(secret));
}

/** Every byte of the store's files, and every packed body in it. */
function leaksOfStore(s: Scene): string[] {
  const folder = join(s.folder, 'data');
  const bytes = readdirSync(folder).map((file) => readFileSync(join(folder, file)).toString('latin1'));
  const bodies = ['snapshot_bodies', 'plan_bodies'].flatMap((table) =>
    s
      .rows<{ body: Uint8Array }>(`select body from ${table}`)
      .map(({ body }) => gunzipSync(body).toString('utf8')),
  );
  return leaksOf([...bytes, ...bodies].join('\n'));
}

async function leaksOfCommands(s: Scene, commands: readonly (readonly string[])[]): Promise<unknown[]> {
  const leaks: unknown[] = [];
  for (const command of commands) {
    const { stdout, stderr } = await s.run(command, { env: { ROLECALL_DEBUG: '1' } });
    const leaked = leaksOf(stdout + stderr);
    if (leaked.length > 0) leaks.push([command, leaked]);
  }
  return leaks;
}

test('no command prints or stores a token or a salary', async () => {
  const s = await guarded();
  const answer = await served(s);
  for (const secret of SECRETS.slice(1)) expect(answer).toContain(secret);
  const formats = ['text', 'json', 'markdown'].map((format) => ['--format', format]);
  const leaks = await leaksOfCommands(s, [
    ['validate', '--require-secrets'],
    ['plan', 'vault', '--out', 'plan.json'],
    ...formats.map((format) => ['plan', 'vault', ...format]),
    ['apply', '--yes', 'vault', '--format', 'json'],
    ['apply', '--yes', 'vault'],
    ...formats.map((format) => ['usage', 'vault', ...format]),
    ['dump', 'vault'],
    ...formats.map((format) => ['history', ...format]),
    ['doctor', 'vault'],
  ]);
  const runs = s.rows<{ id: string }>('select id from runs').map(({ id }) => id);
  expect(runs.length).toBeGreaterThan(4);
  leaks.push(
    ...(await leaksOfCommands(
      s,
      runs.slice(-2).flatMap((id) => formats.map((format) => ['show', id, ...format])),
    )),
  );
  expect(leaks).toEqual([]);
  expect(leaksOf(readFileSync(join(s.folder, 'plan.json'), 'utf8'))).toEqual([]);
  expect(leaksOfStore(s)).toEqual([]);
  const [body] = s.rows<{ body: Uint8Array }>(
    "select body from snapshot_bodies join snapshots using (digest) where kind = 'resource'",
  );
  // What is kept of people is kept in the service's own fields.
  expect(JSON.parse(gunzipSync(body?.body ?? '').toString('utf8'))).toMatchObject([
    { _id: 'r0', dailyCapacity: 8, workingDays: [0, 1, 2, 3, 4] },
    { _id: 'r1' },
  ]);
});

const quoting = `somebody earns ${AMOUNTS[0]} XCN`;
const WRITES: Readonly<Record<string, Fault>> = {
  'a create’s validation error repeats the token': {
    match: { method: 'POST' },
    do: {
      type: 'status',
      status: 422,
      body: {
        detail: [{ loc: ['header', CANARY], msg: `Invalid Bearer ${CANARY}`, type: CANARY, input: CANARY }],
      },
    },
  },
  'a create’s error repeats the token': { match: { method: 'POST' }, do: { type: 'echo-token' } },
  'a create’s 500 repeats the token': { match: { method: 'POST' }, do: { type: 'echo-token', status: 500 } },
  'a create’s 401 repeats the token': { match: { method: 'POST' }, do: { type: 'echo-token', status: 401 } },
  'a create’s success repeats the token': {
    match: { method: 'POST' },
    do: { type: 'echo-token', status: 201 },
  },
  'a delete’s error repeats the token': {
    match: { method: 'DELETE' },
    do: { type: 'echo-token', status: 409 },
  },
};
const people = { path: 'resource' };
const LISTS: Readonly<Record<string, Fault>> = {
  'a list’s error repeats the token': { match: { path: 'skill' }, do: { type: 'echo-token' } },
  'the people’s error repeats the token': { match: people, do: { type: 'echo-token', status: 500 } },
  'the people’s list is no JSON': { match: people, do: { type: 'invalid-json' } },
  'the people’s list is cut short': { match: people, do: { type: 'cut-body', fraction: 0.7 } },
  'the people’s list ends silently': { match: people, do: { type: 'cut-body', fraction: 0.7, silent: true } },
  'the people’s list is an object': { match: people, do: { type: 'wrong-type' } },
  'the people’s ids are numbers': { match: people, do: { type: 'wrong-type', field: '_id' } },
  'the people’s skills are a number': { match: people, do: { type: 'wrong-type', field: 'skillsIds' } },
  'the people’s list is larger than allowed': { match: people, do: { type: 'huge-body', bytes: 70_000_000 } },
  'the people’s error quotes a salary': {
    match: people,
    do: { type: 'status', status: 422, body: { detail: [{ loc: ['x'], msg: quoting }], message: quoting } },
  },
  'a redirect carries the token': {
    match: { path: 'skill' },
    do: { type: 'redirect', to: `http://127.0.0.1:1/?token=${CANARY}` },
  },
};

test.each([
  ['writing', WRITES],
  ['listing', LISTS],
])('nothing leaks when %s goes wrong', async (_, troubles) => {
  const s = await guarded();
  const leaks: unknown[] = [];
  for (const [what, fault] of Object.entries(troubles)) {
    s.sandbox.setFaults([{ ...fault, times: 'always' }]);
    const leaked = await leaksOfCommands(s, [['apply', '--yes', 'vault', '--format', 'json']]);
    if (leaked.length > 0) leaks.push([what, leaked]);
    expect([what, s.sandbox.faults().acted[0] === 0]).toEqual([what, false]);
  }
  const runs = s.rows<{ id: string; status: string }>('select id, status from runs');
  expect(runs.map(({ status }) => status)).toEqual(
    runs.map(() => expect.stringMatching(troubles === LISTS ? /^failed$/ : /^partial$/)),
  );
  leaks.push(...(await leaksOfCommands(s, [['history'], ['show', runs[0]?.id ?? '']])));
  expect(leaks).toEqual([]);
  expect(leaksOfStore(s)).toEqual([]);
});

test('the token goes to the configured origin only: a redirect is not followed', async () => {
  const s = await guarded();
  const elsewhere = await scene({});
  s.sandbox.setFaults([
    {
      match: { path: 'skill' },
      times: 'always',
      do: { type: 'redirect', to: `${elsewhere.sandbox.url}/api/public/v1/skill` },
    },
  ]);
  const { status, stdout } = await s.run(['apply', '--yes', 'vault']);
  expect(status).toBe(1);
  expect(stdout).toMatch(/redirect/);
  expect(elsewhere.sandbox.requests()).toEqual([]);
});
