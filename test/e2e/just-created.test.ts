// An entry that rolecall has created since the last good lists is searched for in two lists before it is created again,
// like an entry that those lists showed.
import { expect, test } from 'vitest';
import type { Fault } from '../../src/sandbox/sandbox.ts';
import { scene } from '../support/scene.ts';

const CUT_SHORT: Fault = {
  match: { method: 'GET', path: 'skill' },
  do: { type: 'partial-list', fraction: 0.5 },
};

test('an entry that a partial run created is not created again when the next list is cut short', async () => {
  const s = await scene({ skills: ['Kept'], file: 'skills: [Kept, New, Newer]' });
  s.sandbox.setFaults([{ match: { name: 'Newer' }, do: { type: 'latency', ms: 300 } }]);
  const first = s.apply();
  await s.until('the first is created', () => s.names().skills.includes('New'));
  s.sandbox.addSkill('acme', 'Stray');
  expect((await first).run).toMatchObject({ status: 'partial', created: 2 });

  s.sandbox.setFaults([CUT_SHORT]);
  await s.apply();
  expect(s.names().skills).toEqual(['Kept', 'New', 'Newer']);
});

test('an entry is not created again when its run could not read a final list and the next list is cut short', async () => {
  const s = await scene({
    skills: ['Kept'],
    file: 'skills: [Kept, New]',
    // A first run reads the lists twice before it creates something.
    faults: [{ match: { method: 'GET', path: 'skill' }, skip: 2, times: 'always', do: { type: 'html' } }],
  });
  expect((await s.apply()).run).toMatchObject({ status: 'partial', created: 1 });
  // The create no longer counts as one that a stale list may lack.
  s.execute("update operations set finished_at = '2026-01-01T00:00:00.000Z' where status = 'done'");

  s.sandbox.setFaults([CUT_SHORT]);
  expect((await s.apply()).run).toMatchObject({ status: 'converged', created: 0 });
  expect(s.names().skills).toEqual(['Kept', 'New']);
});

test('an entry that somebody removed is created again', async () => {
  const s = await scene({ skills: ['Kept'], file: 'skills: [Kept, New]' });
  expect((await s.apply()).run).toMatchObject({ status: 'converged', created: 1 });
  s.sandbox.removeEntry('acme', s.idOf('New'));
  expect((await s.apply()).run).toMatchObject({ status: 'converged', created: 1 });
  expect(s.names().skills).toEqual(['Kept', 'New']);
});
