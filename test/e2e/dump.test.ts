// `dump`: adopts accounts and accepts drift without losing other content of the file, and checks whose lists it reads.
import { chmodSync, existsSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { changesOf, type Scene, scene } from '../support/scene.ts';

const FILE = 'config/accounts/acme.yaml';
const OTHER = { name: 'other', id: '43', token: 'token-of-other', skills: ['Theirs'] };
const swapped = { env: { TOKEN_ACME: OTHER.token } };

const text = (s: Scene, file = FILE): string => readFileSync(join(s.folder, file), 'utf8');

async function expectEmptyPlan(s: Scene): Promise<void> {
  const { result, plan } = await s.plan('--detailed-exitcode');
  expect([changesOf(plan), plan.held, result.status]).toEqual([[], [], 0]);
}

test.each([
  ['the pinned one', 'accountId: "42"'],
  ['the one that the store has recorded', ''],
])('dump and usage refuse the lists of an account other than %s', async (_title, pin) => {
  const s = await scene({ skills: ['Ours'], file: `${pin}\nskills: [Ours]`, others: [OTHER] });
  await s.run(['apply', '--yes']);
  const before = text(s);
  for (const command of [
    ['dump', 'acme'],
    ['dump', 'acme', '--write'],
    ['dump', 'acme', '--output', 'copy.yaml'],
    ['who', '--live'],
  ]) {
    const { status, stdout, stderr } = await s.run(command, swapped);
    expect([command, status]).toEqual([command, 1]);
    expect(stderr).toMatch(/account 43\b.*\b42\b/);
    expect(stdout).not.toContain('Theirs');
  }
  expect([text(s), existsSync(join(s.folder, 'copy.yaml'))]).toEqual([before, false]);
});

test('dump and usage refuse an account that another account of the store has claimed', async () => {
  const s = await scene({ skills: ['Ours'], file: 'skills: [Ours]', others: [OTHER] });
  await s.run(['apply', '--yes']);
  s.configure('', 'other');
  const copied = { env: { TOKEN_OTHER: 'token-of-acme' } };
  for (const command of [
    ['dump', 'other'],
    ['who', '--live', 'other'],
  ]) {
    const { status, stdout, stderr } = await s.run(command, copied);
    expect([command, status]).toEqual([command, 1]);
    expect(stderr).toContain('“acme” already manages');
    expect(stdout).not.toContain('Ours');
  }
});

test('dump and usage fail when the store cannot be read', async () => {
  const s = await scene({ skills: ['Ours'] });
  s.write('data/rolecall.db', 'not a database, but 16 bytes and more');
  for (const command of [
    ['dump', 'acme'],
    ['who', '--live'],
  ]) {
    const { status, stderr } = await s.run(command);
    expect([command, status]).toEqual([command, 1]);
    expect(stderr).toContain('rolecall.db');
  }
});

test('dump --write accepts drift in place: comments, mode and everything else stay, and the plan is empty', async () => {
  const s = await scene({
    skills: ['Go', 'Perl'],
    roles: ['Dev'],
    resources: [{ id: 'p1', skills: ['Perl'] }],
  });
  s.configure(
    ['mode: apply # the daemon writes', '# ours', 'skills:', '  - Go # since 2020', '  - Zig', 'roles: [Dev]',
      'allowedDeletes:', '  - { kind: skill, name: Perl, expires: 2999-12-31 } # nobody needs it', '  - { kind: role, name: Old, expires: 2999-12-31 }'].join('\n'),
  ); // prettier-ignore
  chmodSync(join(s.folder, FILE), 0o640);
  const before = text(s);
  const { status, stdout, stderr } = await s.run(['dump', 'acme', '--write']);
  expect([status, stdout]).toEqual([0, '']);
  expect(stderr).toContain('the line of `allowedDeletes` for the skill “Perl” is removed');
  expect(text(s)).toBe(
    before
      .replace(/^token/m, 'accountId: "42"\ntoken')
      .replace('  - Zig\n', '  - Perl\n')
      .replace('[Dev]', '[ Dev ]')
      .replace('  - { kind: skill, name: Perl, expires: 2999-12-31 } # nobody needs it\n', ''),
  );
  expect(statSync(join(s.folder, FILE)).mode & 0o777).toBe(0o640);
  await expectEmptyPlan(s);
  const again = await s.run(['dump', 'acme']);
  expect(again).toMatchObject({ status: 0, stdout: text(s) });
});

test('dump --write changes nothing when the result would not be valid', async () => {
  // The limit of a file is 1 MiB, and the names alone are longer.
  const names = Array.from({ length: 1100 }, (_, i) => `${'x'.repeat(990)} ${i}`);
  const s = await scene({ skills: names, file: 'roles: []\nskills: []' });
  const before = text(s);
  const { status, stderr } = await s.run(['dump', 'acme', '--write']);
  expect([status, text(s)]).toEqual([4, before]);
  expect(stderr).toContain('more than the limit of 1048576');
});

test('dump --output does not replace a file without --force', async () => {
  const s = await scene({ skills: ['Go'] });
  s.write('copy.yaml', 'mine\n');
  const refused = await s.run(['dump', 'acme', '--output', 'copy.yaml']);
  expect([refused.status, text(s, 'copy.yaml')]).toEqual([64, 'mine\n']);
  expect(refused.stderr).toContain('--force');
  expect(s.sandbox.requests()).toEqual([]);
  expect((await s.run(['dump', 'acme', '--output', 'copy.yaml', '--force'])).status).toBe(0);
  expect(text(s, 'copy.yaml')).toContain('- Go');
  expect((await s.run(['dump', 'acme', '--output', 'new.yaml'])).status).toBe(0);
  expect(text(s, 'new.yaml')).toBe(text(s, 'copy.yaml'));
});

test('dump --write does not put an incomplete list into the file, and dump without --write warns about it', async () => {
  const s = await scene({
    skills: ['Go', 'Zig'],
    resources: [{ id: 'ann', skills: ['Go'] }],
    file: 'skills: [Go, Zig]',
    faults: [{ match: { method: 'GET', path: 'skill' }, times: 'always', do: { type: 'empty-list' } }],
  });
  const file = join(s.folder, 'config/accounts/acme.yaml');
  const before = readFileSync(file, 'utf8');
  const written = await s.run(['dump', 'acme', '--write']);
  expect([written.status, readFileSync(file, 'utf8')]).toEqual([1, before]);
  expect(written.stderr).toContain('The file was not changed');
  expect((await s.run(['dump', 'acme'])).stderr).toContain('the lists are incomplete: people refer to');
});
