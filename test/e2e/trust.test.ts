// A daemon whose configuration comes from a repository that other people can write to.
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { startSandbox } from '../../src/sandbox/sandbox.ts';
import { EVERY_SECOND, HTTP_TOKEN, startDaemon, WITH_TOKEN } from '../support/daemon.ts';
import { commitAll, git } from '../support/git.ts';
import { makeWorkspace, QUICK_API, until } from '../support/workspace.ts';

test('a repository cannot make the daemon send tokens or files of the machine elsewhere, and the other accounts run', async () => {
  const sandbox = await startSandbox({ seed: { accounts: [{ name: 'acme', token: 'token-of-acme' }] } });
  onTestFinished(() => sandbox.close());
  const thief = await startSandbox({ seed: { accounts: [{ name: 'thief', token: 'token-of-thief' }] } });
  onTestFinished(() => thief.close());
  const workspace = makeWorkspace('token-of-acme');
  const { folder } = workspace;
  const [origin, clone] = [join(folder, 'origin.git'), join(folder, 'clone')];
  git(folder, ['init', '-q', '--bare', origin]);
  git(folder, ['clone', '-q', origin, clone]);
  workspace.write('private/key', 'private key of the machine');
  workspace.write('private/x.yaml', `baseUrl: ${thief.url}\ntoken: { env: ACME_TOKEN }\nskills: [Go]\n`);
  workspace.write(
    'config/rolecall.yaml',
    [
      'store: ../data/rolecall.db',
      `regions: { us: "${sandbox.url}" }`,
      WITH_TOKEN,
      `api: ${QUICK_API}`,
      `source: { git: { url: "file://${origin}", branch: main, path: config, interval: 1s } }`,
      '',
    ].join('\n'),
  );
  const files: Readonly<Record<string, string>> = {
    'config/rolecall.yaml': [
      `regions: { us: "${sandbox.url}", evil: "${thief.url}" }`,
      `trust: { origins: ["*"], files: [/**] }`,
      'api: { caFile: ca.pem }',
      `defaults: { mode: apply, schedule: ${EVERY_SECOND} }`,
    ].join('\n'),
    'config/accounts/acme.yaml': 'region: us\ntoken: { env: ACME_TOKEN }\nskills: [Go]\n',
    'config/accounts/region.yaml': 'region: evil\ntoken: { env: PATH }\nskills: [Go]\n',
    'config/accounts/http.yaml': 'region: us\ntoken: { env: ROLECALL_HTTP_TOKEN }\nskills: [Go]\n',
    'config/accounts/copy.yaml': 'region: us\ntoken: { env: COPY }\nskills: [Go]\n',
    'config/accounts/file.yaml': `region: us\ntoken: { file: ${folder}/private/key }\nskills: [Go]\n`,
  };
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(clone, name)), { recursive: true });
    writeFileSync(join(clone, name), text);
  }
  symlinkSync(join(folder, 'private/x.yaml'), join(clone, 'config/accounts/link.yaml'));
  commitAll(clone, 'first', '2026-01-01T00:00:00Z');
  git(clone, ['push', '-q', 'origin', 'HEAD:main']);

  const daemon = await startDaemon(workspace, { env: { COPY: HTTP_TOKEN } });
  const bad = ['region', 'http', 'copy', 'file', 'link'];
  await until('the valid account converged and every other one failed', () => {
    const failed = bad.every((name) => daemon.runsEnded(name, 'failed') > 0);
    return failed && daemon.runsEnded('acme', 'converged') > 0;
  });
  const rows = workspace.rows<{ account: string; error: string; error_code: string }>(
    `select account, error, error_code from runs where status = 'failed' group by account order by account`,
  );
  expect(rows.map(({ account, error_code }) => [account, error_code])).toEqual(
    bad.toSorted().map((name) => [name, 'config_invalid']),
  );
  const errors = Object.fromEntries(rows.map(({ account, error }) => [account, error]));
  expect(errors['region']).toContain('config/accounts/region.yaml:1:9: tokens must not be sent to');
  expect(errors['http']).toContain('config/accounts/http.yaml:2:8: this is one of the daemon’s own secrets');
  expect(errors['copy']).toContain('config/accounts/copy.yaml:2:8: this is one of the daemon’s own secrets');
  expect(errors['file']).toContain('config/accounts/file.yaml:2:8: account files must not use this file');
  expect(errors['link']).toContain(
    'config/accounts/link.yaml:1:1: this leads out of the folder `path` in the repository',
  );
  expect(thief.requests()).toEqual([]);
  expect(new Set(sandbox.requests().map(({ account }) => account))).toEqual(new Set(['acme']));
  // validate reports the same errors.
  const validated = await workspace.run(['validate'], {
    env: { ROLECALL_HTTP_TOKEN: HTTP_TOKEN, COPY: HTTP_TOKEN },
  });
  expect(validated.status).toBe(4);
  expect(validated.stdout).toContain(
    'config/accounts/copy.yaml:2:8: error: token of copy: this is one of the daemon’s own',
  );
  expect(validated.stdout.match(/error: /gu)).toHaveLength(5);
  await daemon.stop();
  expect(daemon.output().stderr).not.toContain('private key');
});
