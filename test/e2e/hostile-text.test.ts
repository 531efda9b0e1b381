// Hostile text from the service or from a file is shown as text and has no effect, in every format and place.
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import type { Plan } from '../../src/core/plan.ts';
import type { Fault } from '../../src/sandbox/sandbox.ts';
import { EVERY_SECOND, HTTP_TOKEN, ONCE_A_YEAR, startDaemon, WITH_TOKEN } from '../support/daemon.ts';
import {
  commandsIn,
  FORBIDDEN_NAMES,
  HOSTILE_NAMES,
  LOUD_NAMES,
  ODD_NAMES,
  invisibleIn,
} from '../support/hostile-names.ts';
import { hasPostgres } from '../support/postgres.ts';
import { type Scene, scene } from '../support/scene.ts';
import { hasTerminal, onTerminal, typedOnTerminal } from '../support/terminal.ts';
import { isThorough, someOf } from '../support/thorough.ts';

// eslint-disable-next-line no-control-regex -- cursor movements are escapes
const CURSOR = /\u001b\[(?:\d*[GJK]|\?7[lh])/g;

/** The names that a sandbox can store: not empty and valid Unicode. */
const SKILLS = HOSTILE_NAMES.filter((name) => name !== '' && !/\p{Cs}/u.test(name));
const ROLES = SKILLS.filter((_, index) => index % 4 === 1);
const IDS = SKILLS.filter((name) => name !== '.' && name.length < 100);

/** Loose limits, so that one run can create or delete every name. */
const POLICY = 'policy: { delete: always, maxDeletes: 1000, maxDeletePercent: 100 }';

function hostileScene(file = '', service = ''): Promise<Scene> {
  return scene({
    skills: SKILLS.map((name, index) => ({ name, id: index % 3 === 0 ? `id/${name}` : `s${index}` })),
    roles: ROLES,
    resources: IDS.map((id, index) => ({ id, skills: [id], role: ROLES[index % ROLES.length] ?? null })),
    settings: { extraFields: Object.fromEntries(IDS.slice(0, 12).map((name) => [name, name])) },
    file,
    service,
  });
}

/** Fails if the text has an effect on a terminal or on a CI runner. */
function expectHarmless(what: string, text: string): void {
  expect([what, invisibleIn(text)]).toEqual([what, []]);
  expect([what, commandsIn(text)]).toEqual([what, []]);
}

async function runHarmlessly(
  s: Scene,
  args: readonly string[],
  statuses: readonly number[],
): Promise<string> {
  const { status, stdout, stderr } = await s.run(args);
  expectHarmless(args.join(' '), stdout);
  expectHarmless(`${args.join(' ')}: stderr`, stderr);
  expect([args, statuses.includes(status ?? -1), stderr.slice(0, 300)]).toEqual([
    args,
    true,
    stderr.slice(0, 300),
  ]);
  return stdout;
}

function refuseDeletes(s: Scene, msg: string): void {
  const body = { detail: [{ loc: ['x'], msg, type: 'x' }] };
  s.sandbox.setFaults([
    { match: { method: 'DELETE' }, times: 'always', do: { type: 'status', status: 422, body } },
  ]);
}

test('after a dump of an account with hostile names the plan is empty', async () => {
  const s = await hostileScene();
  const dumped = await runHarmlessly(s, ['dump', 'acme'], [0]);
  const file = parse(dumped) as { skills: string[]; roles: string[]; policy: { protect: string[] } };
  const writable = [...ODD_NAMES, ...LOUD_NAMES].map((name) => name.normalize('NFC'));
  expect(file.skills.toSorted()).toEqual(writable.toSorted());
  const rest = SKILLS.length - writable.length;
  expect(file.policy.protect).toHaveLength(rest);

  s.write('config/accounts/acme.yaml', dumped);
  const { plan, result } = await s.plan();
  expect(plan.operations).toEqual([]);
  expect(plan.held).toEqual([]);
  expectHarmless('plan', result.stderr + result.stdout);
  // The file is harmless for its reviewers, and validate warns about each odd name in it.
  expectHarmless('the file', dumped);
  const report = await runHarmlessly(s, ['validate', '--format', 'json'], [0]);
  const issues = JSON.parse(report) as { message: string; severity: string }[];
  const warned = issues.filter(({ message }) => message.includes('invisible or unusual'));
  expect(warned).toHaveLength(ODD_NAMES.length + ROLES.filter((name) => ODD_NAMES.includes(name)).length);
  expect(issues.filter(({ severity }) => severity === 'error')).toEqual([]);
});

test('observed names, ids, people and fields are harmless in every format of every command', async () => {
  // The plan deletes every skill and every role.
  const s = await hostileScene(`${POLICY}\nskills: []\nroles: []`);
  const texts = someOf(['markdown', 'text', 'html'], 2);

  await s.run(['plan']);
  const planned = JSON.parse(
    await runHarmlessly(s, ['plan', '--format', 'json', '--save', 'saved.json'], [0]),
  ) as Plan[];
  // JSON keeps every name exactly.
  const names = planned[0]?.operations.filter(({ kind }) => kind === 'skill').map(({ name }) => name) ?? [];
  expect(names.toSorted()).toEqual([...SKILLS].toSorted());
  const used = await runHarmlessly(s, ['who', '--live', '--format', 'json'], [0]);
  for (const format of texts) {
    await runHarmlessly(s, ['who', '--live', '--format', format], [0]);
  }
  await runHarmlessly(s, ['plan', '--detailed-exitcode'], [2]);
  expect(used).toContain(JSON.stringify('constructor'));
  for (const format of someOf(['text', 'json'], 1))
    await runHarmlessly(s, ['validate', '--online', '--format', format], [0]);
  expectInert(await runHarmlessly(s, ['plan', '--format', 'markdown'], [0]));

  await runHarmlessly(s, ['apply', '--yes', '--format', 'markdown'], [0, 1]);
  const [run] = s.rows<{ id: string }>("select id from runs where mode = 'apply'");
  for (const format of [...texts, 'json']) {
    await runHarmlessly(s, ['show', run?.id ?? '', '--format', format], [0]);
  }
  const journaled = s.rows<{ name: string }>("select name from operations where kind = 'skill'");
  expect(journaled.length).toBeGreaterThanOrEqual(SKILLS.length);
});

/**
 * Expects that the Markdown outside of code has no effect, and that each table row has as many cells as the row above.
 */
function expectInert(report: string): void {
  const live = report.replace(/`[^`\n]*`/g, '').replace(/<code>[^<\n]*<\/code>/g, '');
  expect(live).not.toMatch(/@|<(?!\/?(?:details|summary)>)|\]\(|`|~|\$|https?:/);
  // A name with an unescaped `|` would add a cell.
  const lines = report.split('\n');
  const broken = lines.filter(
    (line, at) =>
      line.startsWith('|') &&
      (lines[at - 1] ?? '').startsWith('|') &&
      line.split('|').length !== (lines[at - 1] ?? '').split('|').length,
  );
  expect(broken).toEqual([]);
}

