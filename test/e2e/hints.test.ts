// The commands that messages and reports suggest work as printed.
import { expect, test } from 'vitest';
import type { RunRecord } from '../../src/core/journal.ts';
import { arrayOf, type Scene, scene } from '../support/scene.ts';
import { makeWorkspace } from '../support/workspace.ts';

/** The commands in a text, split into words as a shell would split them. */
function commandsIn(text: string): string[][] {
  const found = [...text.matchAll(/(?:^ *(?:Next:)? *|`)(rolecall .*?)(?:`| {2}#|$)/gm)].map(
    ([, command = '']) => command,
  );
  return found.map((command) => command.split(' ').slice(1));
}

test('suggested commands repeat the given --config and work as printed', async () => {
  const s = await scene({ skills: ['Old'], file: 'skills: [1.0]' });
  const file = `${s.folder}/config/rolecall.yaml`;
  const outputs = await Promise.all(
    [['plan'], ['apply', '--yes'], ['plan', '--format', 'markdown'], ['show', 'abcd']].map((args) =>
      s.run(args),
    ),
  );
  await s.run(['plan']);
  const text = [...outputs, await s.run(['show', 'abcd'])]
    .map(({ stdout, stderr }) => stdout + stderr)
    .join('\n');
  const commands = commandsIn(text);
  expect(commands.length).toBeGreaterThan(2);
  for (const words of commands) {
    expect(words.slice(0, 2)).toEqual(['--config', file]);
    expect((await s.run(words, { withoutConfig: true })).status).not.toBe(64);
  }
});

test('a --config with a space is quoted where it is repeated', async () => {
  const s = await scene({ file: 'skills: [1.0]' });
  s.write("my 'own'/rolecall.yaml", 'accounts: ../config/accounts/*.yaml\nstore: r.db\n');
  const { stdout } = await s.run(['--config', "my 'own'/rolecall.yaml", 'plan'], { withoutConfig: true });
  expect(stdout).toContain(String.raw`rolecall --config 'my '\''own'\''/rolecall.yaml' validate`);
});

test('the error about a missing configuration suggests init, in the same place', async () => {
  const workspace = makeWorkspace('unused');
  const { status, stderr } = await workspace.run(['plan'], { withoutConfig: true });
  expect(status).toBe(4);
  expect(stderr).toContain('run `rolecall init` to write one');
  expect((await workspace.run(['plan'])).stderr).toContain(
    `\`rolecall --config ${workspace.folder}/config/rolecall.yaml init\``,
  );
});

test('a mistyped command is refused with the command that was probably intended', async () => {
  const workspace = makeWorkspace('unused');
  for (const args of [['plann']]) {
    const { status, stderr } = await workspace.run(args, { withoutConfig: true });
    expect([args, status]).toEqual([args, 64]);
    expect(stderr).toContain('Did you mean plan?');
  }
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

test('a failure as JSON suggests commands with the given --config', async () => {
  const s = makeWorkspace('token');
  const { stdout } = await s.run(['--config', 'missing.yaml', 'plan', '--format', 'json'], {
    withoutConfig: true,
  });
  expect(commandsIn(stdout)).toEqual([['--config', 'missing.yaml', 'init']]);
});
