// The README's first steps against the sandbox: its commands, its file and the plan that it shows.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { startSandbox } from '../../src/sandbox/sandbox.ts';
import { makeWorkspace } from '../support/workspace.ts';

const readme = readFileSync(new URL('../../README.md', import.meta.url), 'utf8');

const TOKEN = 'token-of-acme-eu';
const SEED = {
  name: 'acme-eu',
  id: '4815162342',
  token: TOKEN,
  region: 'eu',
  skills: ['TypeScript', 'PostgreSQL', 'K8s', 'COBOL', 'Perl', 'Admin tools', 'Photoshop'],
  roles: ['Backend engineer', 'Webmaster'],
  resources: [
    { id: 'ada', role: 'Backend engineer', skills: ['TypeScript', 'K8s', 'Perl'] },
    { id: 'grace', role: 'Backend engineer', skills: ['K8s', 'PostgreSQL'] },
  ],
} as const;

/** The versions of a file that the README shows, in its order; they are indented below a step. */
function filesOf(path: string): string[] {
  const blocks = [...readme.matchAll(/^ {3}```yaml (\S+)\n([^]*?)^ {3}```$/gm)];
  return blocks.flatMap(([, title, text = '']) => (title === path ? [text.replaceAll(/^ {3}/gm, '')] : []));
}

/** Masks ids, digests and days, which differ in every run. */
function masked(text: string): string {
  return text.replaceAll(/[0-9a-f]{24,64}/g, 'ID').replaceAll(/\d{4}-\d\d-\d\d/g, 'DAY');
}

test('the first steps of the README work, and print the plan that it shows', async () => {
  const sandbox = await startSandbox({ seed: { accounts: [SEED] } });
  onTestFinished(() => sandbox.close());
  const workspace = makeWorkspace(TOKEN);
  const rolecall = async (command: string) => {
    const { status, stdout } = await workspace.run(command.split(' ').slice(1), {
      env: { ACME_EU_TOKEN: TOKEN },
    });
    return { status, stdout };
  };

  const account = 'config/accounts/acme-eu.yaml';
  const [, init = '', written = ''] = /^ {3}\$ (rolecall init .*)\n([^]*?)^ {3}```$/m.exec(readme) ?? [];
  const started = await rolecall(init.replace('https://eu.planning.example.com', `${sandbox.url}/eu`));
  expect(started.status).toBe(0);
  for (const line of written.trim().split(/\n */))
    expect(started.stdout.replaceAll(`${workspace.folder}/`, '')).toContain(`${line}\n`);
  expect(readFileSync(join(workspace.folder, account), 'utf8')).toContain('accountId: "4815162342"');
  expect((await rolecall('rolecall plan acme-eu')).stdout).toContain('nothing to do');
  expect(await rolecall('rolecall doctor acme-eu')).toMatchObject({ status: 0 });
  const [changed = ''] = filesOf(account);

  workspace.write(account, changed);
  const [, shown = ''] = /^\$ rolecall plan acme-eu\n([^]*?)^```$/m.exec(readme) ?? [];
  expect(masked((await rolecall('rolecall plan acme-eu')).stdout)).toBe(masked(shown));
  expect(await rolecall('rolecall apply acme-eu --yes')).toMatchObject({ status: 3 });
  expect((await rolecall('rolecall history')).stdout).toContain('held');
  expect((await rolecall('rolecall show last')).stdout).toContain('2 created, 3 deleted, 2 held');
});
