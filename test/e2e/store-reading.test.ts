// Commands that only read the store work on a read-only medium, and with rows that a newer version wrote.
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { type Scene, scene } from '../support/scene.ts';

const FORMATS = ['text', 'json', 'markdown', 'html'];

async function appliedScene(): Promise<{ s: Scene; id: string }> {
  const s = await scene({ file: 'skills: [Go]' });
  const { run } = await s.apply();
  return { s, id: run.id };
}

test('history and show print runs and operations whose statuses only a newer version defines', async () => {
  const { s, id } = await appliedScene();
  s.execute("update runs set status = 'postponed', trigger = 'moon', mode = 'dream'");
  s.execute("update operations set status = 'parked'");
  for (const format of FORMATS) {
    const history = await s.run(['history', '--format', format]);
    expect([history.status, history.stderr]).toEqual([0, '']);
    expect(history.stdout).toContain('postponed');
    const show = await s.run(['show', id, '--format', format]);
    expect([show.status, show.stderr]).toEqual([0, '']);
    expect(show.stdout).toContain('postponed');
  }
});

test('history, show and backup work on a read-only medium, and commands that write report why they cannot', async (context) => {
  const { s, id } = await appliedScene();
  const data = join(s.folder, 'data');
  try {
    execFileSync('mount', ['--bind', data, data], { stdio: 'ignore' });
    onTestFinished(() => void execFileSync('umount', ['-l', data]));
    execFileSync('mount', ['-o', 'remount,ro,bind', data], { stdio: 'ignore' });
  } catch {
    return context.skip('nothing can be mounted here');
  }
  const history = await s.run(['history', '--format', 'json']);
  expect([history.status, history.stderr]).toEqual([0, '']);
  expect(history.stdout).toContain(id);
  expect((await s.run(['show', id])).stdout).toContain('Converged');
  const backup = await s.run(['backup', join(s.folder, 'copy.db')]);
  expect([backup.status, backup.stderr]).toEqual([0, '']);
  const pause = await s.run(['pause', 'acme']);
  expect([pause.status, pause.stderr]).toEqual([1, expect.stringContaining('cannot be written')]);
});
