// A file that changes while a run creates entries: the run sends nothing more.
import { expect, test } from 'vitest';
import { scene } from '../support/scene.ts';

test('apply deletes nothing after the file of the account was reverted while it created entries', async () => {
  let revert = (): void => undefined;
  const s = await scene({
    skills: ['Kept', 'Old'],
    file: 'skills: [Kept, New]',
    log: ({ method }) => (method === 'POST' ? revert() : undefined),
  });
  revert = () => s.configure('skills: [Kept, New, Old]');
  const { result, run } = await s.apply();
  expect([result.status, run.status, run.errorCode]).toEqual([1, 'partial', 'changed_during_run']);
  expect(s.writes()).toEqual(['POST New']);
  expect(run.operations).toMatchObject([
    { name: 'New', status: 'done' },
    { name: 'Old', status: 'skipped', reason: expect.stringContaining('file changed since the run began') },
  ]);
  expect((await s.apply()).run.status).toBe('converged');
});
