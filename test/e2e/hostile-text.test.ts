// Whatever text the service or a file holds, it is shown as that text and does nothing, in every format and place.
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import type { Plan } from '../../src/core/plan.ts';
import { EVERY_SECOND, HTTP_TOKEN, ONCE_A_YEAR, startDaemon, WITH_TOKEN } from '../support/daemon.ts';
import {
  commandsIn,
  FORBIDDEN_NAMES,
  HOSTILE_NAMES,
  LOUD_NAMES,
  ODD_NAMES,
  unseenIn,
} from '../support/hostile-names.ts';
import { type Scene, scene } from '../support/scene.ts';
import { hasTerminal, onTerminal } from '../support/terminal.ts';

// eslint-disable-next-line no-control-regex -- what moves the cursor is an escape
const CURSOR = /\u001b\[\d*[GJ]/g;

/** What a sandbox can keep: its names are not empty, and whole. */
const SKILLS = HOSTILE_NAMES.filter((name) => name !== '' && !/\p{Cs}/u.test(name));
const ROLES = SKILLS.filter((_, index) => index % 4 === 1);
const IDS = SKILLS.filter((name) => name !== '.' && name.length < 100);

/** Loose limits: every name may come and go at once. */
const POLICY =
  'policy: { delete: always, allowEmpty: true, maxDeletes: 1000, maxDeletesPerDay: 1000, maxDeletePercent: 100 }';

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

/** Fails where the text does anything to a terminal or to a runner of CI. */
function expectHarmless(what: string, text: string): void {
  expect([what, unseenIn(text)]).toEqual([what, []]);
  expect([what, commandsIn(text)]).toEqual([what, []]);
}

async function harmless(s: Scene, args: readonly string[], statuses: readonly number[]): Promise<string> {
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

test('the search finds what it is to find', () => {
  const silent = [...FORBIDDEN_NAMES.filter((name) => !/^ | $|^$|\n/.test(name)), ...ODD_NAMES.slice(0, 19)];
  expect(silent.filter((name) => unseenIn(`x${name}y`).length === 0 && !name.includes('\u0301'))).toEqual([]);
  expect(LOUD_NAMES.filter((name) => commandsIn(`  ${name}`).length > 0)).toHaveLength(7);
});

test('after a dump of an account with hostile names the plan is empty', async () => {
  const s = await hostileScene();
  const dumped = await harmless(s, ['dump', 'acme'], [0]);
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
  // The file's own text is harmless to whoever reviews it, and each odd name of it is asked about.
  expectHarmless('the file', dumped);
  const said = await harmless(s, ['validate', '--format', 'json'], [0]);
  const issues = JSON.parse(said) as { message: string; severity: string }[];
  const asked = issues.filter(({ message }) => message.includes('invisible or unusual'));
  expect(asked).toHaveLength(ODD_NAMES.length + ROLES.filter((name) => ODD_NAMES.includes(name)).length);
  expect(issues.filter(({ severity }) => severity === 'error')).toEqual([]);
});

test(
  'observed names, ids, people and fields are harmless in every format of every command',
  { timeout: 90_000 },
  async () => {
    // Every third name goes; what nobody can be told to have is left.
    const s = await hostileScene(`${POLICY}\nskills: []\nroles: []`);
    const texts = ['text', 'markdown'];

    await s.run(['plan']);
    const planned = JSON.parse(
      await harmless(s, ['plan', '--format', 'json', '--save', 'saved.json'], [0]),
    ) as Plan[];
    // JSON keeps every name exactly.
    const names = planned[0]?.operations.filter(({ kind }) => kind === 'skill').map(({ name }) => name) ?? [];
    expect(names.toSorted()).toEqual([...SKILLS].toSorted());
    const used = await harmless(s, ['usage', '--format', 'json'], [0]);
    for (const format of texts) {
      await harmless(s, ['usage', '--format', format], [0]);
    }
    await harmless(s, ['plan', '--detailed-exitcode'], [2]);
    expect(used).toContain(JSON.stringify('constructor'));
    for (const format of ['text', 'json']) await harmless(s, ['doctor', '--format', format], [0]);
    expectInert(await harmless(s, ['plan', '--format', 'markdown'], [0]));

    await harmless(s, ['apply', '--yes', '--format', 'markdown'], [0, 1]);
    const [run] = s.rows<{ id: string }>("select id from runs where mode = 'apply'");
    for (const format of [...texts, 'json']) {
      await harmless(s, ['show', run?.id ?? '', '--format', format], [0]);
    }
    const journaled = s.rows<{ name: string }>("select name from operations where kind = 'skill'");
    expect(journaled.length).toBeGreaterThanOrEqual(SKILLS.length);
  },
);

/** What is left outside of code is what a page acts on; and every row has as many cells as the one above. */
function expectInert(report: string): void {
  const live = report.replace(/`[^`\n]*`/g, '').replace(/<code>[^<\n]*<\/code>/g, '');
  expect(live).not.toMatch(/@|<(?!\/?(?:details|summary)>)|\]\(|`|~|\$|https?:/);
  // Every table keeps its shape: as many cells in each row as in the one above.
  const lines = report.split('\n');
  const broken = lines.filter(
    (line, at) =>
      line.startsWith('|') &&
      (lines[at - 1] ?? '').startsWith('|') &&
      line.split('|').length !== (lines[at - 1] ?? '').split('|').length,
  );
  expect(broken).toEqual([]);
}

test(
  'desired names that may be held come out exactly, and those that may not are errors',
  { timeout: 90_000 },
  async () => {
    const s = await scene();
    const list = (names: readonly string[]): string =>
      names.map((name) => `  - ${JSON.stringify(name)}`).join('\n');
    // The parser of a file may say it in its own way for some of them; that it says it is what counts.
    s.configure(`skills:\n${list(FORBIDDEN_NAMES)}`);
    const refused = JSON.parse(await harmless(s, ['validate', '--format', 'json'], [4])) as {
      line: number;
      severity: string;
    }[];
    const lines = new Set(refused.filter(({ severity }) => severity === 'error').map(({ line }) => line));
    expect(lines.size).toBe(FORBIDDEN_NAMES.length);
    for (const format of ['text', 'markdown']) await harmless(s, ['validate', '--format', format], [4]);
    await harmless(s, ['plan'], [4]);

    const desired = [...ODD_NAMES, ...LOUD_NAMES];
    s.configure(`skills:\n${list(desired)}\nroles: []`);
    for (const format of ['text', 'markdown']) await harmless(s, ['validate', '--format', format], [0]);
    await harmless(s, ['apply', '--yes'], [0]);
    const wanted = desired.map((name) => name.normalize('NFC')).toSorted();
    expect(s.names().skills).toEqual(wanted);
    await harmless(s, ['plan', '--detailed-exitcode'], [0]);
  },
);

test('half a character in an observed name is protected by a dump, and never taken for another name', async () => {
  const list = ['half\ud800', '\udc00half', 'half\ufffd'].map((name, index) => ({
    _id: `s${index}`,
    accountId: '42',
    name,
  }));
  const s = await scene({ file: 'skills: [Go]' });
  s.sandbox.setFaults([
    {
      match: { method: 'GET', path: 'skill' },
      times: 'always',
      do: { type: 'status', status: 200, body: list },
    },
  ]);
  await s.run(['plan']);
  const asked = JSON.parse(await harmless(s, ['plan', '--format', 'json'], [0])) as Plan[];
  const names = asked[0]?.operations.map(({ name }) => name) ?? [];
  expect(names.toSorted()).toEqual(['Go', 'half\ud800', 'half\ufffd', '\udc00half'].toSorted());
  s.write('config/accounts/acme.yaml', await harmless(s, ['dump', 'acme'], [0]));
  for (let round = 0; round < 2; round += 1) {
    const { plan } = await s.plan();
    expect([plan.operations, plan.held, plan.leftAlone.length]).toEqual([[], [], 2]);
    await harmless(s, ['apply', '--yes'], [0]);
  }
});

test('texts of a server in errors and account ids are harmless', { timeout: 90_000 }, async () => {
  const text = 'a\u001b[2J\u009b2J\u202eb\n::error::forged\n##[error]forged\r\u2028\u200b<b>|`';
  const s = await scene({ skills: ['Go'], file: 'skills: [New]\nroles: []', api: { retries: 0 } });
  const detail = [{ loc: ['body', text], msg: text, type: text }];
  s.sandbox.setFaults([
    { match: { method: 'POST' }, times: 'always', do: { type: 'status', status: 422, body: { detail } } },
  ]);
  for (const format of ['text', 'json']) await harmless(s, ['apply', '--yes', '--format', format], [1]);
  s.sandbox.setFaults([
    { match: { path: 'skill' }, times: 'always', do: { type: 'status', status: 400, body: { detail } } },
  ]);
  await harmless(s, ['usage'], [1]);
  await harmless(s, ['dump', 'acme'], [1]);
  await harmless(s, ['doctor'], [1]);

  const other = await scene({ others: [{ name: 'odd', id: text, token: 'token-of-odd', skills: ['Go'] }] });
  other.configure('accountId: "1"\nskills: [Go]', 'odd');
  await harmless(other, ['plan', 'odd'], [1]);
  await harmless(other, ['doctor', 'odd'], [1]);
  other.configure('skills: [Go]', 'odd');
  await harmless(other, ['plan', 'odd'], [0]);
  await harmless(other, ['dump', 'odd'], [0]);
});

test('hostile names are harmless in pages, logs and responses of the daemon', async () => {
  const s = await hostileScene(
    `mode: approve\n${POLICY}\nskills: []\nroles: []`,
    `defaults: { schedule: ${ONCE_A_YEAR} }\nlog: { level: trace, format: json }\n${WITH_TOKEN}`,
  );
  s.sandbox.setFaults([
    {
      match: { method: 'DELETE' },
      times: 'always',
      do: {
        type: 'status',
        status: 422,
        body: { detail: [{ loc: ['x'], msg: SKILLS.join('\n'), type: 'x' }] },
      },
    },
  ]);
  await s.run(['plan']);
  const daemon = await startDaemon(s);
  await s.until('a plan waits', () => daemon.runsEnded('acme') === 1);
  await daemon.api('accounts/acme/approve', {});
  await s.until('it was carried out', () => daemon.runsEnded('acme') === 2);
  expect(daemon.events('operation_failed').length).toBeGreaterThan(0);

  const headers = { authorization: `Bearer ${HTTP_TOKEN}`, accept: 'text/html' };
  const runs = s.rows<{ id: string }>("select id from runs where mode = 'approve'").map(({ id }) => id);
  for (const path of ['/', '/accounts/acme', ...runs.map((id) => `/runs/${id}`)]) {
    const page = await (await fetch(daemon.url + path, { headers })).text();
    expect([path, unseenIn(page)]).toEqual([path, []]);
    expect([path, page.match(/<(?:script|img|svg)|<!-- comment/g)]).toEqual([path, null]);
  }
  const run = await daemon.api<{ plan: Plan }>(`runs/${runs[0] ?? ''}`);
  expect(
    run.body.plan.operations
      .filter(({ kind }) => kind === 'skill')
      .map(({ name }) => name)
      .toSorted(),
  ).toEqual([...SKILLS].toSorted());
  expect(unseenIn(await daemon.get('/metrics').then(({ text }) => text))).toEqual([]);
  await daemon.stop();
  // Each line of the log is one object; the reader of the log would have thrown at any other.
  expectHarmless('the log', daemon.output().stderr);
  expect(daemon.log().length).toBeGreaterThan(5);
});

test('the log for people is harmless too', async () => {
  const s = await hostileScene(
    `mode: apply\n${POLICY}\nskills: []\nroles: []`,
    `defaults: { schedule: ${EVERY_SECOND} }\nlog: { level: trace, format: pretty }\n${WITH_TOKEN}`,
  );
  s.sandbox.setFaults([
    {
      match: { method: 'DELETE' },
      times: 'always',
      do: {
        type: 'status',
        status: 422,
        body: { detail: [{ loc: ['x'], msg: '\u001b[2J\u202e\n::error::x', type: 'x' }] },
      },
    },
  ]);
  const running = s.start(['serve'], { env: { ROLECALL_HTTP_TOKEN: HTTP_TOKEN } });
  await s.until('an operation failed', () => running.output().stderr.includes('operation_failed'));
  running.process.kill('SIGTERM');
  const { stderr } = await running.ended;
  expectHarmless('the pretty log', stderr);
});

test.skipIf(!hasTerminal)('prompt, progress and report of a terminal are harmless', async () => {
  const s = await hostileScene(`${POLICY}\nskills: []\nroles: []`);
  const { output } = await onTerminal(s.folder, ['apply'], {
    env: { TOKEN_ACME: 'token-of-acme' },
    answer: 'yes',
  });
  expect(output).toContain('deleted');
  // The program itself colours, and clears the line that shows the progress.
  const own = output.replaceAll('\u001b[2K', '').replaceAll(CURSOR, '').replaceAll('\r', '');
  expectHarmless('the terminal', own);
});
