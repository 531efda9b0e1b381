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
  ['snapshots', '!no-*'],
  ['usage', 'acme', 'no-*'],
  ['sync', 'nobody'],
  ['sync', 'acme', 'no-*'],
  ['pause', 'nobody'],
  ['resume', 'nobody'],
  ['approve', 'nobody'],
  ['approve', 'no-*', '--yes'],
  ['approve', 'acme', 'nobody', '--yes'],
  ['dump', 'nobody'],
  ['doctor', 'nobody'],
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
    ['snapshots', 'gone'],
    ['pause', 'go*'],
    ['resume', 'go*'],
    ['sync', 'gone'],
    ['diff', 'last', 'last', 'gone'],
    ['who', 'Go', 'gone'],
  ]) {
    const { status, stdout, stderr } = await s.run(args);
    expect([args, status, stderr]).toEqual([args, 0, '']);
    expect(stdout).toContain('gone');
  }
  // Its lists cannot be read without its file, so that a glob leaves it out.
  const usage = await s.run(['usage', 'gone']);
  expect([usage.status, usage.stderr]).toEqual([4, expect.stringContaining('gone is not configured here')]);
  expect((await s.run(['usage', '*'])).status).toBe(0);
});
