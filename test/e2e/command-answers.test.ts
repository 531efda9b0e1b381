// The messages of commands that changed nothing, match no account, or have nothing to manage.
import { expect, test } from 'vitest';
import { codes, scene } from '../support/scene.ts';

test('pause of a paused account and resume of one that is not paused change nothing and report that', async () => {
  const s = await scene({ file: 'skills: [A]' });
  const notPaused = await s.run(['resume', 'acme']);
  expect(notPaused).toMatchObject({ status: 0, stdout: expect.stringContaining('acme is not paused') });
  expect(s.rows('select name from accounts')).toEqual([]);
  expect((await s.run(['pause', 'acme'])).stdout).toMatch(/^paused acme/);
  const paused = await s.run(['pause', 'acme']);
  expect(paused).toMatchObject({
    status: 0,
    stdout: expect.stringMatching(/^acme is paused already.* resume acme/),
  });
  expect(s.rows('select paused from accounts')).toEqual([{ paused: 1 }]);
  expect((await s.run(['resume', 'acme'])).stdout).toMatch(/^resumed acme/);
  expect((await s.run(['resume', 'acme'])).stdout).toContain('is not paused');
});

test('dump --write reports what it wrote, or that nothing changed', async () => {
  const s = await scene({ skills: ['Go', 'Perl'], roles: ['Dev'], file: 'accountId: "42"\nskills: [Go]' });
  const wrote = await s.run(['dump', 'acme', '--write']);
  expect(wrote).toMatchObject({ status: 0, stdout: '' });
  expect(wrote.stderr).toMatch(
    /^acme: changed config\/accounts\/acme\.yaml, which describes the account’s 2 skills now\n$/m,
  );
  const again = await s.run(['dump', 'acme', '--write']);
  expect(again.stderr).toMatch(
    /^acme: nothing to change: config\/accounts\/acme\.yaml describes the account’s 2 skills already\n$/m,
  );
  s.configure('accountId: "42"');
  expect((await s.run(['dump', 'acme', '--write'])).stderr).toContain(
    'which describes the account’s 2 skills and 1 role now',
  );
});

test('an account without skills and roles is reported as managing nothing, with how to manage something', async () => {
  const s = await scene({ skills: ['Go'], file: 'mode: plan' });
  const { plan } = await s.plan();
  expect(plan.operations).toEqual([]);
  expect(codes(plan)).toEqual(['nothing_managed']);
  const text = await s.run(['plan']);
  expect(text.stdout).toMatch(/^acme: manages nothing/m);
  expect(text.stdout).not.toMatch(/nothing to do|match(es)? the file/);
  for (const how of ['skills:', 'roles:', ' dump acme --write']) expect(text.stdout).toContain(how);
  const applied = await s.run(['apply', '--yes']);
  expect(applied.stdout).toContain('nothing_managed');
  s.configure('skills: [Go]');
  expect(codes((await s.plan()).plan)).toEqual([]);
  s.configure('roles: []');
  expect(codes((await s.plan()).plan)).toEqual([]);
});
