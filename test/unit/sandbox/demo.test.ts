import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { demoNames, demoSeed, readDemoExtract } from '../../../src/sandbox/demo.ts';
import { readJsonFile } from '../../../src/sandbox/check.ts';
import { api, call, list, start } from './client.ts';

const folder = fileURLToPath(new URL('../../../config/demo/', import.meta.url));
const extract = readDemoExtract(`${folder}onet-extract.json`);

describe('the demo account', () => {
  it('contains the names of the extract and people with skills of their role', async () => {
    const sandbox = await start({ seed: demoSeed(extract) });
    const { skills, roles } = demoNames(extract);
    const acme = sandbox.state('acme');
    expect(sandbox.accounts.map((each) => each.name)).toEqual(['acme']);
    expect(acme.skills.map((each) => each.name)).toEqual(skills);
    expect(acme.roles.map((each) => each.name)).toEqual(roles);
    expect(skills.length).toBeGreaterThan(300);
    expect(roles.length).toBe(36);
    expect(acme.resources).toHaveLength(120);
    const owned = new Map(extract.roles.map((role) => [role.name, new Set(role.skills)]));
    for (const person of acme.resources.filter((each) => each.role !== null)) {
      const belongs = owned.get(person.role ?? '');
      expect(person.skills.length).toBeGreaterThan(0);
      expect(person.skills.every((skill) => belongs?.has(skill))).toBe(true);
    }
    expect(acme.resources.filter((each) => each.salary !== null).length).toBeGreaterThan(90);
    const used = new Set(acme.resources.flatMap((each) => each.skills));
    expect(used.size).toBeGreaterThan(150);
    expect(used.size).toBeLessThan(skills.length);
  });

  it('has a complete list of names, which a sandbox serves completely and in order', async () => {
    const all = readJsonFile(`${folder}onet-names.json`) as {
      attribution: string;
      skills: string[];
      roles: string[];
    };
    expect([all.skills.length, all.roles.length, all.attribution.includes('CC BY 4.0')]).toEqual([
      8785,
      923,
      true,
    ]);
    const sandbox = await start({
      seed: { accounts: [{ name: 'big', skills: all.skills, roles: all.roles }] },
    });
    expect((await list(sandbox.url, 'skill')).map((each) => each.name)).toEqual(all.skills);
    expect((await call('GET', api(sandbox.url, 'role'))).status).toBe(200);
  });
});
