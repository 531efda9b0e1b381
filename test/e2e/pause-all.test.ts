// `pause --all`: what it stops in commands and in a daemon, what shows it, and what ends it.
import { hostname, userInfo } from 'node:os';
import { describe, expect, test } from 'vitest';
import { EVERY_SECOND, HTTP_TOKEN, startDaemon, WITH_TOKEN } from '../support/daemon.ts';
import { arrayOf, plansOf, type RunJson, type Scene, scene, tokenVariable } from '../support/scene.ts';
import { costly } from '../support/thorough.ts';

const ME = `${userInfo().username}@${hostname()}`;
const MANY = Array.from({ length: 80 }, (_, index) => `Skill ${index}`);
const WHY = ['--reason', 'migration of the region'];

async function pauseAll(s: Scene, ...args: string[]): Promise<string> {
  const { status, stdout } = await s.run(['pause', '--all', ...WHY, ...args]);
  expect(status).toBe(0);
  return stdout;
}

describe('an apply of 80 creates', () => {
  test('sends nothing more when a pause of all accounts is committed, and continues afterwards', async () => {
    const s = await scene({
      skills: ['Old'],
      file: `skills: [${MANY.join(', ')}]`,
      settings: { latencyMs: 50 },
      api: { requestsPerSecond: 40 },
    });
    await s.plan();
    const apply = s.start(['apply', '--yes']);
    await s.until('some entries are created', () => s.writes().length > 10);
    await pauseAll(s);
    // What was committed as sent before the pause may still be on its way.
    const inFlight = "select 1 from operations where status = 'sent'";
    await s.until('it has arrived', () => s.rows(inFlight).length === 0);
    const sent = s.writes().length;
    const { status, stdout } = await apply.ended;
    expect([status, s.writes().length]).toEqual([3, sent]);
    expect(stdout).toContain(`All accounts are paused since`);
    expect(stdout).toContain(`by ${ME}: “migration of the region”`);
    expect(stdout).toContain('interrupted (paused)');
    const counts = s.rows('select status, count(*) as n from operations group by status order by status');
    expect(counts).toEqual([
      { status: 'done', n: sent },
      { status: 'skipped', n: 81 - sent },
    ]);
    const again = await s.run(['apply', '--yes']);
    expect([again.status, s.writes().length]).toEqual([3, sent]);
    expect((await s.run(['resume', '--all'])).stdout).toBe('ended the pause of all accounts\n');
    expect((await s.apply()).run).toMatchObject({ status: 'converged', created: 80 - sent, deleted: 1 });
    expect([new Set(s.writes()).size, s.writes().length]).toEqual([81, 81]);
  });
});

