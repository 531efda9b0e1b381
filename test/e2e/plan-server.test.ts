// `plan --server`: an operator's working tree, planned by a daemon with its history and its tokens.
import { cpSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { Plan } from '../../src/core/plan.ts';
import { type Daemon, HTTP_TOKEN, ONCE_A_YEAR, startDaemon, WITH_TOKEN } from '../support/daemon.ts';
import { commitAll, git } from '../support/git.ts';
import { startRecorder } from '../support/recorder.ts';
import {
  arrayOf,
  codes,
  changesOf,
  holds,
  leaves,
  plansOf,
  type RunJson,
  scene,
  type Scene,
  type SceneOptions,
  TOKEN,
  tokenVariable,
} from '../support/scene.ts';
import { costly } from '../support/thorough.ts';
import { makeWorkspace, type Result, type Workspace } from '../support/workspace.ts';

interface Stage {
  /** The daemon's machine. */
  readonly s: Scene;
  readonly daemon: Daemon;
  /** The operator's machine: a copy of the configuration, without tokens of accounts and without a store. */
  readonly client: Workspace;
  /** Writes acme's file on the operator's machine. */
  readonly edit: (lines: string, account?: string) => void;
  /** `plan --server` on the operator's machine. */
  readonly ask: (args?: readonly string[], env?: Readonly<Record<string, string>>) => Promise<Result>;
}

const QUIET = `defaults: { mode: plan, schedule: ${ONCE_A_YEAR} }`;

async function stage(
  options: SceneOptions,
  prepare: (s: Scene) => unknown = () => undefined,
): Promise<Stage> {
  const s = await scene({ ...options, service: [QUIET, WITH_TOKEN, options.service ?? ''].join('\n') });
  await prepare(s);
  const daemon = await startDaemon(s);
  const names = ['acme', ...(options.others ?? []).map(({ name }) => name)];
  await s.until('the first runs have ended', () => names.every((name) => daemon.runsEnded(name) > 0));
  s.sandbox.clearRequests();
  const client = makeWorkspace('not-used');
  cpSync(join(s.folder, 'config'), join(client.folder, 'config'), { recursive: true });
  return {
    s,
    daemon,
    client,
    edit: (lines, account = 'acme') => {
      const head = `baseUrl: ${s.sandbox.url}\ntoken: { env: ${tokenVariable(account)} }`;
      client.write(`config/accounts/${account}.yaml`, `${head}\n${lines}\n`);
    },
    ask: (args = [], env = { ROLECALL_HTTP_TOKEN: HTTP_TOKEN }) =>
      client.run(['plan', '--server', daemon.url, '--format', 'json', ...args], { env }),
  };
}

function onlyPlan(result: Result): Plan {
  const [plan] = arrayOf<Plan>(result);
  if (plan === undefined) throw new Error('there is no plan');
  return plan;
}

/** Every row of every table of the store of the daemon. */
function storeOf(s: Scene): Record<string, unknown[]> {
  const tables = s.rows<{ name: string }>(
    `select name from sqlite_master where type = 'table' order by name`,
  );
  return Object.fromEntries(tables.map(({ name }) => [name, s.rows(`select * from "${name}"`)]));
}

test('plan --server returns the plan that the next run of the daemon makes from the same files and its history', async () => {
  const { s, daemon, client, edit, ask } = await stage(
    {
      skills: ['Foreign'],
      file: 'policy: { ownership: managed }\nskills: [Go, Flap, Dropped]',
    },
    async (on) => {
      for (let time = 0; time < 3; time += 1) {
        expect((await on.apply()).run).toMatchObject({ status: 'converged', created: time === 0 ? 3 : 1 });
        on.sandbox.removeEntry('acme', on.idOf('Flap'));
      }
    },
  );
  edit('policy: { ownership: managed }\nskills: [Go, Flap, New]');
  const result = await ask();
  expect(result.status).toBe(0);
  // A slow machine shows what is waited for.
  expect(result.stderr).not.toMatch(/warning|error/);
  const plan = onlyPlan(result);
  expect(changesOf(plan)).toEqual(['create New', 'delete Dropped']);
  expect(holds(plan)).toEqual({ Flap: ['flapping'] });
  expect(leaves(plan)).toEqual({ Foreign: 'unmanaged' });
  expect(codes(plan)).toEqual([]);

  // Without that history the same files give another plan, with a warning.
  const alone = onlyPlan(await client.run(['plan', '--format', 'json'], { env: { TOKEN_ACME: TOKEN } }));
  expect(changesOf(alone)).toEqual(['create Flap', 'create New']);
  expect(leaves(alone)).toEqual({ Dropped: 'unmanaged', Foreign: 'unmanaged' });
  expect(codes(alone)).toContain('no_history');

  await daemon.edit(() => s.configure('policy: { ownership: managed }\nskills: [Go, Flap, New]'));
  expect((await daemon.api('accounts/acme/sync', {})).status).toBe(202);
  await s.until('the daemon has planned', () => daemon.runsEnded('acme', 'planned') > 1);
  const id = daemon.events('run_ended', 'acme').at(-1)?.runId ?? '';
  const own = (await daemon.api<RunJson>(`runs/${id}`)).body.plan;
  expect({ ...own, createdAt: '' }).toEqual({ ...plan, createdAt: '' });
});

costly('plan --server holds the deletes of a working tree older than the last applied commit', async () => {
  const { client, ask } = await stage({ file: 'skills: [Go]' }, async (on) => {
    const folder = join(on.folder, 'config');
    git(folder, ['init', '-q']);
    commitAll(folder, 'First');
    on.configure('skills: [Go, Zig]');
    commitAll(folder, 'Second', '2026-01-02T00:00:00Z');
    expect((await on.apply()).run).toMatchObject({ status: 'converged', created: 2 });
  });
  expect(holds(onlyPlan(await ask()))).toEqual({});
  git(join(client.folder, 'config'), ['checkout', '-q', 'HEAD~1']);
  const old = onlyPlan(await ask());
  expect(old.configCommit).toBe(git(join(client.folder, 'config'), ['rev-parse', 'HEAD']));
  expect([changesOf(old), holds(old)]).toEqual([[], { Zig: ['source'] }]);
});

test('a daemon refuses wrong tokens and addresses, and plans only its own accounts, with its own addresses and tokens', async () => {
  const recorder = await startRecorder();
  const { s, ask, daemon, client } = await stage({ file: 'skills: [Go]' });
  const wrong = await ask([], { ROLECALL_HTTP_TOKEN: 'another-token-of-somebody' });
  expect(wrong).toMatchObject({
    status: 1,
    stdout: expect.stringContaining('"unauthorized"'),
    stderr: expect.stringMatching(/rejected the token/),
  });
  expect(wrong.stderr).not.toContain('another-token-of-somebody');

  const none = await ask([], {});
  expect(none).toMatchObject({
    status: 64,
    stdout: expect.stringContaining('"code": "usage"'),
    stderr: expect.stringContaining('ROLECALL_HTTP_TOKEN'),
  });
  expect(s.sandbox.requests()).toEqual([]);

  const addresses = [
    ['not an address', 'must be the URL of a daemon'],
    ['ftp://127.0.0.1/', 'must be the URL of a daemon'],
    [`http://user:${HTTP_TOKEN}@127.0.0.1:1/`, 'must be the URL of a daemon'],
    ['http://daemon.invalid:8080', 'unencrypted to daemon.invalid:8080; use https://'],
  ] as const;
  for (const [address, why] of addresses) {
    const result = await client.run(['plan', '--server', address], {
      env: { ROLECALL_HTTP_TOKEN: HTTP_TOKEN },
    });
    expect(result).toMatchObject({ status: 64, stdout: '', stderr: expect.stringContaining(why) });
    expect(result.stderr).not.toContain(HTTP_TOKEN);
  }

  // Neither another address or token of an account nor an account that the daemon does not have leads anywhere else.
  client.write(
    'config/accounts/acme.yaml',
    `baseUrl: ${recorder.url}\ntoken: { env: ANOTHER_TOKEN }\nskills: [Go, Zig]\n`,
  );
  client.write(
    'config/accounts/spy.yaml',
    `baseUrl: ${recorder.url}\ntoken: { env: TOKEN_ACME }\nskills: [Go]\n`,
  );
  client.write('config/accounts/wrong.yaml', 'skills: [');
  const posted = await ask();
  expect(posted.status).toBe(4);
  const plans = plansOf(posted);
  expect(plans.get('spy')).toMatchObject({ status: 'failed', error: { code: 'unknown_account' } });
  expect(plans.get('wrong')).toMatchObject({ status: 'failed', error: { code: 'config_invalid' } });
  expect(changesOf(plans.get('acme') as Plan)).toEqual(['create Go', 'create Zig']);
  expect((await ask(['spy', '--format', 'text'])).stdout).toContain('spy: new, not planned');
  expect(recorder.requests).toEqual([]);
  expect(s.sandbox.requests().filter(({ method }) => method !== 'GET')).toEqual([]);

  await daemon.stop();
  const down = await ask(['acme']);
  expect(down).toMatchObject({
    status: 1,
    stdout: expect.stringContaining('"unavailable"'),
    stderr: expect.stringMatching(/does not respond.*running/),
  });
});

test('plan --server writes nothing to the service or the store, and does not use up an approval', async () => {
  const { s, daemon, edit, ask } = await stage({
    skills: ['Go', 'Perl', 'Stray'],
    resources: [{ skills: ['Perl'] }],
    file: 'mode: approve\nskills: [Go, Zig]',
  });
  await s.run(['pause', 'acme']);
  expect((await s.run(['approve', 'acme', '--yes'])).status).toBe(0);
  const before = storeOf(s);
  expect(before['accounts']).toMatchObject([
    { paused: 1, approved_digest: expect.stringContaining('sha256:') },
  ]);
  s.sandbox.clearRequests();

  // The same plan, another plan, and a plan from lists that are suspiciously short.
  expect((await ask()).status).toBe(0);
  edit('mode: apply\npolicy: { delete: always, maxDeletePercent: 100 }\nskills: [Nim]\nroles: []');
  const other = onlyPlan(await ask());
  expect(other.summary).toMatchObject({ create: 1, delete: 3 });
  s.sandbox.setFaults([{ match: { path: 'skill' }, times: 'always', do: { type: 'empty-list' } }]);
  expect((await ask()).status).toBe(0);
  s.sandbox.setFaults([{ match: { path: 'role' }, times: 'always', do: { type: 'status', status: 500 } }]);
  expect((await ask()).status).toBe(1);

  expect(storeOf(s)).toEqual(before);
  expect(new Set(s.sandbox.requests().map(({ method }) => method))).toEqual(new Set(['GET']));
  const samples = await daemon.metrics();
  expect(samples.get('rolecall_runs_total{account="acme",status="planned"}')).toBe(1);
});
