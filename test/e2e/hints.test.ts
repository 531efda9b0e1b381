// The commands that messages and reports suggest work as printed.
import { expect, test } from 'vitest';
import type { RunRecord } from '../../src/core/schemas.ts';
import { arrayOf, type Scene, scene } from '../support/scene.ts';
import { makeWorkspace } from '../support/workspace.ts';

test('the error about a missing configuration suggests init', async () => {
  const workspace = makeWorkspace('unused');
  const { status, stderr } = await workspace.run(['plan'], { withoutConfig: true });
  expect(status).toBe(4);
  expect(stderr).toContain('run `rolecall init` to write one');
});

test('a mistyped command is refused with the command that was probably intended', async () => {
  const workspace = makeWorkspace('unused');
  const { status, stderr } = await workspace.run(['plann'], { withoutConfig: true });
  expect(status).toBe(64);
  expect(stderr).toContain('Did you mean plan?');
  for (const args of [
    ['plann', '--help'],
    ['help', 'plann'],
  ])
    expect(await workspace.run(args, { withoutConfig: true })).toMatchObject({ status: 64, stdout: '' });
  expect((await workspace.run(['--help', 'plan'], { withoutConfig: true })).status).toBe(0);
});

async function runsOf(s: Scene): Promise<readonly RunRecord[]> {
  return arrayOf<RunRecord>(await s.run(['history', '--format', 'json']));
}

test('show accepts `last`, an id and an unambiguous prefix, and refuses an ambiguous one', async () => {
  const s = await scene({ file: 'skills: [A]' });
  expect((await s.run(['show', 'last'])).status).toBe(1);
  for (let run = 0; run < 3; run += 1) await s.run(['plan']);
  const runs = await runsOf(s);
  const [newest] = runs;
  const shown = async (id: string): Promise<string> =>
    (JSON.parse((await s.run(['show', id, '--format', 'json'])).stdout) as RunRecord).id;
  expect(await shown('last')).toBe(newest?.id);
  expect(await shown(newest?.id ?? '')).toBe(newest?.id);
  expect(await shown((newest?.id ?? '').toUpperCase())).toBe(newest?.id);
  expect(await shown((newest?.id ?? '').slice(0, 30))).toBe(newest?.id);
  const ambiguous = await s.run(['show', (newest?.id ?? '').slice(0, 3)]);
  expect([ambiguous.status, ambiguous.stdout]).toEqual([1, '']);
  expect(ambiguous.stderr).toContain('several runs have an id that begins with');
  const unknown = await s.run(['show', 'ffff']);
  expect([unknown.status, unknown.stdout]).toEqual([1, '']);
  expect(unknown.stderr).toContain('no run has an id that begins with "ffff"');
});
