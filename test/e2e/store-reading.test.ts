// A store on a read-only medium: every command says why it cannot use it.
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { scene } from '../support/scene.ts';

test('commands report why they cannot use a store on a read-only medium', async (context) => {
  const s = await scene({ file: 'skills: [Go]' });
  await s.apply();
  const data = join(s.folder, 'data');
  try {
    execFileSync('mount', ['--bind', data, data], { stdio: 'ignore' });
    onTestFinished(() => void execFileSync('umount', ['-l', data]));
    execFileSync('mount', ['-o', 'remount,ro,bind', data], { stdio: 'ignore' });
  } catch {
    return context.skip('nothing can be mounted here');
  }
  for (const args of [['history'], ['pause', 'acme'], ['backup', join(s.folder, 'copy.db')]]) {
    const { status, stderr } = await s.run(args);
    expect([status, stderr]).toEqual([1, expect.stringContaining('cannot be written')]);
  }
});