test('allowed desired names are created exactly, and forbidden desired names are errors', async () => {
  const s = await scene();
  const list = (names: readonly string[]): string =>
    names.map((name) => `  - ${JSON.stringify(name)}`).join('\n');
  // The YAML parser reports some of them with its own message, so only the lines are compared.
  s.configure(`skills:\n${list(FORBIDDEN_NAMES)}`);
  const refused = JSON.parse(await runHarmlessly(s, ['validate', '--format', 'json'], [4])) as {
    line: number;
    severity: string;
  }[];
  const lines = new Set(refused.filter(({ severity }) => severity === 'error').map(({ line }) => line));
  expect(lines.size).toBe(FORBIDDEN_NAMES.length);
  for (const format of someOf(['text', 'markdown', 'html'], 1))
    await runHarmlessly(s, ['validate', '--format', format], [4]);
  await runHarmlessly(s, ['plan'], [4]);

  const desired = [...ODD_NAMES, ...LOUD_NAMES];
  s.configure(`skills:\n${list(desired)}\nroles: []`);
  for (const format of someOf(['markdown', 'text', 'html'], 1))
    await runHarmlessly(s, ['validate', '--format', format], [0]);
  await runHarmlessly(s, ['apply', '--yes'], [0]);
  const wanted = desired.map((name) => name.normalize('NFC')).toSorted();
  expect(s.names().skills).toEqual(wanted);
  await runHarmlessly(s, ['plan', '--detailed-exitcode'], [0]);
});

test.each(someOf(['sqlite', 'postgres'] as const, 1))(
  'a name that the service cuts in the middle of a character is created once, and reported as well-formed JSON, with %s',
  async (store) => {
    if (store === 'postgres' && !hasPostgres) return;
    const cut = { _id: 's1', accountId: '42', name: 'Smile \ud83d' };
    const answers = (list: readonly object[]): Fault[] => [
      {
        match: { method: 'GET', path: 'skill' },
        times: 'always',
        do: { type: 'status', status: 200, body: list },
      },
      { match: { method: 'POST' }, times: 'always', do: { type: 'status', status: 201, body: cut } },
    ];
    const s = await scene({
      store,
      file: 'skills: ["Smile 😀"]',
      log({ method }) {
        if (method === 'POST') s.sandbox.setFaults(answers([cut]));
      },
    });
    s.sandbox.setFaults(answers([]));
    for (let round = 0; round < 3; round += 1) await s.apply();
    expect(s.sandbox.requests().filter(({ method }) => method === 'POST')).toHaveLength(1);
    for (const args of [['plan'], ['show', 'last'], ['who', '--live']]) {
      const json = await runHarmlessly(s, [...args, '--format', 'json'], [0]);
      expect(json).toContain('Smile \ufffdd83d');
      expect(json).not.toMatch(/\\ud[89a-f]/);
    }
  },
);

