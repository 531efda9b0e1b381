// The commands other than plan and apply, and what all commands share: formats, files, colours, help.
import { chmodSync, existsSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { hoursAgo, type RunJson, scene, TOKEN } from '../support/scene.ts';
import { hasTerminal, onTerminal } from '../support/terminal.ts';
import { makeWorkspace } from '../support/workspace.ts';

// eslint-disable-next-line no-control-regex
const COLOUR = /\u001B\[[0-9;]*m/;
const COMMANDS =
  'init validate plan apply serve status dump who history show restore diff copy-store sandbox completion'.split(
    ' ',
  );

test('validate reports a glob of protect that matches nothing, by the last lists in the store', async () => {
  const s = await scene({
    skills: ['Admin tools'],
    service: 'defaults: { policy: { protect: ["Admin*", "Nobody*"] } }',
    file: 'policy: { protect: ["Admin*", "Typo*"] }\nskills: [Go]',
  });
  const warnings = async () =>
    (await s.run(['validate'])).stdout.split('\n').filter((line) => line.includes('matches no'));
  expect(await warnings()).toEqual([]);
  expect((await s.run(['plan'])).status).toBe(0);
  expect(await warnings()).toEqual([
    expect.stringContaining('warning: "Typo*" matches no name of the files'),
    expect.stringContaining('warning: "Nobody*" matches no name of the files'),
  ]);
  s.write('data/rolecall.db', 'not a store');
  expect(await warnings()).toEqual([]);
});

test('validate needs neither network nor secrets, and missing secrets fail it only with --require-secrets', async () => {
  const workspace = makeWorkspace('unused');
  workspace.write(
    'config/rolecall.yaml',
    'accounts: accounts/*.yaml\nregions: { eu: "https://eu.example" }\nhttp: { token: { env: HTTP_TOKEN } }\n',
  );
  workspace.write('config/accounts/a.yaml', 'region: eu\ntoken: { env: NOT_SET }\nskills: [A]\n');
  workspace.write('config/accounts/b.yaml', 'region: eu\ntoken: { file: nowhere }\nskills: [A]\n');
  const lenient = await workspace.run(['validate']);
  expect(lenient.status).toBe(0);
  expect(lenient.stdout).toMatch(/rolecall\.yaml:3:16: warning: .*HTTP_TOKEN/);
  expect(lenient.stdout).toMatch(/a\.yaml:2:8: warning: .*NOT_SET/);
  expect(lenient.stdout).toMatch(/b\.yaml:2:8: warning: .*nowhere/);
  const strict = await workspace.run(['validate', '--require-secrets']);
  expect(strict.status).toBe(4);
  expect(strict.stdout).toContain('3 errors');
  const env = { HTTP_TOKEN: 'x', NOT_SET: 'y' };
  workspace.write('config/accounts/nowhere', 'z\n');
  chmodSync(join(workspace.folder, 'config/accounts/nowhere'), 0o600);
  const good = await workspace.run(['validate', '--require-secrets'], { env });
  expect(good).toMatchObject({ status: 0, stdout: '2 accounts, 2 names: valid\n' });
  expect(existsSync(join(workspace.folder, 'data'))).toBe(false);
});

test('usage counts the people of each entry, and lists unused entries and references to unknown ids', async () => {
  const s = await scene({
    skills: ['Go', 'Perl', 'Idle'],
    roles: ['Dev'],
    resources: [
      { id: 'r1', skills: ['Go', 'Perl'], role: 'Dev' },
      { id: 'r2', skills: ['Go'] },
      { id: 'r3', skillsIds: ['ghost'] },
    ],
    file: 'skills: [Go]',
  });
  const text = await s.run(['who', '--live']);
  expect(text.status).toBe(0);
  expect(text.stdout).toMatch(/Idle/);
  expect(text.stdout).toContain('ghost');
  const { stdout } = await s.run(['who', '--live', '--format', 'json']);
  const flat = JSON.stringify(JSON.parse(stdout));
  for (const id of ['r1', 'r2', 'r3', 'ghost']) expect(flat).toContain(`"${id}"`);
  expect(s.sandbox.requests().every(({ method }) => method === 'GET')).toBe(true);
  expect(existsSync(join(s.folder, 'data'))).toBe(false);
});

test('history lists the runs, newest first, filtered by account, age, status and number', async () => {
  const s = await scene({
    skills: ['Perl', 'Kept'],
    resources: [{ id: 'r1', skills: ['Perl'] }],
    file: 'skills: [Kept]',
    others: [{ name: 'other', id: '43', token: 'token-of-other' }],
  });
  s.configure('skills: [New]', 'other');
  const history = async (...args: string[]): Promise<RunJson[]> => {
    const { status, stdout } = await s.run(['history', '--format', 'json', ...args]);
    expect(status).toBe(0);
    return JSON.parse(stdout) as RunJson[];
  };
  const before = await s.run(['history']);
  expect(before.status).toBe(1);
  expect(before.stderr).toContain('no run has been made here');
  expect(existsSync(join(s.folder, 'data'))).toBe(false);

  await s.run(['plan', 'acme']);
  await s.run(['apply', '--yes', 'acme']);
  await s.run(['apply', '--yes', 'other']);
  const summaries = (runs: readonly RunJson[]): string[] =>
    runs.map(({ account, status }) => `${account} ${status}`);
  expect(summaries(await history())).toEqual(['other converged', 'acme held', 'acme planned']);
  expect(summaries(await history('acme'))).toEqual(['acme held', 'acme planned']);
  expect(summaries(await history('--limit', '1'))).toEqual(['other converged']);
  expect(summaries(await history('--status', 'held'))).toEqual(['acme held']);
  expect(summaries(await history('--changed'))).toEqual(['other converged']);
  s.execute("update runs set started_at = ? where status = 'planned'", hoursAgo(2));
  expect(summaries(await history('--since', '1h'))).toEqual(['other converged', 'acme held']);
  expect((await s.run(['history'])).stdout).toContain('held');
  for (const wrong of ['--status=good', '--limit=0', '--since=yesterday'])
    expect((await s.run(['history', wrong])).status).toBe(64);
});

test('validate --online checks everything and writes nothing', async () => {
  const s = await scene({
    skills: ['A'],
    file: 'accountId: "42"\nskills: [B]\nschedule: "0 3 * * *"\ntimezone: Europe/Berlin',
    others: [{ name: 'failing', id: '43', token: 'token-of-failing', skills: ['A'] }],
  });
  const good = await s.run(['validate', '--online']);
  expect(good.status).toBe(0);
  // The store is closed, which removes its log.
  expect(existsSync(join(s.folder, 'data/rolecall.db-wal'))).toBe(false);
  for (const part of ['Europe/Berlin', '42', s.sandbox.url, 'store']) expect(good.stdout).toContain(part);
  s.configure('skills: [A]\naccountId: "44"', 'failing');
  s.configure('skills: [1.0]', 'invalid');
  const bad = await s.run(['validate', '--online', '--format', 'json']);
  expect(bad.status).toBe(1);
  const found = JSON.parse(bad.stdout) as { title: string; findings?: { ok: boolean; detail: string }[] }[];
  const problems = found.flatMap(({ title, findings }) =>
    (findings ?? []).filter(({ ok }) => !ok).map(({ detail }) => [title, detail]),
  );
  expect(problems).toEqual([
    ['account failing', expect.stringMatching(/44/)],
    ['account invalid', expect.stringMatching(/invalid\.yaml:3:10/)],
  ]);
  expect((await s.run(['validate', '--online', 'invalid'])).status).toBe(4);
  expect(s.sandbox.requests().every(({ method }) => method === 'GET')).toBe(true);
  expect(s.rows('select * from runs')).toEqual([]);
});

test('--help lists every command and the exit statuses, and each command has its own help', async () => {
  const workspace = makeWorkspace('unused');
  const run = (...args: string[]) => workspace.run(args, { withoutConfig: true });
  const help = await run('--help');
  expect(help.status).toBe(0);
  for (const command of COMMANDS) expect(help.stdout).toContain(command);
  expect(help.stdout).toMatch(/Exit status/);
  const each = await Promise.all(COMMANDS.map((command) => run(command, '--help')));
  expect(each.map(({ status }) => status)).toEqual(COMMANDS.map(() => 0));
  for (const [index, { stdout }] of each.entries()) expect(stdout).toContain(`rolecall ${COMMANDS[index]}`);
  expect(await run('--version')).toMatchObject({
    status: 0,
    stdout: expect.stringMatching(/^\d+\.\d+\.\d+\n$/),
  });
});

test('wrong usage exits 64, reports the mistake on stderr and sends no request', async () => {
  const s = await scene({ file: 'skills: [A]' });
  const wrong = [
    [],
    ['nonsense'],
    ['plan', '--nonsense'],
    ['plan', '--format', 'xml'],
    ['plan', 'nobody'],
    ['apply', '--yes', '--lock-timeout', 'soon'],
    ['apply', '--yes', 'nobody'],
    ['dump'],
    ['dump', 'nobody'],
    ['show'],
    ['validate', 'surplus'],
    ['plan', '--config'],
    ['copy-store', 'only-one'],
    ['copy-store', 'a.db', 'b.db'],
    ['copy-store', 'a.db', 'postgres://db'],
    ['copy-store', 'a.db', 'env:NOT_SET'],
    ['copy-store', 'a.db', 'postgres://db/a', '--schema', 'pg_a'],
  ];
  const results = await Promise.all(wrong.map((args) => s.run(args)));
  for (const [index, { status, stdout, stderr }] of results.entries()) {
    expect([wrong[index], status, stdout]).toEqual([wrong[index], 64, '']);
    expect(stderr).not.toBe('');
  }
  expect(results[4]?.stderr).toContain('acme');
  expect(s.sandbox.requests()).toEqual([]);
});

test('--output writes the report to a file instead of stdout', async () => {
  const s = await scene({ skills: ['Old'], file: 'skills: [New]' });
  for (const command of [['validate'], ['plan'], ['who', '--live'], ['apply', '--yes'], ['history']]) {
    const { status, stdout } = await s.run([...command, '--output', 'report']);
    expect([command[0], status, stdout]).toEqual([command[0], 0, '']);
    expect(readFileSync(join(s.folder, 'report'), 'utf8').length).toBeGreaterThan(10);
  }
});

test.each([
  [['plan']],
  [['plan', '--save', 'missing/plan.json']],
  [['apply', '--yes']],
  [['who', '--live']],
  [['validate', '--online']],
  [['history']],
  [['show', 'last']],
  [['validate']],
])('an unwritable file costs the command %j nothing: no request, no run, no store', async (command) => {
  const s = await scene({ skills: ['Old'], file: 'skills: [New]' });
  const args = command.includes('--save') ? command : [...command, '--output', 'missing/report'];
  const { status, stdout, stderr } = await s.run(args);
  expect([status, stdout]).toEqual([64, '']);
  expect(stderr).toMatch(
    /^error: cannot write missing\/\S+ \(ENOENT\); check the path of --(?:output|save)$/m,
  );
  expect(s.sandbox.requests()).toEqual([]);
  expect(existsSync(join(s.folder, 'data'))).toBe(false);
});

test('apply prints one HTML document: of the runs, or of the plans that nobody confirmed', async () => {
  const s = await scene({ skills: ['Old'], file: 'skills: [New]' });
  const refused = await s.run(['apply', '--format', 'html']);
  expect(refused.status).toBe(64);
  const applied = await s.run(['apply', '--yes', '--accept', 'no_evidence', '--format', 'html']);
  expect([applied.status, s.names().skills]).toEqual([0, ['New']]);
  for (const { stdout } of [refused, applied]) {
    expect(stdout.match(/<!doctype html>/g)).toHaveLength(1);
    expect(stdout).toMatch(/New/);
  }
  expect(applied.stdout).toMatch(/Nobody lost a skill or role\..*1 created, 1 deleted/s);
});

test('reports are text, JSON, Markdown or HTML, and no format has colours in a pipe', async () => {
  const s = await scene({ skills: ['Old *b*'], file: 'skills: ["New | <x>"]' });
  await s.apply();
  s.configure('skills: ["Newer | <x>"]');
  for (const command of [['plan'], ['who', '--live'], ['history'], ['validate']]) {
    const [text, json, markdown, html] = await Promise.all(
      // CI runners set it, and libraries take it as a request for colours.
      ['text', 'json', 'markdown', 'html'].map((format) =>
        s.run([...command, '--format', format], { env: { CI: 'true' } }),
      ),
    );
    expect(
      [command, text, json, markdown, html].map((each) =>
        each !== undefined && 'status' in each ? each.status : each,
      ),
    ).toEqual([command, 0, 0, 0, 0]);
    expect(JSON.parse(json?.stdout ?? '')).toBeInstanceOf(Array);
    expect(markdown?.stdout).toMatch(/^#/m);
    expect(html?.stdout).toMatch(/^<!doctype html>\n<html lang="en">.*<\/html>\n$/s);
    for (const result of [text, json, markdown, html]) expect(result?.stdout).not.toMatch(COLOUR);
  }
  const table = (await s.run(['plan', '--format', 'markdown'])).stdout;
  const row = table.split('\n').find((line) => line.startsWith('| + skill'));
  expect(row?.match(/(?<!\\)\|/g)).toHaveLength(3);
  expect(table).not.toContain('<x>');
});

test.skipIf(!hasTerminal)('text has colours on a terminal, and none with NO_COLOR or in a file', async () => {
  const s = await scene({ skills: ['Old'], file: 'skills: [New]' });
  const env = { TOKEN_ACME: TOKEN };
  expect((await onTerminal(s.folder, ['plan'], { env })).output).toMatch(COLOUR);
  expect((await onTerminal(s.folder, ['plan'], { env: { ...env, NO_COLOR: '1' } })).output).not.toMatch(
    COLOUR,
  );
  await onTerminal(s.folder, ['plan', '--output', 'report'], { env });
  expect(readFileSync(join(s.folder, 'report'), 'utf8')).not.toMatch(COLOUR);
});

test('the configuration is found through ROLECALL_CONFIG, and in its default path below the working directory', async () => {
  const s = await scene({ file: 'skills: [A]' });
  const env = { ROLECALL_CONFIG: join(s.folder, 'config/rolecall.yaml') };
  expect((await s.run(['validate'], { withoutConfig: true, env })).status).toBe(0);
  expect((await s.run(['validate'], { withoutConfig: true })).status).toBe(0);
  const elsewhere = await s.run(['validate'], {
    withoutConfig: true,
    env: { ROLECALL_CONFIG: 'elsewhere.yaml' },
  });
  expect(elsewhere.status).toBe(4);
  expect(elsewhere.stdout + elsewhere.stderr).toContain('elsewhere.yaml');
});

test('the store has mode 600, and its rows show what a run did', async () => {
  const s = await scene({ skills: ['A'], file: 'skills: [B]' });
  await s.apply();
  expect(statSync(join(s.folder, 'data/rolecall.db')).mode & 0o777).toBe(0o600);
  const [run] = s.rows<{ id: string; started_at: string; requests: number }>('select * from runs');
  expect(run?.id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7/);
  expect(run?.started_at).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
  expect(run?.requests).toBe(s.sandbox.requests().length);
  expect(
    s.rows(
      'select deleted_by_run is not null as gone, created_by_run is not null as made from entries order by name',
    ),
  ).toEqual([
    { gone: 1, made: 0 },
    { gone: 0, made: 1 },
  ]);
});
