// A command that runs in the process of a test does the same as a separate process, and leaves nothing behind.
import { expect, test } from 'vitest';
import { scene } from '../../support/scene.ts';
import { someOf } from '../../support/thorough.ts';

/** Times, addresses and ids differ from run to run. */
function withoutNumbers(text: string): string {
  return text.replaceAll(/[0-9a-f]+(?:-[0-9a-f]+)+|[0-9a-f]{7,}|\d+/g, '#');
}

const CALLS: readonly (readonly [readonly string[]])[] = [
  [['validate', '--format', 'json']],
  [['plan', '--detailed-exitcode']],
  [['plan', 'nobody', '--format', 'json']],
  [['apply']],
  [['nonsense']],
  [['backup', 'copy.db']],
  [['validate']],
  [['plan', '--format', 'markdown']],
  [['usage']],
  [['doctor']],
  [['dump', 'acme']],
  [['show', 'no-run', '--format', 'json']],
  [['history', '--status', 'held']],
  [['approve', 'acme']],
  [['resume', 'acme']],
  [['--help']],
];

test.each(someOf(CALLS, 6))(
  '%j has the same output and status in the process of a test as in a separate process',
  async (args) => {
    const s = await scene({
      skills: ['Perl', 'Used'],
      resources: [{ skills: ['Used'] }],
      file: 'skills: [Go]',
    });
    await s.run(['plan']);
    const [own, here] = [await s.run(args, { asProcess: true }), await s.run(args)];
    for (const stream of ['stdout', 'stderr'] as const)
      expect(withoutNumbers(here[stream])).toBe(withoutNumbers(own[stream]));
    expect(here.status).toBe(own.status);
  },
);

test('a command in the process of a test does not change its environment, folder, streams and listeners', async () => {
  const s = await scene({ file: 'skills: [Go]' });
  const state = () => ({
    argv: process.argv,
    env: { ...process.env },
    folder: process.cwd(),
    status: process.exitCode,
    stdout: process.stdout,
    stderr: process.stderr,
    listeners: ['exit', 'SIGINT', 'SIGTERM'].map((event) => process.listenerCount(event)),
  });
  const before = state();
  for (const args of [['plan'], ['apply', '--yes'], ['nonsense']]) await s.run(args);
  expect(state()).toEqual(before);
});

test('commands in the process of a test do not share what --config or a report has set', async () => {
  const s = await scene({ file: 'skills: [Go]' });
  await s.run(['plan']);
  expect((await s.run(['pause', 'acme'])).stdout).toContain('`rolecall --config ');
  expect((await s.run(['pause', 'acme'], { withoutConfig: true })).stdout).toContain(
    '`rolecall resume acme`',
  );
  const wrong = await s.run(['plan', 'nobody', '--format', 'json']);
  expect(JSON.parse(wrong.stdout)).toMatchObject([{ status: 'failed', error: { code: 'usage' } }]);
});

test('two commands in the process of a test run one after the other', async () => {
  const s = await scene({ file: 'skills: [Go]' });
  const [first, second] = await Promise.all([s.run(['apply', '--yes']), s.run(['history'])]);
  expect(first.stdout).not.toBe('');
  expect(second.stdout).toContain('converged');
});