test('hostile texts of a service in errors and account ids are harmless', async () => {
  const text = 'a\u001b[2J\u009b2J\u202eb\n::error::forged\n##[error]forged\r\u2028\u200b<b>|`';
  const s = await scene({ skills: ['Go'], file: 'skills: [New]\nroles: []', api: { retries: 0 } });
  const detail = [{ loc: ['body', text], msg: text, type: text }];
  s.sandbox.setFaults([
    { match: { method: 'POST' }, times: 'always', do: { type: 'status', status: 422, body: { detail } } },
  ]);
  for (const format of ['text', 'json']) await runHarmlessly(s, ['apply', '--yes', '--format', format], [1]);
  s.sandbox.setFaults([
    { match: { path: 'skill' }, times: 'always', do: { type: 'status', status: 400, body: { detail } } },
  ]);
  await runHarmlessly(s, ['who', '--live'], [1]);
  await runHarmlessly(s, ['dump', 'acme'], [1]);
  await runHarmlessly(s, ['validate', '--online'], [1]);

  const other = await scene({ others: [{ name: 'odd', id: text, token: 'token-of-odd', skills: ['Go'] }] });
  other.configure('accountId: "1"\nskills: [Go]', 'odd');
  await runHarmlessly(other, ['plan', 'odd'], [1]);
  await runHarmlessly(other, ['validate', '--online', 'odd'], [1]);
  other.configure('skills: [Go]', 'odd');
  await runHarmlessly(other, ['plan', 'odd'], [0]);
  await runHarmlessly(other, ['dump', 'odd'], [0]);
});

test('hostile names are harmless in pages, logs and responses of the daemon', async () => {
  const s = await hostileScene(
    `mode: approve\n${POLICY}\nskills: []\nroles: []`,
    `defaults: { schedule: ${ONCE_A_YEAR} }\nlog: trace\n${WITH_TOKEN}`,
  );
  refuseDeletes(s, SKILLS.join('\n'));
  await s.run(['plan']);
  const daemon = await startDaemon(s);
  await s.until('a plan waits', () => daemon.runsEnded('acme') === 1);
  const { body } = await daemon.api<{ pending: { digest: string } }>('accounts/acme');
  await daemon.api('accounts/acme/approve', { digest: body.pending.digest });
  await s.until('the plan has been executed', () => daemon.runsEnded('acme') === 2);
  await expect.poll(() => daemon.events('operation_failed').length).toBeGreaterThan(0);

  const headers = { authorization: `Bearer ${HTTP_TOKEN}`, accept: 'text/html' };
  const runs = s.rows<{ id: string }>("select id from runs where mode = 'approve'").map(({ id }) => id);
  for (const path of ['/', '/accounts/acme', ...runs.map((id) => `/runs/${id}`)]) {
    const page = await (await fetch(daemon.url + path, { headers })).text();
    expect([path, invisibleIn(page)]).toEqual([path, []]);
    // The pages have a script of their own, and pictures with a class or a size.
    const foreign = /<script(?! src="\/assets\/)|<img|<svg(?! (?:class|viewBox)=")|<!-- comment/g;
    expect([path, page.match(foreign)]).toEqual([path, null]);
  }
  const run = await daemon.api<{ plan: Plan }>(`runs/${runs[0] ?? ''}`);
  expect(
    run.body.plan.operations
      .filter(({ kind }) => kind === 'skill')
      .map(({ name }) => name)
      .toSorted(),
  ).toEqual([...SKILLS].toSorted());
  expect(invisibleIn(await daemon.get('/metrics').then(({ text }) => text))).toEqual([]);
  await daemon.stop();
  // Each line of the log is one object; the reader of the log would have thrown at any other.
  expectHarmless('the log', daemon.output().stderr);
  expect(daemon.log().length).toBeGreaterThan(5);
});

test.runIf(isThorough && hasTerminal)(
  'hostile names are harmless in the log of the daemon on a terminal',
  async () => {
    const s = await hostileScene(
      `mode: apply\n${POLICY}\nskills: []\nroles: []`,
      `defaults: { schedule: ${EVERY_SECOND} }\nlog: trace\n${WITH_TOKEN}`,
    );
    refuseDeletes(s, '\u001b[2J\u202e\n::error::x');
    const env = { TOKEN_ACME: 'token-of-acme', ROLECALL_HTTP_TOKEN: HTTP_TOKEN, NO_COLOR: '1' };
    const { output } = await typedOnTerminal(s.folder, ['serve'], env, [['an operation failed', '\u0003']]);
    expectHarmless('the readable log', output.replaceAll('\r', ''));
  },
);

test.skipIf(!hasTerminal)(
  'hostile names are harmless in the prompt, the progress and the report on a terminal',
  async () => {
    const s = await hostileScene(`${POLICY}\nskills: []\nroles: []`);
    const { output } = await onTerminal(s.folder, ['apply'], {
      env: { TOKEN_ACME: 'token-of-acme' },
      answer: 'yes',
    });
    expect(output).toContain('deleted');
    // The program itself prints colours, and clears the progress line.
    const own = output.replaceAll(CURSOR, '').replaceAll('\r', '');
    expectHarmless('the terminal', own);
  },
);
