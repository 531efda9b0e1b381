// A file that changes while a run creates entries: the run deletes nothing more.
import { expect, test } from 'vitest';
import { EVERY_SECOND, startDaemon, WITH_TOKEN } from '../support/daemon.ts';
import { codes, scene, type Scene } from '../support/scene.ts';

test('apply deletes nothing after the file of the account was reverted while it created entries', async () => {
  let revert = (): void => undefined;
  const s = await scene({
    skills: ['Kept', 'Old'],
    file: 'skills: [Kept, New]',
    log: ({ method }) => (method === 'POST' ? revert() : undefined),
  });
  revert = () => s.configure('skills: [Kept, New, Old]');
  const { result, run } = await s.apply();
  expect([result.status, run.status, s.writes()]).toEqual([1, 'partial', ['POST New']]);
  expect(codes(run)).toContain('deletes_stopped');
  expect(run.operations).toMatchObject([
    { name: 'New', status: 'done' },
    { name: 'Old', status: 'skipped', reason: expect.stringContaining('file changed since the run began') },
  ]);
  expect((await s.apply()).run.status).toBe('converged');
});

test.each<[string, (s: Scene) => void]>([
  ['the defaults', (s) => s.serve({}, 'defaults: { policy: { protect: [Old] } }')],
  ['an extended catalog', (s) => s.write('config/more.yaml', 'skills: [Old]\n')],
  ['the file, half-written,', (s) => s.write('config/accounts/acme.yaml', 'skills: [Kept')],
])('apply deletes nothing after a change of %s while it created entries', async (_, change) => {
  let act = (): void => undefined;
  const s = await scene({
    skills: ['Kept', 'Old'],
    file: 'extends: [../more.yaml]\nskills: [Kept, New]',
    log: ({ method }) => (method === 'POST' ? act() : undefined),
  });
  s.write('config/more.yaml', 'skills: [Kept]\n');
  act = () => change(s);
  const { run } = await s.apply();
  expect([run.status, s.writes()]).toEqual(['partial', ['POST New']]);
});

test.each([
  ['in its own process', 3],
  ['in a child process for large accounts', 2500],
])('the daemon deletes nothing after a change of the file, %s', async (_, size) => {
  const many = Array.from({ length: size }, (_each, number) => `Skill ${number}`);
  const lines = (...names: string[]): string =>
    ['mode: apply', `schedule: ${EVERY_SECOND}`, `skills: [${[...many, ...names].join(', ')}]`].join('\n');
  let revert = (): void => undefined;
  const s = await scene({
    skills: [...many, 'Old'],
    file: lines('Old'),
    api: { timeout: '10s', settle: '11s' },
    service: WITH_TOKEN,
    log: ({ method }) => (method === 'POST' ? revert() : undefined),
  });
  const daemon = await startDaemon(s);
  await s.until('a run has ended', () => daemon.runsEnded('acme', 'converged') > 0);
  revert = () => s.configure(lines('New', 'Old'));
  s.configure(lines('New'));
  await s.until('the changed run has ended', () => daemon.runsEnded('acme', 'partial') > 0);
  await s.until('the next run has ended', () => daemon.runsEnded('acme', 'converged') > 1);
  await daemon.stop();
  expect(s.writes()).toEqual(['POST New']);
  expect(s.rows("select name, status from operations where action = 'delete'")).toEqual([
    { name: 'Old', status: 'skipped' },
  ]);
});
