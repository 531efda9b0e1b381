// Entries with ids of other entries, with new ids after a restore of the service, and with garbled names.
import { describe, expect, it } from 'vitest';
import { entry } from '../core/builders.ts';
import { operations, stage, withLists } from './stage.ts';

const SEED = { name: 'acme', id: '42', skills: ['Kept'], resources: [{ id: 'p1' }] };
const MANAGED = { ownership: 'managed' } as const;

describe('with ownership: managed, an entry of somebody else with the id', () => {
  it('of an entry that rolecall deleted is left alone', async () => {
    const on = await stage({ seed: SEED });
    await on.apply({ skills: ['Kept', 'Mine'], policy: MANAGED });
    const mine = on.sandbox.state('acme').skills.find(({ name }) => name === 'Mine');
    await on.apply({ skills: ['Kept'], policy: MANAGED });
    on.clock.pass(900_000);
    for (const name of ['Theirs', 'Mine']) {
      on.sandbox.addSkill('acme', name, { id: mine?.id ?? '' });
      for (let run = 0; run < 2; run += 1) {
        const { plan } = await on.apply({ skills: ['Kept'], policy: MANAGED });
        expect(plan?.leftAlone).toMatchObject([{ name, rule: 'unmanaged' }]);
        on.clock.pass(900_000);
      }
      on.sandbox.removeEntry('acme', mine?.id ?? '');
      await on.apply({ skills: ['Kept'], policy: MANAGED });
    }
  });

  it('of an entry that somebody deleted is left alone', async () => {
    const on = await stage({ seed: SEED });
    await on.apply({ skills: ['Kept', 'Mine'], policy: MANAGED });
    const mine = on.sandbox.state('acme').skills.find(({ name }) => name === 'Mine');
    on.sandbox.removeEntry('acme', mine?.id ?? '');
    on.sandbox.addSkill('acme', 'Theirs', { id: mine?.id ?? '' });
    for (let run = 0; run < 2; run += 1) {
      const { plan } = await on.apply({ skills: ['Kept', 'Mine'], policy: MANAGED });
      expect(plan?.leftAlone).toMatchObject([{ name: 'Theirs', rule: 'unmanaged' }]);
    }
    expect(on.skills()).toEqual(['Kept', 'Mine', 'Theirs']);
  });

  it('is deleted when the file named it and drops it', async () => {
    const on = await stage({ seed: SEED });
    await on.apply({ skills: ['Kept', 'Mine'], policy: MANAGED });
    const mine = on.sandbox.state('acme').skills.find(({ name }) => name === 'Mine');
    await on.apply({ skills: ['Kept'], policy: MANAGED });
    on.clock.pass(900_000);
    on.sandbox.addSkill('acme', 'Mine', { id: mine?.id ?? '' });
    await on.apply({ skills: ['Kept', 'Mine'], policy: MANAGED });
    await on.apply({ skills: ['Kept'], policy: MANAGED });
    expect(operations(on)).toMatchObject([{ name: 'Mine', action: 'delete', status: 'done' }]);
  });
});

it('an entry whose name the service changed is found by that name after a restore with new ids', async () => {
  const names = ['Type Script', 'Java Script', 'Go Lang', 'Rust Lang'];
  const on = await stage({ seed: { ...SEED, skills: [] }, settings: { caseNames: 'lower' } });
  await on.apply({ skills: names });
  expect(on.writes()).toHaveLength(4);
  for (const { id, name } of on.sandbox.state('acme').skills) {
    on.sandbox.removeEntry('acme', id);
    on.sandbox.addSkill('acme', name);
  }
  for (let run = 0; run < 2; run += 1) expect((await on.apply({ skills: names })).status).toBe('converged');
  expect(on.writes()).toHaveLength(4);
});

it('an entry that rolecall deleted and that is restored exists again, also after the clock was set back', async () => {
  const on = await stage({ seed: SEED });
  await on.apply({ skills: ['Kept', 'Mine'] });
  const mine = on.sandbox.state('acme').skills.find(({ name }) => name === 'Mine');
  await on.apply({ skills: ['Kept'] });
  on.sandbox.addSkill('acme', 'Mine', { id: mine?.id ?? '' });
  on.clock.setBy(-3_600_000);
  const before = on.writes();
  expect(await on.apply({ skills: ['Kept', 'Mine'] })).toMatchObject({ status: 'converged' });
  expect(on.writes()).toEqual(before);
});

it('while every name is garbled nothing is written, and afterwards each entry is still the same one', async () => {
  const names = ['Type Script', 'Java Script', 'Go Lang', 'Rust Lang', 'Old'];
  const on = await stage({ seed: { ...SEED, skills: [] }, settings: { caseNames: 'lower' } });
  await on.apply({ skills: names });
  const before = on.writes();
  const garbled = await on.apply({
    skills: names,
    deps: ({ service, ...deps }) => ({
      ...deps,
      service: withLists(service, (items) => items.map(({ id, name }) => entry(`${name}?`, id))),
    }),
  });
  expect(garbled.ended.run).toMatchObject({ status: 'blocked', errorCode: 'suspicious_list' });
  expect(await on.apply({ skills: names })).toMatchObject({ status: 'converged' });
  expect(on.writes()).toEqual(before);
  await on.apply({ skills: names.slice(0, 4), policy: MANAGED });
  expect(operations(on)).toMatchObject([{ name: 'old', action: 'delete', status: 'done' }]);
});
