// What commands report while the daemon has fetched nothing. e2e/source-git.test.ts shows what the daemon reports.
import { expect, test } from 'vitest';
import { git } from '../support/git.ts';
import { makeWorkspace } from '../support/workspace.ts';

test('commands before the first checkout report what is missing and what to do', async () => {
  const workspace = makeWorkspace('token-of-acme');
  git(workspace.folder, ['init', '-q']);
  workspace.write(
    'config/rolecall.yaml',
    `store: ../data/rolecall.db\nsource: { git: { url: "file://${workspace.folder}" } }\n`,
  );
  for (const args of [
    ['status'],
    ['plan'],
    ['history'],
    ['validate', '--online'],
    ['apply', '--yes'],
    ['pause', 'acme'],
  ]) {
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
