// A store on a read-only medium: commands that only look read it, and those that write report why they cannot.
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { scene } from '../support/scene.ts';
import { mountReadOnly } from '../support/small-disk.ts';

test('commands read a store on a read-only medium, report once that they record nothing, and refuse to write it', async (context) => {
  const s = await scene({ skills: ['Go', 'Perl'], file: 'skills: [Go, Perl]' });
  await s.apply();
  const [run] = s.rows<{ id: string }>('select id from runs');
  if (!mountReadOnly(join(s.folder, 'data'))) return context.skip('nothing can be mounted here');
  s.configure('skills: [Go]');
  const line = `${join(s.folder, 'data/rolecall.db')} cannot be written, so nothing is recorded\n`;
  for (const [args, text] of [
    [['plan'], 'skill  Perl'],
    [['status'], 'converged'],
    [['history'], run?.id],
    [['show', 'last'], 'acme: converged'],
    [['history', '--lists'], run?.id],
    [['diff', 'last', 'now'], 'Nothing changed'],
    [['who', 'Go'], 'nobody has the skill Go'],
    [['who', '--live'], '2 unused'],
    [['restore', 'last'], 'deleted nothing'],
  ] as const) {
    const { status, stdout, stderr } = await s.run(args, { asProcess: args[0] === 'diff' });
    expect([status, stdout], args.join(' ')).toEqual([0, expect.stringContaining(text ?? 'a run')]);
    if (args[0] === 'plan' || args[0] === 'diff') expect(stderr).toBe(line);
  }
  for (const args of [
    ['pause', 'acme'],
    ['apply', '--yes'],
    ['backup', join(s.folder, 'copy.db')],
  ]) {
    const { status, stderr } = await s.run(args);
    expect([status, stderr]).toEqual([1, expect.stringContaining('the store cannot be written; check')]);
  }
});
