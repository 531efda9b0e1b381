// The question of `apply`: what is shown before it, where, and what each answer does.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { arrayOf, type RunJson, type Scene, scene, TOKEN, tokenVariable } from '../support/scene.ts';
import { hasTerminal, onTerminal, type TerminalOptions } from '../support/terminal.ts';
import { isThorough, someOf } from '../support/thorough.ts';

// eslint-disable-next-line no-control-regex
const ESCAPES = /\u001B\[[0-9;?]*[A-Za-z]/g;
const PEOPLE = [{ id: 'p1', skills: ['Old'] }];

/**
 * An account whose plan has one create and one delete of an entry that one person has. The dry run stores the history.
 */
async function drifted(options: Parameters<typeof scene>[0] = {}): Promise<Scene> {
  const s = await scene({
    skills: ['Old'],
    resources: PEOPLE,
    file: 'skills: [New]\npolicy: { delete: always, maxDeletePercent: 100 }',
    ...options,
  });
  await s.run(['plan']);
  return s;
}

async function ask(s: Scene, args: readonly string[], options: TerminalOptions) {
  const env = { [tokenVariable('acme')]: TOKEN };
  const { status, output } = await onTerminal(s.folder, ['apply', ...args], { env, ...options });
  return { status, output: output.replaceAll(ESCAPES, '').replaceAll('\r', '') };
}

const report = (s: Scene, file: string): string => readFileSync(join(s.folder, file), 'utf8');

const REFUSALS: readonly (readonly [what: string, typed: TerminalOptions, status: number])[] = [
  ['another word', { answer: 'yes please' }, 2],
  ['Ctrl-C', { keys: '\u0003' }, 130],
  ['an empty line', { answer: '' }, 2],
  ['the end of the input', { keys: '\u0004' }, 2],
];

test.skipIf(!hasTerminal)('no answer but “yes” to the apply question applies anything', async () => {
  const s = await drifted();
  for (const [what, typed, status] of someOf(REFUSALS, 2)) {
    const asked = await ask(s, [], typed);
    expect([what, asked.status, s.writes()]).toEqual([what, status, []]);
    if (what !== 'the end of the input') expect(asked.output).toContain('Nothing was written.');
  }
});

test.skipIf(!hasTerminal)(
  'the answer “no” to the apply question exits 1 when an account could not be planned',
  async () => {
    const s = await drifted();
    s.configure('skills: [New]\ntoken: { env: MISSING }', 'broken');
    s.write(
      'config/accounts/broken.yaml',
      `baseUrl: ${s.sandbox.url}\ntoken: { env: MISSING }\nskills: [A]\n`,
    );
    const { status, output } = await ask(s, ['--all'], { answer: 'no' });
    expect([status, s.writes()]).toEqual([1, []]);
    expect(output).toContain('Apply to acme: 1 to create, 1 to delete');
  },
);

const ELSEWHERE: readonly (readonly [string, readonly string[], TerminalOptions])[] = [
  ['a redirected stdout', [], { redirect: '> report' }],
  ['--output and JSON', ['--output', 'report', '--format', 'json'], {}],
  ['--output', ['--output', 'report'], {}],
  ['a redirected stdout and Markdown', ['--format', 'markdown'], { redirect: '> report' }],
];

test.skipIf(!hasTerminal).each(someOf(ELSEWHERE, 1))(
  'with %s the terminal shows the plan above the apply question',
  async (_title, args, options) => {
    const s = await drifted();
    const { status, output } = await ask(s, args, { answer: 'no', ...options });
    expect([status, s.writes()]).toEqual([2, []]);
    const [shown = ''] = output.split('is accepted:');
    for (const part of ['To create', 'New', 'To delete', 'Old', '1 person loses it'])
      expect(shown).toContain(part);
    expect(report(s, 'report')).toContain('New');
  },
);

test.skipIf(!hasTerminal)('the JSON report of apply is a list of runs, whatever the answer is', async () => {
  const s = await drifted();
  await ask(s, ['--format', 'json'], { answer: 'no', redirect: '> report' });
  const refused = JSON.parse(report(s, 'report')) as RunJson[];
  expect(
    refused.map(({ account, mode, status, plan }) => [account, mode, status, plan?.summary.create]),
  ).toEqual([['acme', 'plan', 'planned', 1]]);
  await ask(s, ['--format', 'json'], { answer: 'yes', redirect: '> report' });
  const applied = JSON.parse(report(s, 'report')) as RunJson[];
  expect(applied.map(({ mode, status }) => [mode, status])).toEqual([['apply', 'converged']]);
});

test('without a terminal and without --yes apply shows the plan and refuses', async () => {
  const s = await drifted();
  const text = await s.run(['apply']);
  expect([text.status, s.writes()]).toEqual([64, []]);
  for (const part of ['To create', 'New', 'To delete', 'Old']) expect(text.stdout).toContain(part);
  expect(text.stderr).toContain('--yes');
  const json = await s.run(['apply', '--format', 'json']);
  expect([json.status, arrayOf<RunJson>(json).map(({ status }) => status)]).toEqual([64, ['planned']]);
  const file = await s.run(['apply', '--output', 'report']);
  expect([file.status, file.stdout]).toEqual([64, '']);
  expect(report(s, 'report')).toContain('New');
  expect(s.writes()).toEqual([]);
});

test('without a terminal and without --yes apply does not refuse when nothing is to be applied', async () => {
  const s = await scene({ skills: ['Kept'], file: 'skills: [Kept]' });
  expect([(await s.run(['apply'])).status, s.writes()]).toEqual([0, []]);
});

test.runIf(hasTerminal && isThorough)(
  'apply asks about the deletes that --accept suspicious_list allows',
  async () => {
    const names = Array.from({ length: 40 }, (_, i) => `Skill ${i}`);
    const s = await scene({
      skills: names,
      file: `skills: [${names.join(', ')}]\npolicy: { maxDeletes: 100 }`,
    });
    expect((await s.run(['apply', '--yes'])).status).toBe(0);
    for (const name of names.slice(5)) s.sandbox.removeEntry('acme', s.idOf(name));
    s.configure('skills: [Skill 0]\npolicy: { maxDeletes: 100, maxDeletePercent: 100 }');
    s.sandbox.clearRequests();
    const refused = await ask(s, ['--accept', 'suspicious_list'], { answer: 'no' });
    expect([refused.status, s.writes()]).toEqual([2, []]);
    expect(refused.output).toContain('Apply to acme: 0 to create, 4 to delete');
    // The answer “no” accepted nothing: the lists are still suspicious.
    expect((await s.plan()).plan.status).toBe('blocked');
    const agreed = await ask(s, ['--accept', 'suspicious_list'], { answer: 'yes' });
    expect([agreed.status, s.names().skills]).toEqual([0, ['Skill 0']]);
  },
);

test('a blocked plan, about which apply does not ask, is not applied when the lists are good again', async () => {
  const people = Array.from({ length: 12 }, (_, i) => ({ id: `p${i}`, skills: ['Go'] }));
  const s = await scene({ skills: ['Go'], resources: people, file: 'skills: [Go, New]' });
  await s.run(['plan']);
  // The dry run reads the list twice before it believes it; the run after it reads the complete list.
  s.sandbox.setFaults([
    { match: { path: 'resource' }, times: 2, do: { type: 'partial-list', fraction: 0.1 } },
  ]);
  s.sandbox.clearRequests();
  const { status, stdout } = await s.run(['apply']);
  expect(stdout).toContain('suspicious_list');
  expect(stdout).toContain('plan_stale');
  expect([status, s.writes()]).toEqual([5, []]);
});
