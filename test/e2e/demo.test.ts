// The demo, as somebody sees it who tries rolecall for the first time.
import { existsSync } from 'node:fs';
import { expect, test } from 'vitest';
import { planOfAcme, README_PLAN } from '../support/root-readme.ts';
import { makeWorkspace, until } from '../support/workspace.ts';

const MOST_LINES = 60;

test('the demo shows three steps of at most 60 lines, the first with the plan of the README, and what to try next', async () => {
  const w = makeWorkspace('unused');
  const { status, stdout } = await w.run(['demo']);
  expect(status).toBe(0);
  const [story = '', ...steps] = stdout.split('\n━━ ');
  expect(story).toContain('renames “K8s” to “Kubernetes”');
  expect(steps.map((step) => step.split('\n')[1])).toEqual([
    '$ rolecall plan acme --save plan.json',
    '$ rolecall apply --plan plan.json',
    '$ rolecall plan acme',
  ]);
  for (const step of steps) expect(step.split('\n').length).toBeLessThanOrEqual(MOST_LINES);
  expect(planOfAcme(steps[0] ?? '')).toBe(README_PLAN);
  expect(steps[1]).not.toContain('Plan digest');
  expect(stdout).toContain(
    'Merging or applying this writes nothing; 2 changes are held (2 people have them).',
  );
  const end = stdout.split('Try next:\n')[1] ?? '';
  expect(end.match(/^ {2}rolecall (demo --serve|init --sandbox) /gm)).toHaveLength(2);
});

test('demo --serve prints a link that signs in once, where its plan can be approved, and removes its files', async () => {
  const w = makeWorkspace('unused');
  const running = w.start(['demo', '--serve']);
  await until('the link is printed', () => running.output().stdout.includes('Press Ctrl-C'));
  const { stdout } = running.output();
  const link = /signed in \(once\): (\S+)/.exec(stdout)?.[1] ?? '';
  const config = /--config (\S+) history/.exec(stdout)?.[1] ?? '';
  const visit = (url: string) => fetch(url, { redirect: 'manual' });
  const wrong = await visit(new URL('/favicon.ico', link).href);
  const first = await visit(link);
  const again = await visit(link);
  expect([wrong, first, again].map(({ headers }) => headers.getSetCookie().length)).toEqual([0, 1, 0]);
  const page = first.headers.get('location') ?? '';
  expect(new URL(page).pathname).toBe('/accounts/acme');
  const cookie = first.headers.getSetCookie()[0]?.split(';')[0] ?? '';
  const api = page.replace('/accounts/', '/api/v1/accounts/');
  const headers = { cookie, 'sec-fetch-site': 'same-origin', 'content-type': 'application/json' };
  const account = async () => (await (await fetch(api, { headers })).json()) as AccountJson;
  await until('the plan waits', async () => (await account()).pending !== null);
  // The commands work in another terminal, without a token in the environment.
  const planned = await w.run(['--config', config, 'plan', 'acme']);
  expect(planned.stdout).toContain('acme: 1 to create, 1 to delete (nobody has it), 2 held');
  const body = JSON.stringify({ digest: (await account()).pending?.digest });
  expect((await fetch(`${api}/approve`, { method: 'POST', headers, body })).status).toBe(200);
  await until('the plan is applied', async () => (await account()).pending === null);
  expect((await fetch(page, { headers: { accept: 'text/html' } })).status).toBe(401);
  running.process.kill('SIGINT');
  expect((await running.ended).status).toBe(0);
  expect(existsSync(config)).toBe(false);
});

interface AccountJson {
  readonly pending: { readonly digest: string } | null;
}
