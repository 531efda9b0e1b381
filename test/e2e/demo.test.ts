// The demo, as somebody sees it who tries rolecall for the first time.
import { existsSync } from 'node:fs';
import { expect, test } from 'vitest';
import { makeWorkspace, until } from '../support/workspace.ts';

const MOST_LINES = 60;

test('the demo reports what happened, shows three steps of at most 60 lines, and ends with three commands', async () => {
  const w = makeWorkspace('unused');
  const { status, stdout } = await w.run(['demo']);
  expect(status).toBe(0);
  const [story = '', ...steps] = stdout.split('\n━━ ');
  expect(story).toContain('3 people in Lisbon still have “IBM Lotus 1-2-3”');
  expect(steps.map((step) => step.split('\n')[1])).toEqual([
    '$ rolecall plan acme',
    '$ rolecall apply acme --yes',
    '$ rolecall apply acme --yes',
  ]);
  for (const step of steps) expect(step.split('\n').length).toBeLessThanOrEqual(MOST_LINES);
  expect(steps[0]).toContain('ana.lisbon');
  const end = stdout.split('Try next:\n')[1] ?? '';
  expect(end.match(/^ {2}node .*(history|show last|demo --serve)$/gm)).toHaveLength(3);
});

test('demo --serve runs the daemon on the account until it is interrupted, and exits 0', async () => {
  const w = makeWorkspace('unused');
  const running = w.start(['demo', '--serve']);
  await until('the address is printed', () => running.output().stdout.includes('Try next'), 60_000);
  const { stdout } = running.output();
  const url = /pages are at (http:\/\/127\.0\.0\.1:\d+)/.exec(stdout)?.[1] ?? '';
  const config = /--config (\S+) history/.exec(stdout)?.[1] ?? '';
  const { accounts } = (await (await fetch(`${url}/api/v1/accounts`)).json()) as {
    accounts: { name: string; mode: string }[];
  };
  expect(accounts.map(({ name, mode }) => [name, mode])).toEqual([['acme', 'apply']]);
  expect((await fetch(url)).status).toBe(200);
  // The commands work in another terminal, without a token in the environment.
  const planned = await w.run(['--config', config, 'plan', 'acme', '--detailed-exitcode']);
  expect([planned.status, existsSync(config)]).toEqual([3, true]);
  running.process.kill('SIGINT');
  expect((await running.ended).status).toBe(0);
}, 120_000);
