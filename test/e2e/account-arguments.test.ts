// The arguments that name accounts: a name that matches nothing is wrong usage, and a removed account keeps its history.
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { scene } from '../support/scene.ts';

/** Every command that takes accounts, with a name that nothing has. */
const COMMANDS: readonly (readonly string[])[] = [
  ['status', 'nobody'],
  ['usage', 'nobody'],
  ['who', 'Go', 'nobody'],
  ['history', 'nobody'],
  ['history', 'no-*'],
  ['snapshots', 'nobody'],
  ['diff', 'last', 'now', 'nobody'],
  ['pause', 'nobody'],
  ['resume', 'nobody'],
  ['approve', 'nobody'],
  ['dump', 'nobody'],
  ['doctor', 'nobody'],
  ['validate', 'nobody'],
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
    expect(stderr).toMatch(/^error: /);
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
    ['snapshots', 'gone'],
    ['diff', 'last', 'last', 'gone'],
    ['who', 'Go', 'gone'],
  ]) {
    const { status, stdout, stderr } = await s.run(args);
    expect([args, status, stderr]).toEqual([args, 0, '']);
    expect(stdout).toContain('gone');
  }
});
