// The arguments that name accounts: a name that matches nothing is wrong usage, and a removed account keeps its history.
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { scene } from '../support/scene.ts';

/** Every command that takes accounts, with a name that nothing has. */
const COMMANDS: readonly (readonly string[])[] = [
  ['status', 'nobody'],
  ['who', '--live', 'nobody'],
  ['who', 'Go', 'nobody'],
  ['history', 'nobody'],
  ['history', 'no-*'],
  ['history', '--lists', 'nobody'],
  ['diff', 'last', 'now', 'nobody'],
  ['history', '--lists', '!no-*'],
  ['who', '--live', 'acme', 'no-*'],
  ['sync', 'nobody'],
  ['sync', 'acme', 'no-*'],
  ['pause', 'nobody'],
  ['resume', 'nobody'],
  ['approve', 'nobody'],
  ['approve', 'no-*', '--yes'],
  ['approve', 'acme', 'nobody', '--yes'],
  ['dump', 'nobody'],
  ['validate', '--online', 'nobody'],
  ['plan', 'nobody'],
  ['plan', '!nobody'],
  ['apply', 'nobody', '--yes'],
];

test('an argument that matches no account is wrong usage in every command', async () => {
  const s = await scene({ file: 'skills: [Go]' });
  await s.run(['plan']);
  for (const args of COMMANDS) {
    const { status, stdout, stderr } = await s.run(args);
    expect([args, status, stdout]).toEqual([args, 64, '']);
    const wrong = args.find((each) => /^!?no(body|-)/.test(each)) ?? '';
    const problem = /[*!]/.test(wrong) ? 'no account matches' : 'there is no account';
    expect(stderr).toContain(`error: ${problem} "${wrong}"`);
  }
});

test('a removed account matches in the commands that read the journal', async () => {
  const s = await scene({
    skills: ['Go'],
    file: 'skills: [Go]',
    others: [{ name: 'gone', id: '43', token: 'token-of-gone', skills: ['Go'] }],
  });
  s.configure('skills: [Go]', 'gone');
  await s.run(['plan']);
  rmSync(join(s.folder, 'config/accounts/gone.yaml'));
  for (const args of [
    ['history', 'gone'],
    ['history', 'go*', '!acme'],
    ['history', '--lists', 'gone'],
    ['pause', 'go*'],
    ['resume', 'go*'],
    ['sync', 'gone'],
    ['diff', 'last', 'last', 'gone'],
    ['who', 'Go', 'gone'],
    ['who', 'gone'],
  ]) {
    const { status, stdout, stderr } = await s.run(args);
    expect([args, status, stderr]).toEqual([args, 0, '']);
    expect(stdout).toContain('gone');
  }
  // Its lists cannot be read now without its file.
  expect((await s.run(['who', '--live', 'gone'])).status).toBe(64);
});
