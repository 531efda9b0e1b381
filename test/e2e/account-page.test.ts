// What the page and the JSON of an account report while it is paused, holds changes, plans only, or works on a plan.
import { expect, test } from 'vitest';
import { type Daemon, HTTP_TOKEN, ONCE_A_YEAR, startDaemon, WITH_TOKEN } from '../support/daemon.ts';
import { scene } from '../support/scene.ts';

interface AccountJson {
  readonly paused: boolean;
  readonly activity: string;
  readonly nextRunAt: string | null;
  readonly pending: { readonly digest: string } | null;
  readonly lastRun: {
    readonly id: string;
    readonly status: string;
    readonly created: number;
    readonly kept: number;
  };
}

const account = async (daemon: Daemon): Promise<AccountJson> =>
  (await daemon.api<AccountJson>('accounts/acme')).body;

async function page(daemon: Daemon, path = '/accounts/acme'): Promise<string> {
  const headers = { authorization: `Bearer ${HTTP_TOKEN}`, accept: 'text/html' };
  return await (await fetch(daemon.url + path, { headers })).text();
}

function service(mode: string): string {
  return [`defaults: { mode: ${mode}, schedule: ${ONCE_A_YEAR}, jitter: 0s }`, WITH_TOKEN].join('\n');
}

test('an account in plan mode shows what its plan would do, and no next run while it is paused', async () => {
  const s = await scene({ skills: ['Perl'], file: 'skills: [Zig]', service: service('plan') });
  const daemon = await startDaemon(s);
  await s.until('it has planned', () => daemon.runsEnded('acme', 'planned') > 0);
  const shown = await page(daemon);
  for (const text of ['Remaining changes', 'To create (1)', 'Zig', 'Perl', 'Next run']) {
    expect(shown).toContain(text);
  }
  expect((await account(daemon)).nextRunAt).not.toBeNull();
  await daemon.api('accounts/acme/pause', {});
  expect(await account(daemon)).toMatchObject({ paused: true, nextRunAt: null });
  expect(await page(daemon)).not.toContain('Next run');
  expect(await page(daemon, '/')).toContain('<span class="quiet">none</span>');
  await daemon.api('accounts/acme/resume', {});
  expect((await account(daemon)).nextRunAt).not.toBeNull();
  await daemon.stop();
});

test('the page of an account with held changes lists them with their reasons and how to release them', async () => {
  const s = await scene({
    skills: ['Perl', 'Go'],
    resources: [{ skills: ['Perl'] }],
    file: 'skills: [Go]',
    service: service('apply'),
  });
  const daemon = await startDaemon(s);
  await s.until('it is held', () => daemon.runsEnded('acme', 'held') > 0);
  const shown = await page(daemon);
  for (const text of ['Remaining changes', 'Held (1)', 'Perl', 'approvedDeletes'])
    expect(shown).toContain(text);
  s.configure('skills: [Go, Perl]');
  await daemon.api('accounts/acme/sync', {});
  await s.until('nothing is held', () => daemon.runsEnded('acme', 'converged') > 0);
  expect(await page(daemon)).not.toContain('Remaining changes');
  await daemon.stop();
});

test('an approved plan that runs is not shown as waiting for approval, and its totals grow', async () => {
  const names = ['A', 'B', 'C', 'D', 'E', 'F', 'G', 'H'];
  const s = await scene({
    skills: ['Go'],
    file: `skills: [Go, ${names.join(', ')}]`,
    api: { concurrency: 1, timeout: '2s', settle: '3s' },
    service: service('approve'),
  });
  const daemon = await startDaemon(s);
  await s.until('a plan waits', () => daemon.runsEnded('acme', 'planned') > 0);
  const digest = (await account(daemon)).pending?.digest;
  expect(await page(daemon)).toContain('waits for approval');
  s.sandbox.setSettings({ latencyMs: 250 });
  expect((await daemon.api('accounts/acme/approve', { digest })).status).toBe(200);
  expect(await page(daemon)).not.toContain('waits for approval');
  let now = await account(daemon);
  await s.until('some of the plan is done', async () => {
    now = await account(daemon);
    return now.lastRun.status !== 'running' ? false : now.lastRun.created > 2;
  });
  expect(now).toMatchObject({ activity: 'running', pending: null, lastRun: { status: 'running', kept: 1 } });
  expect(now.lastRun.created).toBeLessThan(names.length);
  const [accountPage, listPage, runPage] = await Promise.all(
    ['/accounts/acme', '/', `/runs/${now.lastRun.id}`].map((path) => page(daemon, path)),
  );
  expect(accountPage).not.toContain('waits for approval');
  for (const shown of [accountPage, listPage]) expect(shown).not.toMatch(/badge[^>]*>waiting for approval/);
  for (const shown of [accountPage, runPage]) {
    expect(shown).toMatch(/<strong>[2-8] of 8 operations done/);
    expect(shown).toContain(`data-progress="/runs/${now.lastRun.id}/progress"`);
    expect(shown).not.toMatch(/0 deleted|0 failed/);
  }
  expect(runPage).not.toContain('Requests');
  const { body } = await daemon.api<{ readonly runs: readonly { readonly created: number }[] }>(
    'runs?status=running',
  );
  expect(body.runs[0]?.created).toBeGreaterThan(2);
  await s.until('it is done', () => daemon.runsEnded('acme', 'converged') > 0);
  const later = await page(daemon);
  for (const text of ['approved a plan', 'The account matched its file', 'to create <strong>8</strong>']) {
    expect(later).toContain(text);
  }
  await daemon.stop();
});