describe('during a pause of all accounts', () => {
  const file = 'skills: [Go, Zig]';

  test('apply shows the plan and refuses it, whatever its options are, and writes with --accept pause', async () => {
    const s = await scene({ skills: ['Go'], file });
    await s.run(['plan', '--save', 'plan.json']);
    expect(await pauseAll(s, '--for', '2h')).toMatch(
      /^All accounts are paused since \S+ \S+ UTC until \S+ \S+ UTC by \S+: “migration of the region”\. Run `rolecall resume --all`/u,
    );
    for (const args of [
      ['--yes'],
      [],
      ['--plan', 'plan.json'],
      ['--yes', '--no-delete'],
      ['--yes', '--allow-held'],
    ]) {
      const { status, stdout, stderr } = await s.run(['apply', ...args]);
      expect([args, status]).toEqual([args, 3]);
      expect(stdout).toMatch(/^All accounts are paused since [^]*\+ skill {2}Zig/u);
      expect(stderr).toMatch(/“migration of the region”\. Run .*--accept pause.*Nothing was written\.$/mu);
    }
    const json = await s.run(['apply', '--yes', '--format', 'json']);
    expect([json.status, arrayOf<RunJson>(json)]).toMatchObject([3, [{ status: 'planned' }]]);
    expect(s.writes()).toEqual([]);
    const repaired = await s.run(['apply', '--yes', '--accept', 'pause']);
    expect([repaired.status, s.writes()]).toEqual([0, ['POST Zig']]);
    expect(repaired.stdout).toContain('All accounts are paused since');
  });

  test('plans and statuses begin with who paused them, why and until when', async () => {
    const s = await scene({ skills: ['Go'], file });
    await pauseAll(s);
    for (const format of ['text', 'markdown', 'html'] as const) {
      for (const command of ['plan', 'status']) {
        const { status, stdout } = await s.run([command, '--format', format]);
        expect([status, stdout]).toEqual([0, expect.stringContaining('“migration of the region”')]);
      }
    }
    const [status] = arrayOf<{ allPaused: string }>(await s.run(['status', '--format', 'json']));
    expect(status?.allPaused).toContain(`by ${ME}`);
    expect(plansOf(await s.run(['plan', '--format', 'json'])).get('acme')).toMatchObject({
      status: 'planned',
    });
    expect((await s.run(['sync', 'acme'])).stderr).toContain('All accounts are paused');
    const actions = await s.run(['history', '--actions']);
    expect(actions.stdout).toMatch(/all accounts\s+\S+\s+CLI\s+paused\s+migration of the region/u);
  });

  test('of deletes, apply creates and keeps the deletes', async () => {
    const s = await scene({ skills: ['Go', 'Perl'], file });
    await s.run(['plan']);
    await pauseAll(s, '--deletes');
    const { status, stdout } = await s.run(['apply', '--yes']);
    expect([status, s.writes()]).toEqual([3, ['POST Zig']]);
    expect(stdout).toContain('The deletes of all accounts are paused since');
    expect(stdout).toContain('planned (paused)');
    expect((await s.run(['apply', '--yes', '--accept', 'pause'])).status).toBe(0);
    expect(s.writes()).toEqual(['POST Zig', 'DELETE Perl']);
  });

  test('a pause of all needs a reason, and its options need --all', async () => {
    const s = await scene({ file });
    for (const [args, why] of [
      [['--all'], '--all needs --reason'],
      [['--all', '--reason', ' '], '--all needs --reason'],
      [['--all', 'acme', ...WHY], 'cannot be used together'],
      [['acme', '--for', '2h'], '--deletes and --for need --all'],
      [['acme', '--deletes'], '--deletes and --for need --all'],
      [['--all', '--for', '0s', ...WHY], 'more than 0'],
      [[], 'name accounts, or use --all'],
    ] as const) {
      const { status, stderr } = await s.run(['pause', ...args]);
      expect([args, status, stderr]).toEqual([args, 64, expect.stringContaining(why)]);
    }
    expect((await s.run(['resume', '--all', 'acme'])).status).toBe(64);
    expect((await s.run(['resume', '--all'])).stdout).toContain('nothing was changed');
    expect(s.rows('select * from operator_actions')).toEqual([]);
  });
});

costly(
  'a daemon plans and writes nothing during a pause of all, also in accounts that are added meanwhile',
  async () => {
    const other = {
      name: 'late',
      id: '43',
      token: 'token-of-late',
      skills: ['Go'],
      resources: [{ id: 'p' }],
    };
    const s = await scene({
      skills: ['Go'],
      file: 'skills: [Go]',
      others: [other],
      service: [`defaults: { mode: apply, schedule: ${EVERY_SECOND} }`, WITH_TOKEN].join('\n'),
    });
    const daemon = await startDaemon(s, { env: { [tokenVariable('late')]: 'token-of-late' } });
    const paused = async () => (await daemon.metrics()).get('rolecall_paused{account="*"}');
    await s.until('the account matches its file', () => daemon.runsEnded('acme', 'converged') > 0);
    await pauseAll(s);
    await daemon.edit(() => {
      s.configure('skills: [Go, Zig]');
      s.configure('skills: [Go, Nim]', 'late');
    });
    await s.until('both were planned', () =>
      ['acme', 'late'].every((account) => daemon.runsEnded(account, 'planned') > 1),
    );
    await s.until('the metric shows it', async () => (await paused()) === 1);
    await expect
      .poll(() => daemon.events('run_ended', 'late').at(-1))
      .toMatchObject({ status: 'planned', code: 'paused' });
    await expect
      .poll(() => daemon.events('operator_action'))
      .toMatchObject([{ action: 'pause', account: '*', by: ME }]);
    expect((await daemon.api('accounts/late/sync', {})).status).toBe(202);
    await s.until('the requested run has ended', () =>
      daemon.events('run_ended', 'late').some(({ trigger }) => trigger === 'manual'),
    );
    const page = await fetch(`${daemon.url}/accounts/late`, {
      headers: { authorization: `Bearer ${HTTP_TOKEN}`, accept: 'text/html' },
    });
    expect(await page.text()).toContain('“migration of the region”');
    const asked = await s.run(['plan', 'acme', '--server', daemon.url], {
      env: { ROLECALL_HTTP_TOKEN: HTTP_TOKEN },
    });
    expect(asked.stdout).toMatch(/^All accounts are paused since .*: “migration of the region”/u);
    expect(s.writes()).toEqual([]);

    // In place of the pause without an end.
    await pauseAll(s, '--for', '3s');
    await s.until('the pause has ended by itself', () => s.writes().length === 2);
    await s.until('the metric shows it', async () => (await paused()) === 0);
    expect(s.writes().toSorted()).toEqual(['POST Nim', 'POST Zig']);
    await daemon.stop();
  },
);
