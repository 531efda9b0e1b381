// Shell completion: the scripts, and what they offer for commands, and accounts.
import { spawnSync } from 'node:child_process';
import { expect, test } from 'vitest';
import { type Scene, scene } from '../support/scene.ts';
import { costly } from '../support/thorough.ts';
import { makeWorkspace } from '../support/workspace.ts';

/** The offered values with their descriptions; the last line of the output is for the script. */
async function offered(s: Pick<Scene, 'run'>, ...words: string[]): Promise<Record<string, string>> {
  const { status, stdout, stderr } = await s.run(['complete', '--', ...words], { withoutConfig: true });
  expect([status, stderr]).toEqual([0, '']);
  const rows = stdout.trim().split('\n').slice(0, -1);
  return Object.fromEntries(rows.map((row) => row.split('\t')) as [string, string][]);
}

test('completion supports bash, zsh and fish, and refuses other shells', async () => {
  const workspace = makeWorkspace('unused');
  for (const shell of ['tcsh', 'powershell']) {
    const { status, stdout, stderr } = await workspace.run(['completion', shell], { withoutConfig: true });
    expect([status, stdout]).toEqual([64, '']);
    expect(stderr).toContain('Allowed choices are bash, zsh, fish.');
  }
  expect((await workspace.run(['completion', '--help'], { withoutConfig: true })).stdout).not.toContain(
    'powershell',
  );
  expect(Object.keys(await offered(workspace, 'completion', ''))).toEqual(['bash', 'zsh', 'fish']);
});

test('completion offers the commands with their descriptions, without the hidden one', async () => {
  const commands = await offered(makeWorkspace('unused'), '');
  expect(commands).toMatchObject({ plan: expect.stringContaining('dry run'), init: expect.anything() });
  expect(commands).not.toHaveProperty('complete');
});

test('completion offers accounts of the configuration', async () => {
  const s = await scene({ skills: ['A'], file: 'skills: [A]' });
  s.configure('mode: apply\nskills: [1.0]', 'broken');
  for (const command of ['plan', 'history'])
    expect([command, await offered(s, command, '')]).toEqual([
      command,
      { acme: 'mode plan', broken: 'its file is not valid' },
    ]);
  expect(await offered(s, 'plan', 'acme', 'b')).toHaveProperty('broken');
});

test('completion reads the --config of the completed line, and is silent when nothing can be read', async () => {
  const s = await scene({ file: 'skills: [A]' });
  const elsewhere = await scene({ file: 'skills: [A]' });
  elsewhere.configure('skills: [B]', 'far');
  const file = `${elsewhere.folder}/config/rolecall.yaml`;
  expect(await offered(s, '--config', file, 'plan', 'f')).toHaveProperty('far');
  expect(await offered(s, '--config', 'nowhere.yaml', 'plan', '')).toEqual({});
  s.write('config/rolecall.yaml', ': : :');
  expect(await offered(s, 'plan', '')).toEqual({});
});

costly('the script for bash works without the package bash-completion', async () => {
  const workspace = makeWorkspace('unused');
  const { stdout } = await workspace.run(['completion', 'bash']);
  const script = `${stdout}
    rolecall() { echo "$*" > words; echo :4; }
    compopt() { :; }
    COMP_WORDS=(rolecall plan sh); COMP_CWORD=2
    __rolecall_complete; cat words`;
  const shell = spawnSync('bash', ['--norc', '--noprofile', '-c', script], { cwd: workspace.folder });
  expect([shell.stderr.toString(), shell.stdout.toString()]).toEqual(['', 'complete -- plan sh\n']);
});
