// Mistakes of an operator in files, secrets, addresses, the store and the disk: one clear message, the right exit
// status, nothing written to the service, no stack trace.
import { existsSync, linkSync, readFileSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { costly } from '../support/thorough.ts';
import { plansOf, scene, type Scene, tokenVariable } from '../support/scene.ts';
import { mountSmallDisk } from '../support/small-disk.ts';
import { type Result } from '../support/workspace.ts';

function expectNoStack({ stdout, stderr }: Result): void {
  expect(`${stdout}\n${stderr}`).not.toMatch(/^\s+at .*[:(]/m);
  expect(`${stdout}\n${stderr}`).not.toMatch(/a bug in rolecall/);
}

test('plan and apply report the positions of the errors in an account file, and other accounts still run', async () => {
  const s = await scene({
    file: 'skils: [A]\nskills: [B, B]',
    others: [{ name: 'fine', id: '43', token: 'token-of-fine' }],
  });
  s.configure('skills: [New]', 'fine');
  const planned = await s.run(['plan', '--format', 'json']);
  expect(planned.status).toBe(4);
  const plan = plansOf(planned).get('acme');
  expect(plan).toMatchObject({ status: 'failed', error: { code: 'config_invalid' } });
  expect(JSON.stringify(plan)).toMatch(/acme\.yaml:3:1: .*acme\.yaml:4:13: /s);
  const applied = await s.run(['apply', '--yes', '--all']);
  expect(applied.status).toBe(4);
  expect(applied.stdout).toContain('acme.yaml:3:1');
  expect(s.names('fine').skills).toEqual(['New']);
  expect(s.rows('select status, error_code from runs where account = ?', 'acme')).toEqual([
    { status: 'failed', error_code: 'config_invalid' },
    { status: 'failed', error_code: 'config_invalid' },
  ]);
});

const SERVICE: readonly (readonly [string, string, string])[] = [
  ['an unknown key', 'accounts: accounts/*.yaml\nstore: ../data/r.db\napii: {}', 'rolecall.yaml:3:1'],
  ['a value of another type', 'accounts: accounts/*.yaml\nstore: 7', 'rolecall.yaml:2:8'],
  [
    'a settle that is not longer than the timeout',
    'accounts: accounts/*.yaml\nstore: s\napi: { timeout: 9s, settle: 9s }',
    'rolecall.yaml:3:29',
  ],
  [
    'a public listen address without a token',
    'accounts: accounts/*.yaml\nstore: s\nhttp: { listen: 0.0.0.0:80 }',
    'rolecall.yaml:3:17',
  ],
  ['broken YAML', 'accounts: "accounts/*.yaml', 'rolecall.yaml:'],
  ['no account at all', 'accounts: nothing/*.yaml\nstore: ../data/r.db', 'rolecall.yaml:1:11'],
];

test('an invalid service file stops every command with its position and exit status 4', async () => {
  const s = await scene({ skills: ['Old'], file: 'skills: [A]' });
  for (const [what, text, place] of SERVICE) {
    s.write('config/rolecall.yaml', `${text}\n`);
    for (const command of [['validate'], ['plan'], ['apply', '--yes']]) {
      const result = await s.run(command);
      expect([what, command[0], result.status]).toEqual([what, command[0], 4]);
      expect(result.stdout + result.stderr).toContain(place);
      expectNoStack(result);
    }
  }
  expect(s.sandbox.requests()).toEqual([]);
});

const READING = [['plan'], ['apply', '--yes'], ['who', '--live'], ['dump', 'acme'], ['validate', '--online']];

test('a missing token or an unreachable server fails every command that reads an account', async () => {
  const s = await scene({ file: 'skills: [A]', api: { retries: 0 } });
  const file = (token: string): void =>
    s.write(
      'config/accounts/acme.yaml',
      `baseUrl: ${s.sandbox.url}\ntoken: { env: ${token} }\nskills: [A]\n`,
    );
  const expectFailures = async (words: RegExp): Promise<void> => {
    for (const command of READING) {
      const result = await s.run(command);
      expect([command, result.status]).toEqual([command, 1]);
      expect(result.stdout + result.stderr).toMatch(words);
      expectNoStack(result);
    }
  };
  file('NOT_THERE');
  await expectFailures(/acme[^]*NOT_THERE|NOT_THERE[^]*acme/);
  expect(s.sandbox.requests()).toEqual([]);
  file(tokenVariable('acme'));
  await s.sandbox.close();
  await expectFailures(new RegExp(new URL(s.sandbox.url).host));
});

/** Every command that needs the store fails with one message that names the file; the service is not written to. */
async function expectStoreRefused(s: Scene, words: RegExp): Promise<void> {
  s.sandbox.clearRequests();
  for (const command of [
    ['plan'],
    ['apply', '--yes'],
    ['history'],
    ['show', '0000'],
    ['validate', '--online'],
  ]) {
    const result = await s.run(command);
    expect([command[0], result.status]).toEqual([command[0], 1]);
    const output = result.stdout + result.stderr;
    expect(output).toMatch(words);
    expect(output.match(/\.db/g)?.length).toBeGreaterThanOrEqual(1);
    expectNoStack(result);
  }
  expect(s.writes()).toEqual([]);
}

test('a store of a newer version is refused and not changed', async () => {
  const s = await scene({ file: 'skills: [A]' });
  await s.plan();
  s.execute('pragma user_version = 99');
  await expectStoreRefused(s, /newer/);
  expect(s.rows('pragma user_version')).toEqual([{ user_version: 99 }]);
});

test('a report or a saved plan does not overwrite the store', async () => {
  const s = await scene({ file: 'skills: [A]' });
  expect((await s.run(['plan'])).status).toBe(0);
  for (const flag of ['--output', '--save']) {
    const result = await s.run(['plan', flag, 'data/rolecall.db']);
    expect([result.status, result.stderr]).toEqual([64, expect.stringContaining('or to the store')]);
    expectNoStack(result);
  }
  const backup = await s.run(['backup', 'copy.db']);
  const result = await s.run(['plan', '--output', 'copy.db']);
  expect([backup.status, result.status, result.stderr]).toEqual([
    0,
    64,
    expect.stringContaining('is a database'),
  ]);
  expect((await s.run(['history'])).stdout).toContain('planned');
});

test('a report or a saved plan never replaces a file of the configuration or of the store, whatever path leads there', async () => {
  const s = await scene({ file: 'skills: [A]\nextends: [../catalogs/shared.yaml]', isFresh: true });
  s.write('config/catalogs/shared.yaml', 'skills: [B]\n');
  s.write('config/catalogs/unused.yaml', 'skills: [C]\n');
  s.write('data/other.db', 'SQLite format 3\0');
  symlinkSync(join(s.folder, 'config/accounts'), join(s.folder, 'linked'));
  symlinkSync(join(s.folder, 'config/rolecall.yaml'), join(s.folder, 'report.md'));
  linkSync(join(s.folder, 'config/catalogs/shared.yaml'), join(s.folder, 'same-file.yaml'));
  const files = [
    'config/rolecall.yaml',
    'config/../config/accounts/acme.yaml',
    'linked/acme.yaml',
    'report.md',
    'same-file.yaml',
    'config/catalogs/shared.yaml',
    'config/catalogs/unused.yaml',
    // No command has made the store yet.
    'data/rolecall.db',
    'data/rolecall.db-wal',
    join(s.folder, 'data/rolecall.db-shm'),
  ];
  const read = (file: string): string => readFileSync(join(s.folder, file), 'utf8');
  const texts = (): string[] => files.slice(0, -3).map(read);
  const before = texts();
  const commands = [
    ...files.map((file) => ['plan', '-o', file]),
    ...files.map((file) => ['plan', '--save', file]),
    ['plan', '--format', 'json', '-o', 'report.md'],
    ['apply', '--yes', '-o', 'linked/acme.yaml'],
    ['status', '-o', 'report.md'],
    ['validate', '-o', 'report.md'],
    ['dump', 'acme', '--force', '-o', 'linked/acme.yaml'],
  ];
  for (const command of commands) {
    const { status, stderr } = await s.run(command);
    expect([command, status]).toEqual([command, 64]);
    expect(stderr).toContain('belongs to the configuration or to the store and was not changed');
  }
  expect(texts()).toEqual(before);
  expect(existsSync(join(s.folder, 'data/rolecall.db'))).toBe(false);
  // Also a broken configuration is protected, since someone is about to fix it.
  s.write('config/rolecall.yaml', 'accounts: [\n');
  for (const file of ['config/rolecall.yaml', 'config/accounts/acme.yaml', 'data/other.db-wal'])
    expect((await s.run(['validate', '--format', 'json', '-o', file])).status).toBe(64);
  expect(read('config/rolecall.yaml')).toBe('accounts: [\n');
});

costly('a disk that fills up during a run stops the run before another create is sent', async (context) => {
  const s = await scene({
    // A run that the full disk ended keeps its lock, and the next run takes over only the lock of a dead process.
    asProcess: true,
    skills: ['Kept'],
    file: 'skills: [Kept, A, B, C, D]',
    api: { concurrency: 1, timeout: '5s', settle: '6s' },
    faults: [{ match: { method: 'POST', name: 'A' }, do: { type: 'latency', ms: 1500 } }],
  });
  const disk = mountSmallDisk(join(s.folder, 'data'));
  if (disk === null) return context.skip('no tmpfs can be mounted here');
  onTestFinished(() => disk.unmount());
  const running = s.start(['apply', '--yes']);
  await s.until('the first create is under way', () => s.writes().length === 1);
  disk.fill(0);
  const result = await running.ended;
  expect(result.status).toBe(1);
  expect(result.stdout + result.stderr).toMatch(/disk of the store is full/);
  expectNoStack(result);
  expect(s.writes()).toEqual(['POST A']);

  s.sandbox.clearRequests();
  const full = await s.run(['apply', '--yes']);
  expect(full.status).toBe(1);
  expect(full.stderr).toMatch(/disk of the store is full/);
  expectNoStack(full);
  expect(s.writes()).toEqual([]);

  disk.empty();
  expect((await s.apply()).run.status).toBe('converged');
  expect(s.names().skills).toEqual(['A', 'B', 'C', 'D', 'Kept']);
});
