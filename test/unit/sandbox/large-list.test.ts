import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { list, start } from './client.ts';

it('a sandbox serves a large list of real names completely and in order', async () => {
  const file = new URL('../../bench/onet-names.json', import.meta.url);
  const { skills, roles } = JSON.parse(readFileSync(file, 'utf8')) as Record<'skills' | 'roles', string[]>;
  expect([skills.length, roles.length]).toEqual([8785, 923]);
  const sandbox = await start({ seed: { accounts: [{ name: 'big', skills, roles }] } });
  expect((await list(sandbox.url, 'skill')).map((each) => each.name)).toEqual(skills);
  expect((await list(sandbox.url, 'role')).map((each) => each.name)).toEqual(roles);
});
