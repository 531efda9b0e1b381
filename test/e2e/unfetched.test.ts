// What a daemon with its own checkout reports while it has fetched nothing, or an invalid file.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { EVERY_SECOND, HTTP_TOKEN, startDaemon, WITH_TOKEN } from '../support/daemon.ts';
import { commitAll, git } from '../support/git.ts';
import { makeWorkspace, until, type Workspace } from '../support/workspace.ts';

/** A workspace with a repository that has no commit yet, and that its daemon follows. */
function following(): { readonly workspace: Workspace; readonly origin: string } {
  const workspace = makeWorkspace('token-of-acme');
  const origin = join(workspace.folder, 'origin');
  mkdirSync(join(origin, 'config/accounts'), { recursive: true });
  git(origin, ['init', '-q']);
  workspace.write(
    'config/rolecall.yaml',
    [
      'store: ../data/rolecall.db',
      WITH_TOKEN,
      `defaults: { schedule: ${EVERY_SECOND}, jitter: 0s }`,
      `source: { git: { url: "file://${origin}", interval: 1s } }`,
      '',
    ].join('\n'),
  );
  return { workspace, origin };
}

test('commands before the first checkout report what is missing and what to do', async () => {
  const { workspace } = following();
  for (const args of [['status'], ['plan'], ['history'], ['doctor'], ['apply', '--yes'], ['pause', 'acme']]) {
    const { status, stderr } = await workspace.run(args);
    expect([args, status, stderr]).toEqual([
      args,
      4,
      expect.stringMatching(
        /rolecall\.yaml:\d+:\d+: no commit of `source\.git` is checked out.*rolecall .*serve/,
      ),
    ]);
  }
});

test('a daemon that has no configuration yet is alive and not ready', async () => {
  const { workspace, origin } = following();
  const daemon = await startDaemon(workspace);
  await until('it reports that nothing was fetched', () => daemon.events('source_failed').length > 0);
  expect((await daemon.get('/healthz')).status).toBe(200);
  expect((await daemon.get('/readyz')).status).toBe(503);
  const page = await fetch(daemon.url, { headers: { authorization: `Bearer ${HTTP_TOKEN}` } });
  expect(await page.text()).toContain('the daemon has not fetched the repository of `source.git` yet');
  writeFileSync(
    join(origin, 'config/accounts/acme.yaml'),
    'baseUrl: http://127.0.0.1:1\ntoken: { env: ACME_TOKEN }\n',
  );
  commitAll(origin, 'First');
  await until('it is ready', async () => (await daemon.get('/readyz')).status === 200);
});
